"""Which name the time of a kernel goes under: its operation's, with the family that its kernel or its place tells.

A name alone tells its family (``profiles/families.py``). Where the kernel or its place tells another, the name
carries it: ``aten::convolution_backward [conv_backward_data]``, ``aten::add_ [optimizer]``.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from profet.profiles.families import OpFamilies, op_families
from profet.profiles.profile import IDLE
from profet.profiles.traces.halves import COMPUTE, DATA, FILTER, LIGHT, WHOLE, halves
from profet.profiles.traces.trace import NO_OPERATION, DeviceEvents, Indices

OPTIMIZER = "optimizer"
MAX_NAMES = 5_000
"""So many kinds of device events are told apart, those that take most time; the rest are added up."""

OTHERS = "(others)"
DEPTHWISE = ("depthwise", "depthwise_backward_filter")
"""What a depthwise convolution's kernels tell, though its operation is named like any convolution's."""


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
    role = np.full(len(distinct), WHOLE, np.int8)
    for number, kind in enumerate(distinct.tolist()):
        if number not in told:
            continue
        operation, kernel = divmod(kind // 2, len(names))
        launcher = None if operation == 0 else names[operation + NO_OPERATION]
        pair, role[number] = _role(launcher, names[kernel], families)
        for place, family in enumerate((None, *pair)):
            label = key(launcher, names[kernel], bool(kind % 2), families, family)
            index[number, place] = found.setdefault(label, len(found))
    placed = index[which, halves(role[which], _callers(events))]
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
    if operation is None or _copies(kernel, by_kernel.family, families):
        name, placed, family = kernel, by_kernel, by_kernel.family
    else:
        placed = families.place(operation)
        name, family = operation, half or placed.family
        if placed.guessed and not by_kernel.guessed:
            placed, family = by_kernel, by_kernel.family
        elif by_kernel.family in DEPTHWISE and family.startswith("conv_"):
            family = by_kernel.family
    if in_optimizer and families.kinds[family] in {"memory", "launch"}:
        family = OPTIMIZER
    name = f"{name} (operation)" if name == IDLE else name
    return op_families().tagged(name, family, by_kernel.precision, placed.guessed)


def _copies(kernel: str, family: str, families: OpFamilies) -> bool:
    """Whether a device event is a copy by the driver, which keeps its own name, whatever operation asked for it."""
    return families.kinds[family] == "copy" or "memcpy" in kernel[:20].lower()


def _role(operation: str | None, kernel: str, families: OpFamilies) -> tuple[tuple[str, ...], int]:
    """Return the two families of an operation that does two kinds of work, and what its kernel is in it."""
    pair = None if operation is None or families.overrides_name(operation) else families.split(operation)
    if pair is None:
        return (), WHOLE
    family = families.place_kernel(kernel).family
    pair = DEPTHWISE if family in DEPTHWISE else pair
    if family in pair:
        return pair, (DATA, FILTER)[pair.index(family)]
    return pair, COMPUTE if families.kinds[family] == "compute" else LIGHT


def _callers(events: DeviceEvents) -> npt.NDArray[np.int64]:
    """Return a number for each run of events of one execution; where that is unknown, of one operation."""
    changes = np.diff(events.operation, prepend=-2) != 0
    return np.cumsum(changes | (np.diff(events.caller, prepend=-2) != 0))
