"""Plan: which unit runs how many images in which chunks, how long that takes, and whether it pays."""

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["split", "do not split"]

NOTICEABLE = 1e-9
"""Relative difference under which two times are the same: rounding, not gain."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one unit does of a batch.

    Attributes:
        unit: the unit's name.
        images: how many of the batch's images.
        chunks: the batch sizes it runs, one after the other; the last may be partly filled.
        predicted_ms: how long that takes it.
    """

    unit: str
    images: int
    chunks: tuple[int, ...]
    predicted_ms: float


@dataclass(frozen=True, slots=True)
class Single:
    """The best that one unit can do alone."""

    unit: str
    makespan_ms: float


@dataclass(frozen=True, slots=True)
class Plan:
    """How to split one batch.

    Attributes:
        algorithm: which planner made it.
        batch: images in all.
        makespan_ms: predicted time until the last unit has finished.
        shares: one for each unit, in the table's order; a unit that does not help has no images.
        best_single: the fastest unit alone, the whole batch at once; None where none can hold it.
        best_single_chunked: the fastest unit alone, in chunks; None where none has a chunk that it can hold.
        pays_from_batch: the smallest batch for which a split is faster than the best single unit, counted as this
            planner counts it; None where there is none (up to a bound, see planner.py).
        warnings: what its reader should know.
    """

    algorithm: str
    batch: int
    makespan_ms: float
    shares: tuple[Share, ...]
    best_single: Single | None
    best_single_chunked: Single | None
    pays_from_batch: int | None
    warnings: tuple[str, ...] = ()

    @property
    def rival(self) -> Single | None:
        """The best single unit that a split must beat: in chunks if the planner uses chunks."""
        return self.best_single_chunked if self.algorithm == "chunked" else self.best_single

    @property
    def verdict(self) -> Verdict:
        """Whether the split is faster than the best single unit of the same algorithm."""
        if self.rival is None:
            return "split" if len(self.busy) > 1 else "do not split"
        return "split" if is_faster(self.makespan_ms, self.rival.makespan_ms) else "do not split"

    @property
    def busy(self) -> tuple[Share, ...]:
        """The shares that have images."""
        return tuple(share for share in self.shares if share.images)


def is_faster(one_ms: float, other_ms: float) -> bool:
    """Whether one time is truly smaller than another."""
    return one_ms < other_ms * (1 - NOTICEABLE)


def time_saved(makespan_ms: float, single: Single | None) -> float | None:
    """Return the share of a single unit's time that a plan saves; negative where it takes longer."""
    return None if single is None else 1 - makespan_ms / single.makespan_ms
