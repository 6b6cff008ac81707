"""What a predictor answers: latencies, and what they rest on."""

from dataclasses import dataclass

from profet.profiles.arrays import FloatArray

NOVELTY = 1
"""Column of the doubts that says how far the nearest training workload is."""

GAP = "gap"
"""The part of a step in which the device runs nothing, listed beside the op families."""


@dataclass(frozen=True)
class Caution:
    """Something that should make one careful with a prediction, with what to do.

    Args:
        text: one line.
        unmeasured: whether the measured errors say nothing about such a profile, so that intervals are widened.
        of_latency: whether it is about how long the step is, which a latency in a wrong unit would explain.
    """

    text: str
    unmeasured: bool = False
    of_latency: bool = False


@dataclass(frozen=True)
class FamilyTimes:
    """Where the time of n steps goes.

    Args:
        names: op families, and GAP.
        anchor_ms: on the anchor, shape (n, names).
        target_ms: on the target as predicted, shape (n, names).
    """

    names: tuple[str, ...]
    anchor_ms: FloatArray
    target_ms: FloatArray


@dataclass(frozen=True)
class Answer:
    """A predictor's answer for n profiles.

    Args:
        latency_ms: of a step on the target, shape (n,).
        members: what each member of the predictor answers, in ms, shape (n,) each.
        doubts: reasons to expect more error, each zero or above, shape (n, reasons): 1, the distance to the nearest
            training workload, and others. None for methods without intervals.
        families: None for methods that do not work by op family.
        cautions: what in the profiles the predictor cannot know.
        nearest_workloads: names of the training workloads most like the first profile, nearest first; empty where
            that is unknown.
    """

    latency_ms: FloatArray
    members: dict[str, FloatArray]
    doubts: FloatArray | None = None
    families: FamilyTimes | None = None
    cautions: tuple[Caution, ...] = ()
    nearest_workloads: tuple[str, ...] = ()
