"""What ``profet advise`` is asked, put into what answers it, and what becomes of the answer."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from profet.errors import InputError

if TYPE_CHECKING:
    from profet.advice.advice import Advice
    from profet.predictors.bundle import Bundle
    from profet.profiles.reading import ReadOptions


def answer(
    asked: dict[str, Any], path: str, options: "ReadOptions", bundle_path: str | None, catalogue_path: str | None
) -> tuple["Advice", "Bundle"]:
    """Read the profile and advise; return what that rests on, too.

    Args:
        asked: the fields of profet.advice.question.Question.
        path: of the profile.
        options: how to read it.
        bundle_path: trained predictors; None for the shipped ones.
        catalogue_path: the user's own instances; None for those in the data folder.

    Raises:
        ProfetError: what the user must change.
    """
    from profet.advice.question import Question
    from profet.instances.catalogue import Catalogue
    from profet.predictors.bundle import Bundle
    from profet.profiles.formats import read_profile

    question = Question(**asked)
    question.demands()  # what is wrong with them is told before anything is read
    profile = read_profile(path, options)
    bundle = Bundle.load(bundle_path)
    return question.advise_on(profile, bundle, Catalogue.load(catalogue_path)), bundle


def check_export(export: str | None, folder: str | None, force: bool) -> None:
    """Refuse a hand-over that cannot be written, before any work is done for it.

    Raises:
        InputError: a folder for a hand-over that was not asked for.
        OutputError: see check_skypilot.
    """
    if export is not None:
        from profet.advice.skypilot import check_skypilot

        check_skypilot(folder or ".", force)
    elif folder is not None:
        raise InputError("--export-to: nothing goes there without --export; say --export skypilot, or leave it out")


def write_export(advice: "Advice", export: str | None, folder: str | None, force: bool) -> list[Path]:
    """Write the hand-over that was asked for; return its files.

    Raises:
        InputError, OutputError: see write_skypilot.
    """
    if export is None:
        return []
    from profet.advice.skypilot import write_skypilot

    return write_skypilot(advice, folder or ".", force)
