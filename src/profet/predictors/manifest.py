"""What a bundle says of itself: its pairs with their measured errors, and where they come from."""

import math
from dataclasses import dataclass, field
from typing import Any

from profet.predictors.scalers.published import SizeScaler


@dataclass(frozen=True)
class MeasuredError:
    """How wrong a predictor was on models it had not seen, in percent and ms, over single runs.

    Args:
        leave_out: what was left out together, "model" or "family".
        latency_known: whether the anchor's latency was given.
        mape: mean absolute percentage error, in percent.
        r2: coefficient of determination; None where the truth does not vary.
        rmse_ms: root of the mean squared error.
    """

    leave_out: str
    latency_known: bool
    mape: float
    r2: float | None
    rmse_ms: float

    def __post_init__(self) -> None:
        figures = (self.mape, self.rmse_ms, 0.0 if self.r2 is None else self.r2)
        if not all(math.isfinite(figure) for figure in figures) or min(self.mape, self.rmse_ms) < 0:
            raise ValueError("an error that is none")


@dataclass(frozen=True)
class Recalibration:
    """That the intervals of a pair were fitted to what runs really took.

    Args:
        anchor: of the pair.
        target: of the pair.
        latency_known: whether the anchor's latency was known in those runs; intervals of the others are as trained.
        level: chance at which they were fitted.
        records: how many runs that was.
        factor: how much wider (in logs) the intervals are than as trained.
    """

    anchor: str
    target: str
    latency_known: bool
    level: float
    records: int
    factor: float


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
        recalibrated: which intervals were fitted again, to a user's own records.
    """

    dataset: str
    sources: list[str]
    models: list[str]
    workloads: int
    runs: int
    created_with: str
    recalibrated: list[Recalibration] = field(default_factory=list)


LEARNT = "learnt"
"""Basis of a pair that was learnt from runs on both its instances."""

EXTRAPOLATED = "extrapolated"
"""Basis of a prediction for, or from, an instance of which no run was ever seen."""


@dataclass(frozen=True)
class Pair:
    """One anchor → target in a bundle, with the errors that were measured.

    Args:
        anchor: the instance that is profiled.
        target: the instance asked about.
        errors: on what was left out.
        basis: LEARNT, or in one word how else the target came to be known.
        explanation: the same in a phrase; empty where it was learnt.
    """

    anchor: str
    target: str
    errors: tuple[MeasuredError, ...]
    basis: str = LEARNT
    explanation: str = ""

    def error(self, leave_out: str, latency_known: bool) -> MeasuredError | None:
        """Return the error measured in one way; None where it was not."""
        ways = ((error, (error.leave_out, error.latency_known)) for error in self.errors)
        return next((error for error, way in ways if way == (leave_out, latency_known)), None)


@dataclass(frozen=True)
class Entry:
    """A pair as the file keeps it: with the settings of its predictor.

    Args:
        anchor: of the pair.
        target: of the pair.
        settings: of its predictor.
        errors: on what was left out.
        method: of its predictor, where that is not the bundle's own.
        basis: as Pair has it.
        explanation: as Pair has it.
    """

    anchor: str
    target: str
    settings: dict[str, Any]
    errors: list[MeasuredError] = field(default_factory=list)
    method: str | None = None
    basis: str = LEARNT
    explanation: str = ""


@dataclass(frozen=True)
class JointEntry:
    """Whose errors one array of joint errors holds, column by column."""

    anchor: str
    latency_known: bool
    targets: list[str]


@dataclass(frozen=True)
class Manifest:
    """The whole manifest of a bundle.

    Args:
        schema: of the file.
        method: of all pairs that name no other.
        provenance: what it was trained on.
        pairs: what it can answer.
        scalers: curves over sizes.
        joint: whose errors go together.
        parts: settings, by name, of what belongs to no single pair.
    """

    schema: str
    method: str
    provenance: Provenance
    pairs: list[Entry]
    scalers: list[SizeScaler] = field(default_factory=list)
    joint: list[JointEntry] = field(default_factory=list)
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
