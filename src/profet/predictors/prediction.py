"""From one profile to the step latency on every target, with what should make one careful."""

from collections.abc import Sequence

import numpy as np

from profet.errors import BundleError, InputError
from profet.predictors.answer import NOVELTY, Answer, Caution
from profet.predictors.bundle import Bundle
from profet.predictors.card import AccuracyCard, FamilyTime, Prediction, TargetPrediction
from profet.predictors.intervals import DEFAULT_LEVEL, WIDENED, Calibration, interval_ms
from profet.profiles.arrays import ProfileArrays
from profet.profiles.diagnosis import diagnose, is_cut_short
from profet.profiles.profile import LARGEST_TIME, UNKNOWN_FRAMEWORK, Profile
from profet.profiles.steps import LEAST_COVERED, MOST_COVERED, likely_latency
from profet.quantities import US_PER_MS, format_ms

_UNLIKE = (
    "this profile is unlike what was learnt from, more than 95 % of the runs that the error was measured on"
    " (nearest: {nearest}); the interval says how much that costs; train on runs like yours to be surer"
)


def predict(
    profile: Profile,
    bundle: Bundle | None = None,
    *,
    anchor: str | None = None,
    anchor_latency_ms: float | None = None,
    targets: Sequence[str] | None = None,
    interval: float = DEFAULT_LEVEL,
) -> Prediction:
    """Predict the step latency on targets from a profile on an anchor.

    Args:
        profile: of one workload on the anchor.
        bundle: trained predictors; the shipped ones unless given.
        anchor: the instance that was profiled; the profile's own unless given.
        anchor_latency_ms: its step latency with the profiler off; the profile's own unless given.
        targets: the instances asked about; all that the bundle has for this anchor unless given.
        interval: chance that low to high is to hold, between 0 and 1.

    Raises:
        InputError: unknown or missing anchor, unknown target, no device operations, or a profile so far from
            the training data that no usable latency comes out.
        BundleError: the bundle cannot be used.
    """
    bundle = bundle or Bundle.load()
    name, latency_ms, warnings = _where_measured(profile, bundle, anchor, anchor_latency_ms)
    if not profile.has_device_operations:
        raise InputError("the profile has no device operations; record a training step that runs on the GPU")
    arrays = ProfileArrays.from_profiles([profile])
    arrays.step_latency_ms[0] = np.nan if latency_ms is None else latency_ms
    wanted = list(dict.fromkeys(targets)) if targets else bundle.targets(name)
    if not 0 < interval < 1:
        raise InputError(f"interval of {interval:g}: a chance lies between 0 and 1, such as 0.9")
    told = [*profile.warnings, *warnings, *_latency_warnings(profile, latency_ms)]
    believed = _covered(profile, latency_ms) is None
    fits = believed and (latency_ms is None or not is_cut_short(profile, latency_ms))
    framework = None if profile.framework == UNKNOWN_FRAMEWORK else profile.framework
    predictions = []
    for target in wanted:
        prediction, cautions = _predict_target(bundle, name, target, arrays, framework, interval, not fits)
        predictions.append(prediction)
        told += [caution.text for caution in cautions if believed or not caution.of_latency]
    return Prediction(name, latency_ms, bundle.method, tuple(predictions), tuple(dict.fromkeys(told)))


