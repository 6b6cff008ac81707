"""What a bundle says of itself: its pairs with their measured errors, and where they come from."""

from dataclasses import dataclass, field
from typing import Any

from profet.predictors.scaling import SizeScaler


@dataclass(frozen=True)
class MeasuredError:
    """How wrong a predictor was on models it had not seen, in percent and ms, over single runs."""

    leave_out: str
    mape: float
    r2: float | None
    rmse_ms: float


@dataclass(frozen=True)
class PairErrors:
    """The errors of one predictor, with the anchor's latency known and without it."""

    with_latency: MeasuredError
    without_latency: MeasuredError


@dataclass(frozen=True)
class Provenance:
    """What a bundle was trained on.

    Args:
        dataset: fingerprint of the data set.
        sources: where that came from, one line each.
        models: names of the models in it.
        workloads: how many different ones.
        runs: how many runs taught each pair, repeats counted.
        created_with: the version of Profet that trained it.
    """

    dataset: str
    sources: list[str]
    models: list[str]
    workloads: int
    runs: int
    created_with: str


@dataclass(frozen=True)
class Pair:
    """One anchor → target in a bundle."""

    anchor: str
    target: str
    errors: PairErrors | None


@dataclass(frozen=True)
class Entry:
    """A pair as the file keeps it: with the settings of its predictor."""

    anchor: str
    target: str
    settings: dict[str, Any]
    errors: PairErrors | None = None


@dataclass(frozen=True)
class Manifest:
    """The whole manifest of a bundle."""

    schema: str
    method: str
    provenance: Provenance
    pairs: list[Entry]
    scalers: list[SizeScaler] = field(default_factory=list)
