"""Batch and input sizes of workloads, and how far it is from one to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from profet.errors import InputError
from profet.profiles.arrays import FloatArray

MOST_WORK = 64.0
"""Change of work, a factor, up to which moves are learnt from, scored and answered."""

LARGEST_SIZE = 1_000_000


@dataclass(frozen=True)
class Size:
    """Samples a step, and width and height of the input."""

    batch_size: int
    pixels: int

    def __str__(self) -> str:
        return f"batch {self.batch_size} at {self.pixels} px"


@dataclass(frozen=True)
class Sizes:
    """Sizes of n workloads.

    Args:
        batch_size: samples a step, shape (n,).
        pixels: width and height of the input, shape (n,).
    """

    batch_size: FloatArray
    pixels: FloatArray

    @classmethod
    def of(cls, sizes: Sequence[Size]) -> Self:
        """Line up single sizes."""
        return cls(
            np.array([each.batch_size for each in sizes], float), np.array([each.pixels for each in sizes], float)
        )

    def __len__(self) -> int:
        return len(self.batch_size)

    def take(self, rows: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> Self:
        """Select some."""
        return type(self)(self.batch_size[rows], self.pixels[rows])

    def ratios_to(self, asked: "Sizes") -> tuple[FloatArray, FloatArray]:
        """Return by how much batch and input area change on the way to others, a factor, shape (n,) each."""
        return asked.batch_size / self.batch_size, (asked.pixels / self.pixels) ** 2

    def moves_within(self, models: Sequence[str], most: float) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return start and end of every move between two workloads of one model, within a factor of work."""
        names = np.asarray(models, object)
        start, end = np.nonzero((names[:, None] == names[None, :]) & ~np.eye(len(names), dtype=bool))
        batch, area = self.take(start).ratios_to(self.take(end))
        near = np.abs(np.log(batch * area)) <= np.log(most) + 1e-9
        return start[near], end[near]


def check_move(profiled: Size, asked: Size) -> None:
    """Refuse a size that is none, or a move further than was learnt.

    Raises:
        InputError: it says which size is the furthest that can be asked about.
    """
    for name, value in (("batch size", asked.batch_size), ("pixels", asked.pixels)):
        if not 1 <= value <= LARGEST_SIZE:
            raise InputError(f"{name} of {value}: give a whole number from 1 to {LARGEST_SIZE}")
    batch, area = asked.batch_size / profiled.batch_size, (asked.pixels / profiled.pixels) ** 2
    for what, ratio in (("work", batch * area), ("batch", batch), ("input area", area)):
        if not 1 / MOST_WORK <= ratio <= MOST_WORK:
            change = f"{ratio:.3g} times" if ratio > 1 else f"1/{1 / ratio:.3g} of"
            raise InputError(
                f"{asked} is {change} the {what} of the profile ({profiled}); a what-if reaches up to"
                f" {MOST_WORK:g} times and 1/{MOST_WORK:g}: profile a size that is nearer"
            )
