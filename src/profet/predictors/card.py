"""What a prediction tells its user: latency, interval, and what they rest on."""

from dataclasses import dataclass

from profet.predictors.answer import Answer
from profet.predictors.manifest import LEARNT, MeasuredError


@dataclass(frozen=True)
class FamilyTime:
    """Time of one op family in a step, in ms, on the anchor and, as predicted, on the target."""

    family: str
    anchor_ms: float
    target_ms: float


def family_times(answer: Answer) -> tuple[FamilyTime, ...]:
    """Return where the time of the first profile goes, largest on the target first; empty where that is unknown."""
    if answer.families is None:
        return ()
    times = zip(answer.families.names, answer.families.anchor_ms[0], answer.families.target_ms[0], strict=True)
    found = [FamilyTime(name, float(here), float(there)) for name, here, there in times if here > 0 or there > 0]
    return tuple(sorted(found, key=lambda each: -each.target_ms))


@dataclass(frozen=True)
class AccuracyCard:
    """What a prediction rests on.

    Args:
        model_left_out: error of exactly this pair on models left out, with or without the anchor's latency as
            here; from data sheets, that of all GPUs left out in turn, with the models; None where it was not
            measured.
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
    """What a step costs on each target, given one profile on the anchor.

    Args:
        anchor: the instance that was profiled.
        anchor_latency_ms: latency of a step there, as profiled; None where unknown.
        method: of the bundle.
        predictions: one a target.
        warnings: what should make one careful.
        batch_size: samples of the steps predicted; the profile's own unless another was asked about.
        pixels: width and height of their input, likewise; None where unknown.
        profiled_batch_size: samples of the profiled step; None where unknown.
        profiled_pixels: width and height of its input; None where unknown.
    """

    anchor: str
    anchor_latency_ms: float | None
    method: str
    predictions: tuple[TargetPrediction, ...]
    warnings: tuple[str, ...]
    batch_size: int | None = None
    pixels: int | None = None
    profiled_batch_size: int | None = None
    profiled_pixels: int | None = None

    @property
    def moved(self) -> bool:
        """Whether it is for another size than was profiled."""
        return (self.batch_size, self.pixels) != (self.profiled_batch_size, self.profiled_pixels)

    @property
    def size_text(self) -> str:
        """The size that it is for, in words."""
        return f"batch {self.batch_size} at {self.pixels} px"

    @property
    def profiled_text(self) -> str:
        """The size that was profiled, in words."""
        return f"batch {self.profiled_batch_size} at {self.profiled_pixels} px"
