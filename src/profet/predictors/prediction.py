"""From one profile to the step latency on every target, with what should make one careful."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from profet.errors import InputError
from profet.instances.catalogue import Catalogue
from profet.predictors.anchor_latency import covered_times, latency_warnings, where_measured
from profet.predictors.answer import Caution
from profet.predictors.bundle import Bundle
from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.data_sheets.prediction import predict_from_sheets
from profet.predictors.intervals import DEFAULT_LEVEL
from profet.predictors.pair_prediction import PairQuestion, Told, predict_pair
from profet.predictors.sizes.what_if import Move, asked_size, move_to
from profet.profiles.arrays import ProfileArrays
from profet.profiles.diagnosis import is_cut_short
from profet.profiles.profile import UNKNOWN_FRAMEWORK, Profile


def predict(
    profile: Profile,
    bundle: Bundle | None = None,
    *,
    anchor: str | None = None,
    anchor_latency_ms: float | None = None,
    targets: Sequence[str] | None = None,
    interval: float = DEFAULT_LEVEL,
    catalogue: Catalogue | None = None,
    batch_size: int | None = None,
    pixels: int | None = None,
) -> Prediction:
    """Predict the step latency on targets from a profile on an anchor.

    An anchor that the bundle does not know, and a target that is named, are extrapolated where the catalogue has
    them: as another machine with the same GPU, else from data sheets.

    Args:
        profile: of one workload on the anchor.
        bundle: trained predictors; the shipped ones unless given.
        anchor: the instance that was profiled; the profile's own unless given.
        anchor_latency_ms: its step latency with the profiler off; the profile's own unless given.
        targets: the instances asked about; all that the bundle has for this anchor unless given.
        interval: chance that low to high is to hold, between 0 and 1.
        catalogue: of instances that the bundle does not know; the shipped one with the user's own unless given.
        batch_size: samples a step to predict for; the profile's own unless given.
        pixels: width and height of the input to predict for; the profile's own unless given.

    Raises:
        InputError: unknown or missing anchor, unknown target, no device operations, a size out of reach, or a
            profile so far from the training data that no usable latency comes out.
        BundleError: the bundle cannot be used.
    """
    bundle = bundle or Bundle.load()
    name, latency_ms, warnings = where_measured(profile, bundle, anchor, anchor_latency_ms)
    _check_question(profile, interval)
    wanted = list(dict.fromkeys(targets)) if targets else _all_targets(bundle, name, catalogue)
    told = [*profile.warnings, *warnings, *latency_warnings(profile, latency_ms)]
    believed = covered_times(profile, latency_ms) is None
    fits = believed and (latency_ms is None or not is_cut_short(profile, latency_ms))
    arrays = ProfileArrays.from_profiles([profile])
    arrays.step_latency_ms[0] = np.nan if latency_ms is None else latency_ms
    sizes = asked_size(profile, batch_size, pixels)
    move = None if sizes is None else move_to(bundle, name, arrays, sizes, not fits)
    if move is not None:
        arrays, told = move.moved, [*told, *(caution.text for caution in move.cautions)]
    framework = None if profile.framework == UNKNOWN_FRAMEWORK else profile.framework
    asked = PairQuestion(name, name, arrays, framework, interval, not fits)
    questions = _Questions(bundle, catalogue, asked, move)
    predictions: list[TargetPrediction] = []
    for target in wanted:
        prediction, cautions = questions.answer(target)
        predictions.append(prediction)
        told += [caution.text for caution in cautions if believed or not caution.of_latency]
    own = profile.batch_size, profile.pixels
    size = own if move is None else (move.asked.batch_size, move.asked.pixels)
    return Prediction(name, latency_ms, bundle.method, tuple(predictions), tuple(dict.fromkeys(told)), *size, *own)


def _check_question(profile: Profile, interval: float) -> None:
    if not profile.has_device_operations:
        metrics = ", or say --method hardware-metrics" if profile.hardware else ""
        raise InputError(
            f"the profile has no device operations; record a training step that runs on the GPU{metrics}"
        )
    if not 0 < interval < 1:
        raise InputError(f"interval of {interval:g}: a chance lies between 0 and 1, such as 0.9")


def _all_targets(bundle: Bundle, anchor: str, catalogue: Catalogue | None) -> list[str]:
    """Return the targets of an anchor; of one that the bundle does not know but the catalogue does, all it has."""
    if not bundle.pairs or anchor in bundle.anchors or anchor not in (catalogue or Catalogue.load()).instances:
        return bundle.targets(anchor)
    return sorted({pair.target for pair in bundle.pairs} - {anchor})


@dataclass(frozen=True)
class _Questions:
    """One profile, ready to be asked about any target.

    Args:
        bundle: that answers.
        catalogue: of instances that it does not know; None for the shipped one with the user's own.
        asked: about the anchor's profile, at the size asked about.
        move: to that size; None where it is the profile's own.
    """

    bundle: Bundle
    catalogue: Catalogue | None
    asked: PairQuestion
    move: Move | None

    def answer(self, target: str) -> Told:
        """Answer for one target: as learnt, else from data sheets."""
        anchor, interval = self.asked.anchor, self.asked.interval
        if self.move is not None and target == anchor:
            return self.move.on_anchor(interval), []
        learnt = self.bundle.has(anchor, target)
        if learnt or target == anchor:
            prediction, cautions = self._learnt(anchor, target)
        else:
            asked, catalogue = replace(self.asked, target=target), self.catalogue or Catalogue.load()
            prediction, cautions = predict_from_sheets(self.bundle, catalogue, asked, self._learnt)
        if self.move is not None:
            own = self.bundle.predictor(anchor, target) if learnt else None
            prediction = self.move.over(prediction, own, interval)
        return prediction, cautions

    def _learnt(self, anchor: str, target: str) -> tuple[TargetPrediction, list[Caution]]:
        return predict_pair(self.bundle, replace(self.asked, anchor=anchor, target=target))
