"""From one profile to the step latency on every target, with what should make one careful."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profet.errors import InputError
from profet.predictors.bundle import Bundle
from profet.predictors.manifest import MeasuredError, Pair
from profet.predictors.methods import Predictor
from profet.profiles.arrays import ProfileArrays
from profet.profiles.diagnosis import diagnose
from profet.profiles.profile import Profile
from profet.profiles.steps import LEAST_COVERED, MOST_COVERED, likely_latency
from profet.quantities import US_PER_MS, format_ms


@dataclass(frozen=True)
class TargetPrediction:
    """Step latency on one target; the interval is None for methods that have none.

    Args:
        target: the instance.
        latency_ms: of one training step there.
        low_ms: lower end of the interval.
        high_ms: upper end of the interval.
        interval: chance that the interval holds, as calibrated.
        measured_error: of this pair on models left out, with or without the anchor's latency as here;
            None where it was not measured.
    """

    target: str
    latency_ms: float
    low_ms: float | None
    high_ms: float | None
    interval: float | None
    measured_error: MeasuredError | None


@dataclass(frozen=True)
class Prediction:
    """What a step costs on each target, given one profile on the anchor."""

    anchor: str
    anchor_latency_ms: float | None
    method: str
    predictions: tuple[TargetPrediction, ...]
    warnings: tuple[str, ...]


def predict(
    profile: Profile,
    bundle: Bundle | None = None,
    *,
    anchor: str | None = None,
    anchor_latency_ms: float | None = None,
    targets: Sequence[str] | None = None,
) -> Prediction:
    """Predict the step latency on targets from a profile on an anchor.

    Args:
        profile: of one workload on the anchor.
        bundle: trained predictors; the shipped ones unless given.
        anchor: the instance that was profiled; the profile's own unless given.
        anchor_latency_ms: its step latency with the profiler off; the profile's own unless given.
        targets: the instances asked about; all that the bundle has for this anchor unless given.

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
    predictors = {target: bundle.predictor(name, target) for target in wanted}
    errors = {pair.target: _error(pair, latency_ms is not None) for pair in bundle.pairs if pair.anchor == name}
    predictions = tuple(
        TargetPrediction(target, _latency_ms(predictor, arrays, target), None, None, None, errors.get(target))
        for target, predictor in predictors.items()
    )
    told = [text for predictor in predictors.values() for text in predictor.warnings(arrays)]
    all_warnings = dict.fromkeys([*profile.warnings, *warnings, *_latency_warnings(profile, latency_ms), *told])
    return Prediction(name, latency_ms, bundle.method, predictions, tuple(all_warnings))


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


def _latency_ms(predictor: Predictor, arrays: ProfileArrays, target: str) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        latency_ms = float(predictor.predict(arrays)[0])
    if not np.isfinite(latency_ms) or latency_ms <= 0:
        raise InputError(
            f"no usable latency for {target} ({latency_ms:g} ms): the profile is unlike anything trained on;"
            " check that its times are µs and its --steps are right"
        )
    return latency_ms


def _error(pair: Pair, latency_known: bool) -> MeasuredError | None:
    if pair.errors is None:
        return None
    return pair.errors.with_latency if latency_known else pair.errors.without_latency


def _latency_warnings(profile: Profile, latency_ms: float | None) -> list[str]:
    """Compare the anchor latency with the sum of the device's operations, idle included."""
    if latency_ms is None:
        told = "no anchor latency was given; the prediction rests on the profile alone, which is less exact"
        return [told, *diagnose(profile, None)]
    total_ms = profile.device_total_us / US_PER_MS
    covered = total_ms / latency_ms
    if LEAST_COVERED <= covered <= MOST_COVERED:
        return diagnose(profile, latency_ms)
    facts = (
        f"the anchor latency of {format_ms(latency_ms)} ms cannot belong to this profile, whose device operations"
        f" take {format_ms(total_ms)} ms a step"
    )
    if likely := likely_latency(latency_ms, covered):
        return [f"{facts}; did you mean {likely}?"]
    return [f"{facts}; check its unit, and that --steps {profile.steps} is right"]
