"""What a user may say about a measurement."""

from dataclasses import dataclass, field

from profet.partition.measurement.repeats import RepeatRule
from profet.partition.measurement.sizes import default_sizes, fewer_sizes

MAX_BATCH = 128
MAX_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """Which sizes are measured, how often, and what is kept of earlier measurements.

    Attributes:
        max_batch: largest size, where sizes are not given.
        batches: exactly these sizes; None for those of the plan.
        fewer: powers of four instead of the neighbours of all powers of two.
        adaptive: powers of four first, then more where a line between sizes does not hold.
        together: keep the other units busy while one is measured.
        again: measure anew what was measured before.
        max_seconds: sizes of which one batch would take longer are left out.
        rule: how often each size is timed.
    """

    max_batch: int = MAX_BATCH
    batches: tuple[int, ...] | None = None
    fewer: bool = False
    adaptive: bool = False
    together: bool = False
    again: bool = False
    max_seconds: float = MAX_SECONDS
    rule: RepeatRule = field(default_factory=RepeatRule)

    def sizes(self, largest: int | None) -> tuple[int, ...]:
        """Return the sizes to measure, or to begin with, on a unit that holds so many images; in increasing order.

        What is beyond the largest gives way to the largest itself.
        """
        if self.batches is not None:
            sizes = self.batches
        elif self.fewer or self.adaptive:
            sizes = fewer_sizes(self.max_batch)
        else:
            sizes = default_sizes(self.max_batch)
        return tuple(sorted({min(size, largest) for size in sizes})) if largest is not None else sizes
