"""The answer of one predictor to one profile: latency, interval, card, and what should make one careful."""

from dataclasses import dataclass

import numpy as np

from profet.errors import BundleError, InputError
from profet.predictors.answer import NOVELTY, Answer, Caution
from profet.predictors.bundle import Bundle
from profet.predictors.card import AccuracyCard, TargetPrediction, family_times
from profet.predictors.intervals import WIDENED, Calibration, interval_ms
from profet.profiles.arrays import ProfileArrays
from profet.profiles.profile import LARGEST_TIME

Told = tuple[TargetPrediction, list[Caution]]

_UNLIKE = (
    "this profile is unlike what was learnt from, more than 95 % of the runs that the error was measured on"
    " (nearest: {nearest}); the interval says how much that costs; train on runs like yours to be surer"
)


@dataclass(frozen=True)
class PairQuestion:
    """What is asked about a target from a profile on an anchor.

    Args:
        anchor: the instance that was profiled.
        target: the instance asked about.
        profiles: one profile on the anchor.
        framework: of the profile, where known.
        interval: chance that the interval is to hold.
        doubtful: whether latency or length of the profile do not fit it.
    """

    anchor: str
    target: str
    profiles: ProfileArrays
    framework: str | None
    interval: float
    doubtful: bool


def predict_pair(bundle: Bundle, asked: PairQuestion) -> Told:
    """Answer from an anchor for a target that the bundle has for it.

    Raises:
        InputError: unknown anchor or target, or a profile so far from the training data that no usable latency
            comes out.
        BundleError: the bundle cannot be used.
    """
    anchor, target = asked.anchor, asked.target
    with np.errstate(over="ignore", invalid="ignore"):
        answer = bundle.predictor(anchor, target).answer(asked.profiles, asked.framework)
    latency_ms = _usable(float(answer.latency_ms[0]), target)
    latency_known = not np.isnan(asked.profiles.step_latency_ms[0])
    cautions = list(answer.cautions)
    widened = asked.doubtful or any(caution.unmeasured for caution in cautions)
    calibration = bundle.calibration(anchor, target, latency_known)
    half_width = np.nan
    expected: float | None = None
    if calibration is not None and answer.doubts is not None:
        factor = WIDENED if widened else 1.0
        try:
            expected = factor * float(calibration.expected_error(answer.doubts)[0])
            half_width = factor * float(calibration.half_width(answer.doubts, asked.interval)[0])
        except ValueError as error:
            raise BundleError(f"{bundle.where}: {anchor} → {target} has {error}; train it again") from None
        cautions += _calibration_cautions(calibration, answer, asked.interval, widened)
    pair = bundle.pair(anchor, target)
    basis = pair.basis, pair.explanation
    card = AccuracyCard(
        pair.error("model", latency_known),
        pair.error("family", latency_known),
        {name: float(values[0]) for name, values in answer.members.items() if not np.isnan(values[0])},
        family_times(answer),
        answer.nearest_workloads,
        expected,
        widened and not np.isnan(half_width),
    )
    if np.isnan(half_width):
        return TargetPrediction(target, latency_ms, None, None, None, card, *basis), cautions
    low_ms, high_ms = (float(end[0]) for end in interval_ms(answer.latency_ms, np.array([half_width])))
    return TargetPrediction(target, latency_ms, low_ms, high_ms, asked.interval, card, *basis), cautions


def _calibration_cautions(
    calibration: Calibration, answer: Answer, interval: float, widened: bool
) -> list[Caution]:
    """Say where a profile lies beyond what the errors were measured on, or a level beyond what they support."""
    cautions = []
    if interval > calibration.highest_level:
        text = (
            f"no interval at {interval:g}: the errors of {calibration.rows:.0f} held-out runs support at most"
            f" {calibration.highest_level:.4g}; ask for less with --interval, or train on more runs"
        )
        cautions.append(Caution(text))
    if answer.doubts is not None and answer.doubts[0, NOVELTY] > calibration.unlike[NOVELTY] and not widened:
        cautions.append(Caution(_UNLIKE.format(nearest="; ".join(answer.nearest_workloads))))
    return cautions


def _usable(latency_ms: float, target: str) -> float:
    if not 0 < latency_ms < LARGEST_TIME:
        raise InputError(
            f"no usable latency for {target} ({latency_ms:g} ms): the profile is unlike anything trained on;"
            " check that its times are µs and its --steps are right"
        )
    return latency_ms
