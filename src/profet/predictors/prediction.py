"""From one profile to the step latency on every target, with what should make one careful."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from profet.errors import InputError
from profet.predictors.bundle import Bundle, MeasuredError, Pair
from profet.profiles.arrays import ProfileArrays
from profet.profiles.profile import Profile
from profet.quantities import US_PER_MS, format_ms

LEAST_COVERED, MOST_COVERED = 0.25, 5.0
"""Device time per step over step latency lies within these in every published capture (0.5 to 3.0)."""


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
    name = anchor or profile.instance
    if name is None:
        raise InputError(
            f"the profile does not say where it was measured; give --anchor, one of: {', '.join(bundle.anchors)}"
        )
    latency_ms = anchor_latency_ms or profile.step_latency_ms
    if not profile.has_device_operations:
        raise InputError("the profile has no device operations; record a training step that runs on the GPU")
    arrays = ProfileArrays.from_profiles([profile])
    arrays.step_latency_ms[0] = np.nan if latency_ms is None else latency_ms
    wanted = list(dict.fromkeys(targets)) if targets else bundle.targets(name)
    predictors = {target: bundle.predictor(name, target) for target in wanted}
    errors = {pair.target: _error(pair, latency_ms is not None) for pair in bundle.pairs if pair.anchor == name}
    warnings = list(dict.fromkeys([*profile.warnings, *_latency_warnings(profile, latency_ms)]))
    predictions = []
    for target, predictor in predictors.items():
        with np.errstate(over="ignore", invalid="ignore"):
            answer_ms = float(predictor.predict(arrays)[0])
        if not np.isfinite(answer_ms) or answer_ms <= 0:
            raise InputError(
                f"no usable latency for {target} ({answer_ms:g} ms): the profile is unlike anything trained on;"
                " check that its times are µs and its --steps are right"
            )
        warnings += [text for text in predictor.warnings(arrays) if text not in warnings]
        predictions.append(TargetPrediction(target, answer_ms, None, None, None, errors.get(target)))
    return Prediction(name, latency_ms, bundle.method, tuple(predictions), tuple(warnings))


def _error(pair: Pair, latency_known: bool) -> MeasuredError | None:
    if pair.errors is None:
        return None
    return pair.errors.with_latency if latency_known else pair.errors.without_latency


def _latency_warnings(profile: Profile, latency_ms: float | None) -> list[str]:
    """Compare the anchor latency with the sum of the device's operations, idle included."""
    if latency_ms is None:
        return ["no anchor latency was given; the prediction rests on the profile alone, which is less exact"]
    total_ms = profile.device_total_us / US_PER_MS
    covered = total_ms / latency_ms
    if LEAST_COVERED <= covered <= MOST_COVERED:
        return []
    facts = (
        f"the anchor latency of {format_ms(latency_ms)} ms cannot belong to this profile, whose device operations"
        f" take {format_ms(total_ms)} ms a step"
    )
    for factor, unit in ((1e3, "s"), (1e-3, "us")):
        if LEAST_COVERED <= covered / factor <= MOST_COVERED:
            return [f"{facts}; did you mean {latency_ms:g}{unit}?"]
    return [f"{facts}; check its unit, and that --steps {profile.steps} is right"]