def _predict_target(
    bundle: Bundle,
    anchor: str,
    target: str,
    arrays: ProfileArrays,
    framework: str | None,
    interval: float,
    doubtful: bool,
) -> tuple[TargetPrediction, list[Caution]]:
    """Answer for one target; a doubtful profile is one whose latency or length does not fit it."""
    with np.errstate(over="ignore", invalid="ignore"):
        answer = bundle.predictor(anchor, target).answer(arrays, framework)
    latency_ms = _usable(float(answer.latency_ms[0]), target)
    latency_known = not np.isnan(arrays.step_latency_ms[0])
    cautions = list(answer.cautions)
    widened = doubtful or any(caution.unmeasured for caution in cautions)
    calibration = bundle.calibration(anchor, target, latency_known)
    half_width = np.nan
    expected: float | None = None
    if calibration is not None and answer.doubts is not None:
        factor = WIDENED if widened else 1.0
        try:
            expected = factor * float(calibration.expected_error(answer.doubts)[0])
            half_width = factor * float(calibration.half_width(answer.doubts, interval)[0])
        except ValueError as error:
            raise BundleError(f"{bundle.where}: {anchor} → {target} has {error}; train it again") from None
        cautions += _calibration_cautions(calibration, answer, interval, widened)
    pair = bundle.pair(anchor, target)
    basis = pair.basis, pair.explanation
    card = AccuracyCard(
        pair.error("model", latency_known),
        pair.error("family", latency_known),
        {name: float(values[0]) for name, values in answer.members.items() if not np.isnan(values[0])},
        _family_times(answer),
        answer.nearest_workloads,
        expected,
        widened and not np.isnan(half_width),
    )
    if np.isnan(half_width):
        return TargetPrediction(target, latency_ms, None, None, None, card, *basis), cautions
    low_ms, high_ms = (float(end[0]) for end in interval_ms(answer.latency_ms, np.array([half_width])))
    return TargetPrediction(target, latency_ms, low_ms, high_ms, interval, card, *basis), cautions


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


def _family_times(answer: Answer) -> tuple[FamilyTime, ...]:
    if answer.families is None:
        return ()
    times = zip(answer.families.names, answer.families.anchor_ms[0], answer.families.target_ms[0], strict=True)
    found = [FamilyTime(name, float(here), float(there)) for name, here, there in times if here > 0 or there > 0]
    return tuple(sorted(found, key=lambda each: -each.target_ms))


def _where_measured(
    profile: Profile, bundle: Bundle, anchor: str | None, anchor_latency_ms: float | None
) -> tuple[str, float | None, list[str]]:
    """Return the anchor, its step latency and warnings: what the caller says wins over the profile."""
    name = profile.instance if anchor is None else anchor
    if name is None:
        known = ", ".join(bundle.anchors)
        raise InputError(f"the profile does not say where it was measured; give --anchor, one of: {known}")
    if anchor_latency_ms is not None and not 0 < anchor_latency_ms < np.inf:
        raise InputError(f"anchor latency of {anchor_latency_ms:g} ms: must be above zero and finite")
    if profile.instance in (None, name):
        return name, anchor_latency_ms or profile.step_latency_ms, []
    warning = f"the profile says that it was measured on {profile.instance}; it was taken as one of {name}"
    return name, anchor_latency_ms, [warning]


def _usable(latency_ms: float, target: str) -> float:
    if not 0 < latency_ms < LARGEST_TIME:
        raise InputError(
            f"no usable latency for {target} ({latency_ms:g} ms): the profile is unlike anything trained on;"
            " check that its times are µs and its --steps are right"
        )
    return latency_ms


def _latency_warnings(profile: Profile, latency_ms: float | None) -> list[str]:
    """Compare the anchor latency with the sum of the device's operations, idle included."""
    if latency_ms is None:
        told = (
            "no anchor latency was given; the prediction rests on the profile alone, which is less exact:"
            " time a step without the profiler and give it as --anchor-latency"
        )
        return [told, *diagnose(profile, None)]
    covered = _covered(profile, latency_ms)
    if covered is None:
        return diagnose(profile, latency_ms)
    facts = (
        f"the anchor latency of {format_ms(latency_ms)} ms cannot belong to this profile, whose device operations"
        f" take {format_ms(profile.device_total_us / US_PER_MS)} ms a step"
    )
    if likely := likely_latency(latency_ms, covered):
        return [f"{facts}; did you mean {likely}?"]
    cut = "; or the capture was cut short: profile whole steps" if covered < 1 else ""
    return [f"{facts}; check its unit, and that --steps {profile.steps} is right{cut}"]


def _covered(profile: Profile, latency_ms: float | None) -> float | None:
    """Return how many times the latency the device operations take, where the two cannot belong together."""
    if latency_ms is None:
        return None
    covered = profile.device_total_us / US_PER_MS / latency_ms
    return None if LEAST_COVERED <= covered <= MOST_COVERED else covered
