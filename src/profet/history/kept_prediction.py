"""Reads what ``profet predict --json`` printed, so that a measurement made later can stand beside it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from profet.errors import InputError
from profet.files import read_bounded
from profet.history.measurement import TrainedOn
from profet.names import suggest
from profet.predictors.card import Prediction
from profet.profiles.formats.json_documents import parse

_MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class KeptPrediction(Prediction):
    """A prediction as predict prints it; the bundle is None in documents that do not name it."""

    trained_on: TrainedOn | None = None


def read_prediction(path: str | Path) -> KeptPrediction:
    """Read a prediction from a file, or from standard input for ``-``.

    Raises:
        InputError: it cannot be read, or is not what predict prints.
    """
    return as_prediction(parse(read_bounded(path, _MAX_BYTES, "prediction"), str(path)), str(path))


def as_prediction(document: object, where: str) -> KeptPrediction:
    """Take a parsed JSON document for a prediction.

    Raises:
        InputError: it is not what predict prints; named with where.
    """
    if not isinstance(document, dict) or "predictions" not in document:
        raise InputError(f"{where}: not a prediction; keep what profet predict --json prints")
    try:
        return msgspec.convert(_with_expected_error(document), KeptPrediction)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: not a prediction ({error}); keep what profet predict --json prints") from None


def check_target(prediction: Prediction, target: str, path: str | Path) -> None:
    """Refuse a target that a prediction does not hold.

    Raises:
        InputError: with the nearest names.
    """
    held = [each.target for each in prediction.predictions]
    if target not in held:
        raise InputError(f"{path}: holds no prediction for {target!r}; {suggest(target, held)}")


def _with_expected_error(document: dict[str, Any]) -> dict[str, Any]:
    """Say that the expected error is unknown where a document is older than that figure."""
    answers = document["predictions"]
    for answer in answers if isinstance(answers, list) else ():
        card = answer.get("card") if isinstance(answer, dict) else None
        if isinstance(card, dict):
            card.setdefault("expected_log_error", None)
    return document
