"""What a prediction tells its user: latency, interval, and what they rest on."""

from dataclasses import dataclass

from profet.predictors.manifest import LEARNT, MeasuredError


@dataclass(frozen=True)
class FamilyTime:
    """Time of one op family in a step, in ms, on the anchor and, as predicted, on the target."""

    family: str
    anchor_ms: float
    target_ms: float


@dataclass(frozen=True)
class AccuracyCard:
    """What a prediction rests on.

    Args:
        model_left_out: error of exactly this pair on models left out, with or without the anchor's latency as
            here; None where it was not measured.
        family_left_out: the same on whole model families left out.
        members_ms: what each member of the predictor answers.
        families: where the time goes, largest on the target first; empty for methods that do not work by family.
        nearest_workloads: of the training runs, most alike first; empty where that is unknown.
        expected_log_error: size of error, in natural logs, that the doubts about this profile let one expect, the
            widening included: how far off a latency was over this is its conformal score. None without intervals.
        widened: whether the interval was widened because the measured errors say nothing about such a profile.
    """

    model_left_out: MeasuredError | None
    family_left_out: MeasuredError | None
    members_ms: dict[str, float]
    families: tuple[FamilyTime, ...]
    nearest_workloads: tuple[str, ...]
    expected_log_error: float | None
    widened: bool


@dataclass(frozen=True)
class TargetPrediction:
    """Step latency on one target; the interval is None for methods that have none, or where none was calibrated.

    Args:
        target: the instance.
        latency_ms: of one training step there.
        low_ms: lower end of the interval.
        high_ms: upper end of the interval.
        interval: chance that the interval holds, as calibrated.
        card: what the prediction rests on.
        basis: "learnt", or in one word how else the target came to be known.
        explanation: the same in a phrase; empty where it was learnt.
    """

    target: str
    latency_ms: float
    low_ms: float | None
    high_ms: float | None
    interval: float | None
    card: AccuracyCard
    basis: str = LEARNT
    explanation: str = ""


@dataclass(frozen=True)
class Prediction:
    """What a step costs on each target, given one profile on the anchor."""

    anchor: str
    anchor_latency_ms: float | None
    method: str
    predictions: tuple[TargetPrediction, ...]
    warnings: tuple[str, ...]
