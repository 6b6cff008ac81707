"""Charts as data: places in percent of the drawing, so that the same drawing fits a phone and a desk."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

_MOST_TICKS = 5
_WIDE = 8.0
"""Axes whose largest value is more than so many times the smallest are drawn by ratios."""


@dataclass(frozen=True)
class Bar:
    """One row of a bar chart.

    Args:
        label: what it is of.
        shown: its value, as text.
        value: its length.
        low: lower end of its interval; None for none.
        high: upper end.
        kind: a class of the style sheet, such as "measured".
    """

    label: str
    shown: str
    value: float | None
    low: float | None = None
    high: float | None = None
    kind: str = "predicted"


@dataclass(frozen=True)
class Bars:
    """A bar chart: its heading, what is to be seen for those who cannot, and its rows."""

    title: str
    description: str
    bars: tuple[Bar, ...]

    @property
    def most(self) -> float:
        """What the whole width stands for."""
        ends = [end for bar in self.bars for end in (bar.value, bar.high) if end is not None]
        return max(ends, default=0.0) or 1.0

    def place(self, value: float) -> str:
        """Return where a value stands, in percent.

        >>> Bars("", "", (Bar("a", "2 ms", 2.0), Bar("b", "4 ms", 4.0))).place(2.0)
        '50.00%'
        """
        return _percent(value / self.most)


@dataclass(frozen=True)
class Axis:
    """One axis of a plot, from low to high, by ratios or evenly; ticks are values and their texts."""

    label: str
    low: float
    high: float
    by_ratio: bool
    ticks: tuple[tuple[float, str], ...]

    @classmethod
    def over(cls, label: str, values: Sequence[float], from_zero: bool = True, may_be_ratio: bool = True) -> Self:
        """Return an axis that holds all values, by ratios where they spread far and that is allowed."""
        known = [value for value in values if math.isfinite(value)] or [1.0]
        low, high = min(known), max(known)
        if may_be_ratio and low > 0 and high > _WIDE * low:
            low, high = low / 1.25, high * 1.25
            return cls(label, low, high, True, _ticks(low, high, by_ratio=True))
        low = min(0.0, low) if from_zero else low
        room = 0.06 * (high - low or abs(high) or 1.0)
        high += room
        low -= 0.0 if low == 0 else room
        return cls(label, low, high, False, _ticks(low, high, by_ratio=False))

    def share(self, value: float) -> float:
        """Return how far along the axis a value stands, from 0 to 1."""
        if self.by_ratio:
            return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Point:
    """One mark of a plot, with its intervals along both axes where it has them.

    Args:
        x: its place.
        y: its place.
        kind: a class of the style sheet; tells colour and mark.
        name: written beside it; empty for none.
        x_ends: of its interval.
        y_ends: of its interval.
    """

    x: float
    y: float
    kind: str
    name: str = ""
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None


@dataclass(frozen=True)
class Plot:
    """A plot of points and lines; a line is its kind and its points."""

    title: str
    description: str
    x: Axis
    y: Axis
    points: tuple[Point, ...] = ()
    lines: tuple[tuple[str, tuple[tuple[float, float], ...]], ...] = ()

    def left(self, value: float) -> str:
        """Return how far from the left a value of x stands, in percent."""
        return _percent(self.x.share(value))

    def top(self, value: float) -> str:
        """Return how far from the top a value of y stands, in percent."""
        return _percent(1 - self.y.share(value))

    def path(self, points: Sequence[tuple[float, float]]) -> str:
        """Return a line's points in a square of 100 by 100."""
        return " ".join(f"{100 * self.x.share(x):.2f},{100 - 100 * self.y.share(y):.2f}" for x, y in points)


def _ticks(low: float, high: float, by_ratio: bool) -> tuple[tuple[float, str], ...]:
    from matplotlib.ticker import LogLocator, MaxNLocator

    if by_ratio:
        subs = (1.0, 2.0, 5.0) if high / low < 200 else (1.0,)
        found = LogLocator(subs=subs).tick_values(low, high)
    else:
        found = MaxNLocator(_MOST_TICKS).tick_values(low, high)
    inside = [float(each) for each in found if low <= each <= high]
    return tuple((each, f"{each:,.10g}") for each in inside)


def _percent(share: float) -> str:
    return f"{100 * min(max(share, 0.0), 1.0):.2f}%"


@dataclass(frozen=True)
class Segment:
    """A stretch of time in which something runs; its text is written in it where there is room."""

    start: float
    length: float
    text: str
    kind: str = "execution"


@dataclass(frozen=True)
class Lane:
    """What one unit does over time."""

    label: str
    shown: str
    segments: tuple[Segment, ...]


@dataclass(frozen=True)
class Lanes:
    """A timeline: a lane a unit, and a line at the time when all is done."""

    title: str
    description: str
    lanes: tuple[Lane, ...]
    end: float

    @property
    def most(self) -> float:
        """What the whole width stands for."""
        ends = [segment.start + segment.length for lane in self.lanes for segment in lane.segments]
        return max([*ends, self.end]) or 1.0

    def place(self, value: float) -> str:
        """Return where a time stands, in percent."""
        return _percent(value / self.most)

    def fits(self, segment: Segment) -> bool:
        """Whether a segment's text fits into it on a phone."""
        return segment.length / self.most > 0.035 * max(1, len(segment.text))
