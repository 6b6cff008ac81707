"""Which half of a backward convolution each of its kernels computes: the gradient of the input, or of the filter.

cuDNN's engines mostly tell by their names. Of those that do not, such as a matrix product, the order tells:
frameworks compute the gradient of the input first.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

ROLES = WHOLE, DATA, FILTER, COMPUTE, LIGHT = range(5)
"""Of a kernel: of no such operation; told; told; heavy but untold; a change of layout, a fill or a sum."""

Roles = npt.NDArray[np.int8]


def halves(roles: Roles, caller: npt.NDArray[np.int64]) -> Roles:
    """Return WHOLE, DATA or FILTER for each kernel, shape (n,).

    Args:
        roles: of kernels in the order of their launch, shape (n,).
        caller: which execution of an operation launched each, shape (n,); kernels of one stand together.
    """
    result = np.where(roles == WHOLE, WHOLE, FILTER).astype(np.int8)
    split = np.flatnonzero(roles)
    if not len(split):
        return result
    starts = np.flatnonzero(np.diff(caller[split], prepend=caller[split[0]] - 1))
    for group in np.split(split, starts[1:]):
        result[group] = _of_one(roles[group].tolist())
    return result


def _of_one(roles: Sequence[int]) -> list[int]:
    """Return the halves of the kernels of one execution."""
    boundary = _first_of_filter(roles)
    found = [
        role if role in {DATA, FILTER} else DATA if place < boundary else FILTER for place, role in enumerate(roles)
    ]
    heavy = [place for place, role in enumerate(roles) if role != LIGHT]
    for place, role in enumerate(roles):
        if role == LIGHT and heavy:
            following = [each for each in heavy if each > place]
            found[place] = found[following[0] if following else heavy[-1]]
    return found


def _first_of_filter(roles: Sequence[int]) -> int:
    """Return where the filter's kernels begin."""
    computing = [place for place, role in enumerate(roles) if role == COMPUTE]
    if FILTER in roles:
        return roles.index(FILTER)
    if DATA in roles:
        last = len(roles) - 1 - list(reversed(roles)).index(DATA)
        return next((place for place in computing if place > last), len(roles))
    return computing[-1] if computing else 0
