"""Sums over intervals of time: what is nested in what, and how long something was busy."""

import numpy as np
import numpy.typing as npt

from profet.profiles.traces.trace import Indices, Times

_DEEPEST = 500
"""Intervals nested deeper than this count as standing alone; no call stack of a framework is that deep."""


def parents(lane: Indices, start: Times, end: Times) -> npt.NDArray[np.intp]:
    """Return the index of the innermost interval around each one in its lane, shape (n,); -1 where there is none.

    Of two that start together the longer is outside; of two alike, the one that stands first.
    """
    n = len(start)
    order = np.lexsort((-end, start, lane))
    depth = _depths(lane[order], start[order], end[order])
    parent = np.full(n, -1, np.intp)
    by_depth = np.argsort(depth, kind="stable")
    levels = np.searchsorted(depth[by_depth], np.arange(min(depth.max(initial=0), _DEEPEST) + 2))
    for above, here, below in zip(levels, levels[1:], levels[2:], strict=False):
        outer, inner = by_depth[above:here], by_depth[here:below]
        place = np.searchsorted(outer, inner) - 1
        parent[order[inner]] = np.where(place >= 0, order[outer[place]], -1)
    inside = parent >= 0
    inside[inside] = lane[parent[inside]] == lane[inside]
    return np.where(inside, parent, -1)


def _depths(lane: Indices, start: Times, end: Times) -> npt.NDArray[np.int64]:
    """Return how many intervals are open around each; they are sorted by lane, start and falling end."""
    n = len(start)
    if not n:
        return np.empty(0, np.int64)
    opens, empty = np.arange(n), start == end
    moment = np.concatenate([start, end])
    when = np.concatenate([np.ones(n, np.int8), np.where(empty, 2, 0).astype(np.int8)])
    both = np.concatenate([lane, lane])
    place = np.concatenate([opens, opens])
    order = np.lexsort((place, when, moment, both))
    change = np.where(order < n, 1, -1)
    open_now = np.cumsum(change)
    depth = np.empty(n, np.int64)
    starts = order < n
    depth[order[starts]] = open_now[starts] - 1
    return np.maximum(depth, 0)


def self_times(start: Times, end: Times, parent: npt.NDArray[np.intp]) -> Times:
    """Return the length of each interval less that of those directly inside it, never below zero, shape (n,)."""
    length = end - start
    inside = parent >= 0
    children = np.bincount(parent[inside], length[inside], minlength=len(length))
    return np.maximum(length - children, 0.0)


def busy_us(start: Times, end: Times) -> float:
    """Return how long at least one interval was open."""
    if not len(start):
        return 0.0
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    reached = np.maximum.accumulate(end)
    before = np.concatenate([start[:1], reached[:-1]])
    return float(np.sum(np.maximum(reached - np.maximum(start, before), 0.0)))


def innermost(lane: Indices, start: Times, end: Times, at_lane: Indices, at: Times) -> npt.NDArray[np.intp]:
    """Return the index of the innermost interval of a lane around each moment, -1 where there is none.

    Args:
        lane: of the intervals, shape (n,).
        start: shape (n,).
        end: shape (n,).
        at_lane: lanes of the moments, shape (m,).
        at: the moments, shape (m,).
    """
    if not len(start) or not len(at):
        return np.full(len(at), -1, np.intp)
    moments, which = np.unique(np.column_stack([at_lane, at]), axis=0, return_inverse=True)
    n, at_moment = len(start), moments[:, 1]
    parent = parents(
        np.concatenate([lane, moments[:, 0].astype(np.int32)]),
        np.concatenate([start, at_moment]),
        np.concatenate([end, at_moment]),
    )
    found = parent[n:]
    return np.where((found < n) & ~np.isnan(at_moment), found, -1)[which.ravel()]
