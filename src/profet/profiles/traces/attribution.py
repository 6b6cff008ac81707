"""Which name the time of a kernel goes under: its operation's, with the family that its kernel or its place tells.

A name alone tells its family (``profiles/families.py``). Where the kernel or its place tells another, the name
carries it: ``aten::convolution_backward [conv_backward_data]``, ``aten::add_ [optimizer]``.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from profet.profiles.families import OpFamilies, op_families
from profet.profiles.traces.trace import NO_OPERATION, DeviceEvents, Indices

OPTIMIZER = "optimizer"
MAX_NAMES = 5_000
"""So many kinds of device events are told apart, those that take most time; the rest are added up."""

OTHERS = "(others)"
_WHOLE, _UNTOLD = 0, -1


def keys(
    names: Sequence[str], events: DeviceEvents, in_optimizer: npt.NDArray[np.bool_], families: OpFamilies
) -> tuple[Indices, list[str]]:
    """Return for each event the index of the name that its time goes under, shape (n,), and those names.

    Args:
        names: what the indices of the events mean.
        events: in the order of their launch.
        in_optimizer: whether each was launched inside an optimizer's step, shape (n,).
        families: the table that says where operations and kernels belong.
    """
    kinds = ((events.operation.astype(np.int64) - NO_OPERATION) * len(names) + events.name) * 2 + in_optimizer
    distinct, which = np.unique(kinds, return_inverse=True)
    time = np.bincount(which, events.end_us - events.start_us, minlength=len(distinct))
    told = set(np.argsort(-time, kind="stable")[:MAX_NAMES].tolist())
    found: dict[str, int] = {OTHERS: 0}
    index = np.zeros((len(distinct), 3), np.int32)
    side = np.full(len(distinct), _WHOLE, np.int8)
    for number, kind in enumerate(distinct.tolist()):
        if number not in told:
            continue
        operation, kernel = divmod(kind // 2, len(names))
        optimizing = kind % 2
        launcher = None if operation == 0 else names[operation + NO_OPERATION]
        between = None if launcher is None else families.split(launcher)
        for place, family in enumerate((None, *(between or ()))):
            label = key(launcher, names[kernel], bool(optimizing), families, family)
            index[number, place] = found.setdefault(label, len(found))
        if between is not None:
            by_kernel = families.place_kernel(names[kernel]).family
            side[number] = 1 + between.index(by_kernel) if by_kernel in between else _UNTOLD
    placed = index[which, _sides(events.operation, side[which])]
    used, narrowed = np.unique(placed, return_inverse=True)
    labels = list(found)
    return narrowed.ravel().astype(np.int32), [labels[each] for each in used]


def key(
    operation: str | None, kernel: str, in_optimizer: bool, families: OpFamilies, half: str | None = None
) -> str:
    """Return the name that the time of a kernel goes under.

    Args:
        operation: that launched it; None where unknown.
        kernel: its own name.
        in_optimizer: whether it was launched inside an optimizer's step.
        families: the table.
        half: which of the two families of an operation that does two kinds of work; None for any other.
    """
    by_kernel = families.place_kernel(kernel)
    if operation is None or families.kinds[by_kernel.family] == "copy":
        name, family = kernel, by_kernel.family
    else:
        by_name = families.place(operation)
        name, family = operation, half or by_name.family
        if by_name.guessed and not by_kernel.guessed:
            family = by_kernel.family
    if in_optimizer and families.kinds[family] in {"memory", "launch"}:
        family = OPTIMIZER
    return op_families().tagged(name, family, by_kernel.precision)


def _sides(operation: Indices, side: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Return which half each event belongs to: 0 for operations that are whole.

    A kernel whose name tells no half goes with the next one of the same launch that does, else with the one before.
    """
    known = np.flatnonzero(side > _WHOLE)
    result = np.maximum(side, _WHOLE)
    untold = np.flatnonzero(side == _UNTOLD)
    if not len(known) or not len(untold):
        return result
    launch = np.cumsum(np.diff(operation, prepend=operation[:1]) != 0)
    place = np.searchsorted(known, untold)
    after, before = known[np.minimum(place, len(known) - 1)], known[np.maximum(place - 1, 0)]
    result[untold] = np.where(
        (after > untold) & (launch[after] == launch[untold]),
        side[after],
        np.where((before < untold) & (launch[before] == launch[untold]), side[before], _WHOLE),
    )
    return result
