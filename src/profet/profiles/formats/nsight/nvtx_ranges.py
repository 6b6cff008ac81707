"""NVTX ranges: which of them name operations, which mark training steps, and how they nest."""

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from profet.profiles.families import IDLE_FAMILY, op_families

Whole = npt.NDArray[np.int64]

_ARGUMENTS = (", seq =", ", op_id =", ", sizes =", ", input_op_ids =")
_QUALIFIED = re.compile(r"[a-z_][a-z0-9_]*::")
_AUTOGRAD = re.compile(r"(?:torch::)?autograd::|\w*Backward\d*$")
_HLO = re.compile(r"#.*?\bhlo_op=([^,#]+)")
_COPY_NUMBER = re.compile(r"\.\d+$")
_STEP = re.compile(
    r"(profilerstep|(?:train(?:ing)?[ _]?)?step|iter(?:ation)?|batch)[\s:#_=-]*(\d{0,18})", re.IGNORECASE
)
_STEMS = ("profilerstep", "step", "iteration", "batch")
_END_BEFORE, _START, _END_AFTER = range(3)


@dataclass(frozen=True)
class Ranges:
    """Ranges in any order.

    Args:
        name: index of the name, shape (n,).
        start: ns, shape (n,).
        end: ns, never before the start, shape (n,).
        thread: a number for each thread, shape (n,).
    """

    name: Whole
    start: Whole
    end: Whole
    thread: Whole

    def __len__(self) -> int:
        return len(self.name)

    def take(self, rows: npt.NDArray[np.bool_]) -> "Ranges":
        """Select by a mask of shape (n,)."""
        return Ranges(self.name[rows], self.start[rows], self.end[rows], self.thread[rows])


def plain_name(text: str) -> str:
    """Leave out the arguments that ``emit_nvtx`` of PyTorch writes after an operator's name.

    >>> plain_name("aten::conv2d, seq = 12, op_id = 33, sizes = [[1, 3]]")
    'aten::conv2d'
    """
    for argument in _ARGUMENTS:
        text = text.partition(argument)[0]
    return text


def operation_name(plain: str) -> str | None:
    """Return the operation that a range of this name is, None for a range around operations.

    PyTorch names operators with a namespace; TensorFlow writes ``name:Type`` and XLA ``#hlo_op=...#``.

    >>> operation_name("aten::mm"), operation_name("model/conv1/Conv2D:Conv2D"), operation_name("ReluBackward0")
    ('aten::mm', 'Conv2D', None)
    """
    if _AUTOGRAD.match(plain):
        return None
    if _QUALIFIED.match(plain):
        return plain
    hlo = _HLO.search(plain)
    if hlo is not None:
        return _COPY_NUMBER.sub("", hlo[1])
    table = op_families()
    if table.vocabularies.get(plain) in {"tensorflow", "pytorch"} and table.names[plain] != IDLE_FAMILY:
        return plain
    parts = [part.strip() for part in plain.split(":")] if plain.count(":") == 1 else []
    types = [part for part in parts if table.vocabularies.get(part) == "tensorflow"]
    return types[-1] if types else None


def nested(ranges: Ranges) -> tuple[Ranges, int]:
    """Make ranges of one thread nest: where some cross, starts and ends are matched as a stack would.

    Returns:
        The ranges, and how many of them end elsewhere than before.
    """
    n, start, end = len(ranges), ranges.start, ranges.end
    kind = np.concatenate((np.full(n, _START), np.where(end > start, _END_BEFORE, _END_AFTER)))
    longest_first = np.concatenate((-end, np.zeros(n, np.int64)))
    threads = np.concatenate((ranges.thread, ranges.thread))
    order = np.lexsort((longest_first, kind, np.concatenate((start, end)), threads))
    change = np.where(order < n, 1, -1)
    level = np.cumsum(change) - np.minimum(change, 0)  # of a start and of the end that a stack gives it
    pairs = order[np.argsort(level, kind="stable")].reshape(n, 2)
    matched = np.empty(n, np.int64)
    matched[pairs[:, 0]] = end[pairs[:, 1] - n]
    crossing = int(np.count_nonzero(matched != end))
    return Ranges(ranges.name, start, matched, ranges.thread), crossing


def find_steps(ranges: Ranges, names: list[str]) -> tuple[list[tuple[int, int, str]], int]:
    """Find the ranges that mark training steps: ``ProfilerStep#5``, ``iteration 5``, ``batch``, ...

    Marks of one kind are on one thread and do not overlap; the thread with most of them is taken.

    Returns:
        Start and end in ns and label of each step in order, and how many threads mark steps of that kind.
    """
    kinds: dict[int, tuple[bool, int, str]] = {}
    for index in np.unique(ranges.name).tolist():
        match = _STEP.fullmatch(names[index])
        if match is not None:
            kinds[index] = (match[2] == "", _rank(match[1].lower()), match[2])
    marks: dict[tuple[bool, int], dict[int, list[tuple[int, int, str]]]] = defaultdict(lambda: defaultdict(list))
    for row in np.flatnonzero(np.isin(ranges.name, list(kinds))).tolist():
        unnumbered, rank, label = kinds[int(ranges.name[row])]
        mark = (int(ranges.start[row]), int(ranges.end[row]), label)
        marks[unnumbered, rank][int(ranges.thread[row])].append(mark)
    several = sorted(marks.items(), key=lambda kind: (max(map(len, kind[1].values())) < 2, kind[0]))
    for (unnumbered, _), threads in several:
        fitting = [sorted(found) for _, found in sorted(threads.items()) if _apart(sorted(found))]
        if fitting:
            steps = max(fitting, key=len)
            if unnumbered:
                steps = [(start, end, str(number)) for number, (start, end, _) in enumerate(steps, start=1)]
            return steps, len(fitting)
    return [], 0


def _rank(stem: str) -> int:
    return _STEMS.index("iteration" if stem.startswith("iter") else "step" if stem.startswith("train") else stem)


def _apart(marks: list[tuple[int, int, str]]) -> bool:
    return all(after[0] >= before[1] for before, after in pairwise(marks))
