"""Schedule: which images a unit runs next. Pure decisions: no process, no clock, so that they can be simulated."""

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from profet.partition.backends.protocol import UnitError


@dataclass(frozen=True, slots=True)
class Chunk:
    """Images that one unit runs at once.

    Attributes:
        first: the first image.
        images: how many.
        predicted_ms: how long they take the unit, by its table.
    """

    first: int
    images: int
    predicted_ms: float


class Remaining:
    """The images that no unit has been given yet, as ranges; those that come back are given out first."""

    def __init__(self, images: int) -> None:
        self._ranges: deque[tuple[int, int]] = deque([(0, images)] if images else [])
        self.images = images

    def take(self, most: int) -> tuple[int, int]:
        """Take up to ``most`` images that lie together; return the first of them and how many."""
        first, images = self._ranges.popleft()
        taken = min(most, images)
        if taken < images:
            self._ranges.appendleft((first + taken, images - taken))
        self.images -= taken
        return first, taken

    def give_back(self, first: int, images: int) -> None:
        """Put images back, to be given out next."""
        self._ranges.appendleft((first, images))
        self.images += images


class Schedule(ABC):
    """Hands out the images of one batch. Units are numbered from 0; times are ms since the batch's start.

    Attributes:
        waiting: chunks that each unit has been given and has not finished, the oldest first.
        living: whether each unit is still there.
    """

    name: ClassVar[str]
    """As ``--schedule`` calls it."""

    predicted_ms: float
    """Predicted makespan of the batch."""

    def __init__(self, units: int) -> None:
        self.waiting: list[deque[Chunk]] = [deque() for _ in range(units)]
        self.living = [True] * units

    @property
    @abstractmethod
    def unassigned(self) -> int:
        """Images that no unit has been given."""

    @property
    def finished(self) -> bool:
        """Whether every image is done."""
        return not self.unassigned and not any(self.waiting)

    @abstractmethod
    def next_chunk(self, unit: int, now_ms: float) -> Chunk | None:
        """Give a unit more to do, or nothing for now; it may still be busy with what it has."""

    def done(self, unit: int, now_ms: float, took_ms: float) -> Chunk:  # noqa: ARG002
        """Learn that a unit has finished its oldest chunk."""
        return self.waiting[unit].popleft()

    def lost(self, unit: int) -> None:
        """Learn that a unit is gone: the others do what it had not finished."""
        self.living[unit] = False
        while self.waiting[unit]:
            self._take_back(unit, self.waiting[unit].pop())
        self._after_loss(unit)

    def too_large(self, unit: int, now_ms: float) -> int:  # noqa: ARG002
        """Learn that a unit ran out of memory on its oldest chunk; return the largest that it gets from now on.

        Raises:
            UnitError: it was a single image.
        """
        chunk = self.waiting[unit].popleft()
        self._take_back(unit, chunk)
        if chunk.images == 1:
            raise UnitError("has no memory for a single image")
        return self._limit(unit, chunk.images)

    @abstractmethod
    def _take_back(self, unit: int, chunk: Chunk) -> None:
        """Put the images of an unfinished chunk back."""

    @abstractmethod
    def _after_loss(self, unit: int) -> None:
        """Arrange for the others to do what a lost unit has left."""

    @abstractmethod
    def _limit(self, unit: int, failed: int) -> int:
        """Give a unit smaller chunks than ``failed``; return the largest."""
