"""What ``profet advise`` is asked, put into what answers it, and what becomes of the answer."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from profet.errors import InputError
from profet.quantities import DEFAULT_CURRENCY, S_PER_HOUR, Money

if TYPE_CHECKING:
    from profet.advice.advice import Advice, Demands
    from profet.advice.training_run import TrainingRun
    from profet.predictors.bundle import Bundle
    from profet.profiles.profile import Profile
    from profet.profiles.reading import ReadOptions


@dataclass(frozen=True)
class Question:
    """What the options of the command say of the run and its demands, beside how to read the profile."""

    anchor: str | None
    anchor_latency: float | None
    targets: tuple[str, ...]
    samples: int
    epochs: int
    batch_size: int | None
    startup_s: float
    first_epoch_s: float
    validation_share: float
    deadline_s: float | None
    budget: Money | None
    currency: str | None
    region: str | None
    spot: bool
    confidence: float
    interval: float
    scaling: str | None
    extrapolate: bool
    bundle_path: str | None
    catalogue_path: str | None

    def run(self, profile: "Profile") -> "TrainingRun":
        """Return the run, of the profile's batch size unless one was given."""
        from profet.advice.training_run import TrainingRun

        batch_size = self.batch_size or profile.batch_size
        if batch_size is None:
            raise InputError("the profile does not say its batch size; give it as --batch-size N")
        return TrainingRun(
            self.samples, self.epochs, batch_size, self.startup_s, self.first_epoch_s, self.validation_share
        )

    def demands(self) -> "Demands":
        """Return what the run must keep to; the budget's currency is that of all prices."""
        from profet.advice.advice import Demands
        from profet.advice.data_parallel import parse_scaling

        said = None if self.budget is None else self.budget.currency
        if said is not None and self.currency is not None and said != self.currency:
            raise InputError(
                f"--budget is in {said}, --currency is {self.currency}; nothing is converted: give one"
            )
        return Demands(
            deadline_hours=None if self.deadline_s is None else self.deadline_s / S_PER_HOUR,
            budget=None if self.budget is None else self.budget.amount,
            currency=said or self.currency or DEFAULT_CURRENCY,
            region=self.region,
            spot=self.spot,
            confidence=self.confidence,
            interval=self.interval,
            scaling=None if self.scaling is None else parse_scaling(self.scaling),
            may_extrapolate=self.extrapolate,
        )

    def answer(self, path: str, options: "ReadOptions") -> tuple["Advice", "Bundle"]:
        """Read the profile and advise; return what that rests on, too.

        Raises:
            ProfetError: what the user must change.
        """
        from profet.advice.advise import advise
        from profet.instances.catalogue import Catalogue
        from profet.predictors.bundle import Bundle
        from profet.profiles.formats import read_profile

        demands = self.demands()
        profile = read_profile(path, options)
        bundle = Bundle.load(self.bundle_path)
        advice = advise(
            profile,
            self.run(profile),
            demands,
            bundle=bundle,
            catalogue=Catalogue.load(self.catalogue_path),
            anchor=self.anchor,
            anchor_latency_ms=self.anchor_latency,
            targets=self.targets,
        )
        return advice, bundle


def check_export(export: str | None, folder: str, force: bool) -> None:
    """Refuse a hand-over that cannot be written, before any work is done for it.

    Raises:
        OutputError: see check_skypilot.
    """
    if export is not None:
        from profet.advice.skypilot import check_skypilot

        check_skypilot(folder, force)


def write_export(advice: "Advice", export: str | None, folder: str, force: bool) -> list[Path]:
    """Write the hand-over that was asked for; return its files.

    Raises:
        InputError, OutputError: see write_skypilot.
    """
    if export is None:
        return []
    from profet.advice.skypilot import write_skypilot

    return write_skypilot(advice, folder, force)
