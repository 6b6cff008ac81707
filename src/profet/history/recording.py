"""Puts the prediction for a profile beside what was measured, before both are recorded."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from profet.errors import InputError
from profet.history.measurement import Measurement, TrainedOn
from profet.names import suggest
from profet.predictors.bundle import Bundle
from profet.predictors.prediction import predict
from profet.profiles.profile import Profile


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
        InputError: an unknown target, or see predict.
    """
    anchor, target = profiled.name, measurement.target
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
    latency_ms = profiled.latency_ms
    kept = replace(measurement, anchor=anchor, anchor_latency_ms=latency_ms)
    warnings = [f"the bundle has no predictor for {anchor} → {target}: kept without a prediction, to learn from"]
    if latency_ms is None:
        warnings.append("without the anchor's latency it cannot teach; give --anchor-latency")
    return kept, warnings
