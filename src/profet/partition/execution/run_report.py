"""RunReport: what happened when a batch was split: who ran which images when, what was predicted, what failed."""

from dataclasses import dataclass

from profet.partition.planners.plan import Plan


@dataclass(frozen=True, slots=True)
class ChunkRun:
    """A chunk that was run; times are ms since the units were released.

    Attributes:
        first: its first image.
        images: how many.
        start_ms: when its unit began with it.
        finish_ms: when its outputs stood in shared memory.
        execution_ms: time of the network itself.
        io_ms: time of bringing inputs in and outputs out.
    """

    first: int
    images: int
    start_ms: float
    finish_ms: float
    execution_ms: float
    io_ms: float


@dataclass(frozen=True, slots=True)
class Failure:
    """A unit that could not do what it was given; other units, or it itself in smaller chunks, did it.

    Attributes:
        unit: its name.
        kind: ``crashed``, ``hung``, ``failed``, ``out of memory`` or ``did not start``.
        text: what happened.
        at_image: first image of the chunk that it failed at; None where it was not running one.
        at_ms: when, in ms since the units were released.
        largest_batch: largest batch that it is given since it ran out of memory; None otherwise.
    """

    unit: str
    kind: str
    text: str
    at_image: int | None = None
    at_ms: float = 0.0
    largest_batch: int | None = None


@dataclass(frozen=True, slots=True)
class UnitRun:
    """What one unit did of a batch.

    Attributes:
        unit: its name.
        planned_images: images that the plan gives it.
        planned_ms: what they were predicted to take.
        chunks: what it ran, in order.
    """

    unit: str
    planned_images: int
    planned_ms: float
    chunks: tuple[ChunkRun, ...] = ()

    @property
    def images(self) -> int:
        """Images that it ran."""
        return sum(chunk.images for chunk in self.chunks)

    @property
    def execution_ms(self) -> float:
        """Time of the network itself."""
        return sum(chunk.execution_ms for chunk in self.chunks)

    @property
    def io_ms(self) -> float:
        """Time of bringing inputs in and outputs out."""
        return sum(chunk.io_ms for chunk in self.chunks)

    @property
    def start_ms(self) -> float | None:
        """When it began with its first chunk; None where it ran none."""
        return self.chunks[0].start_ms if self.chunks else None

    @property
    def finish_ms(self) -> float | None:
        """When it had finished its last chunk; None where it ran none."""
        return self.chunks[-1].finish_ms if self.chunks else None


@dataclass(frozen=True, slots=True)
class RunReport:
    """One batch.

    Attributes:
        plan: the plan behind it.
        schedule: ``static`` or ``queue``.
        predicted_ms: predicted makespan of the schedule.
        makespan_ms: from the release of the units to the last answer.
        preparation_ms: planning and arming before the release.
        units: what each unit did, in the table's order.
        failures: what went wrong; the result is whole all the same.
    """

    plan: Plan
    schedule: str
    predicted_ms: float
    makespan_ms: float
    preparation_ms: float
    units: tuple[UnitRun, ...]
    failures: tuple[Failure, ...] = ()

    @property
    def batch(self) -> int:
        """Images in all."""
        return self.plan.batch

    @property
    def longest_unit_ms(self) -> float:
        """Time that the busiest unit worked."""
        return max(unit.execution_ms + unit.io_ms for unit in self.units)

    @property
    def overhead_ms(self) -> float:
        """What the split itself cost: preparation, and makespan beyond what the busiest unit worked."""
        return self.preparation_ms + self.makespan_ms - self.longest_unit_ms
