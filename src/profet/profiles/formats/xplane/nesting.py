"""Makes the events of each thread nest: those that cross others are left out, as xprof leaves them out."""

import numpy as np
import numpy.typing as npt

from profet.profiles.formats.xplane.events import Picoseconds


def nested(
    lane: npt.NDArray[np.int32], start: Picoseconds, end: Picoseconds, is_operation: npt.NDArray[np.bool_]
) -> npt.NDArray[np.intp]:
    """Return the indices of events that nest, outer ones first.

    Of two operations that cross, the one that starts later goes. A range that starts inside an operation, or
    crosses anything, goes too: ranges lie around operations.

    Args:
        lane: shape (n,).
        start: shape (n,).
        end: shape (n,).
        is_operation: shape (n,); the others are ranges.
    """
    order = np.lexsort((is_operation, -end, start, lane))
    order = order[_kept(lane, start, end, np.ones_like(is_operation), order[is_operation[order]], order)]
    return order[_kept(lane, start, end, is_operation, order, order)]


def _kept(
    lane: npt.NDArray[np.int32],
    start: Picoseconds,
    end: Picoseconds,
    is_operation: npt.NDArray[np.bool_],
    among: npt.NDArray[np.intp],
    order: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """Return which of order remain when those among it are compared with each other."""
    kept = np.ones(len(lane), np.bool_)
    around: list[tuple[int, bool, int]] = []
    here = None
    columns = (among, lane[among], start[among], end[among], is_operation[among])
    for at, thread, begin, finish, operation in zip(*(each.tolist() for each in columns), strict=True):
        if thread != here:
            here, around = thread, []
        while around and around[-1][0] <= begin:
            around.pop()
        while operation and around and around[-1][0] < finish and not around[-1][1]:
            kept[around.pop()[2]] = False
        crosses = bool(around) and around[-1][0] < finish
        if crosses or (around and around[-1][1] and not operation):
            kept[at] = False
        else:
            around.append((finish, operation, at))
    return kept[order]
