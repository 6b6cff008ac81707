"""Puts the prediction for a profile beside what was measured, before both are recorded."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from profet.errors import InputError
from profet.history.measurement import Measurement, TrainedOn
from profet.names import suggest
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import predict
from profet.profiles.profile import Profile
from profet.quantities import format_ms


@dataclass(frozen=True)
class Anchored:
    """A profile, where it was measured, and the step latency there; either is None where nobody said it."""

    profile: Profile
    anchor: str | None
    anchor_latency_ms: float | None

    @property
    def name(self) -> str:
        """The anchor: what was said wins over the profile.

        Raises:
            InputError: neither says it.
        """
        name = self.anchor or self.profile.instance
        if name is None:
            raise InputError("the profile does not say where it was measured; give --anchor")
        return name

    @property
    def latency_ms(self) -> float | None:
        """The step latency on the anchor; that in the profile counts only where it is of this anchor."""
        own = self.profile.step_latency_ms if self.profile.instance in (None, self.name) else None
        return self.anchor_latency_ms or own


def beside_profile(
    measurement: Measurement,
    profiled: Anchored,
    bundle: Bundle,
    interval: float,
    instances: Collection[str],
    new_target: bool = False,
) -> tuple[Measurement, list[str]]:
    """Predict for the profile and put the answer beside the measurement.

    Args:
        measurement: its target is one of the bundle, or another instance, which has no prediction.
        profiled: the profile and its anchor.
        bundle: that predicts.
        interval: chance that the interval is to hold.
        instances: other targets that are known.
        new_target: whether a target that nobody knows is one all the same.

    Returns:
        The measurement with its prediction, and what its user must know.

    Raises:
        InputError: an unknown target, another size than was profiled, or see predict.
    """
    anchor, target = profiled.name, measurement.target
    _check_size(measurement, profiled.profile)
    if anchor == target:
        raise InputError(
            f"target {target!r} is the anchor itself; name the instance that {anchor} is compared with"
        )
    if anchor in bundle.anchors and target in bundle.targets(anchor):
        prediction = predict(
            profiled.profile,
            bundle,
            anchor=anchor,
            anchor_latency_ms=profiled.anchor_latency_ms,
            targets=[target],
            interval=interval,
        )
        trained = TrainedOn(bundle.provenance.dataset, bundle.provenance.created_with)
        return replace(measurement, anchor=anchor).beside(prediction, trained), list(prediction.warnings)
    known = {*bundle.anchors, *(pair.target for pair in bundle.pairs), *instances}
    for what, name in (("anchor", anchor), ("target", target)):
        if name not in known and not new_target:
            raise InputError(
                f"{what} {name!r} is neither in the bundle nor in the catalogue of instances;"
                f" {suggest(name, known)}; for a new instance add it with profet instances add, or give --force"
            )
    return _without_prediction(replace(measurement, anchor=anchor), profiled.latency_ms)


def _check_size(measurement: Measurement, profile: Profile) -> None:
    """Refuse a run at another size than was profiled: the profile neither predicts nor teaches it."""
    sizes = {
        "batch-size": (measurement.batch_size, profile.batch_size),
        "pixels": (measurement.pixels, profile.pixels),
    }
    for option, (ran, profiled) in sizes.items():
        if ran is not None and profiled is not None and ran != profiled:
            raise InputError(
                f"--{option} {ran}: the profile is of {profiled}; for a run at another size give --prediction FILE,"
                f" which profet predict --{option} {ran} --json printed"
            )


def _without_prediction(measurement: Measurement, latency_ms: float | None) -> tuple[Measurement, list[str]]:
    """Keep what no predictor knows, with the anchor's latency, so that it can teach."""
    told = f"the bundle has no predictor for {measurement.anchor} → {measurement.target}"
    warnings = [f"{told}: kept without a prediction, to learn from"]
    if latency_ms is None:
        warnings.append("without the anchor's latency it cannot teach; give --anchor-latency")
    return replace(measurement, anchor_latency_ms=latency_ms), warnings


def check_new(beside: Measurement, earlier: Measurement | None) -> None:
    """Refuse what is there already under another id, or an id that is another record's.

    Args:
        beside: what was to be recorded.
        earlier: the record that stands for it; None where it is new.

    Raises:
        InputError: says which record that is.
    """
    if earlier is None:
        return
    when = f"at {earlier.created:%Y-%m-%d %H:%M} UTC (record {earlier.id})"
    what = f"{format_ms(earlier.measured_ms)} ms on {earlier.target}"
    if earlier.id != beside.id:
        raise InputError(f"the same was recorded already: {what}, {when}; --again keeps a true repeat")
    if (earlier.anchor, earlier.target, earlier.measured_ms) != (beside.anchor, beside.target, beside.measured_ms):
        raise InputError(f"--id: is that of another record, {what}, {when}; give a new one, or leave it out")
