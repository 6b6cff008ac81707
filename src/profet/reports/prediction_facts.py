"""A prediction as plain values, in the form that ``profet predict --json`` documents."""

from collections.abc import Sequence
from typing import Any

import msgspec

from profet.predictors.bundle import Bundle
from profet.predictors.card import Prediction


def prediction_facts(prediction: Prediction, bundle: Bundle, warnings: Sequence[str]) -> dict[str, Any]:
    """Return a prediction, what its predictors were trained on, and all that should make one careful."""
    known = bundle.provenance
    trained_on = {"dataset": known.dataset, "created_with": known.created_with}
    return {**msgspec.to_builtins(prediction), "trained_on": trained_on, "warnings": list(warnings)}
