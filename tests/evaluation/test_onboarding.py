"""Onboarding, rehearsed on known targets: nothing that is scored is seen; and what to measure next."""

from dataclasses import replace

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.onboarding.held_out import PART, HeldOut, held_out_of, held_out_part
from profet.evaluation.onboarding.measurements import known_workloads
from profet.evaluation.onboarding.next_workloads import Candidates, next_workloads
from profet.evaluation.onboarding.rehearsal import Rehearsal, Zoo
from profet.evaluation.parallel import silent
from profet.evaluation.training import train
from profet.predictors.blend import BlendPredictor
from profet.predictors.bundle import Bundle
from profet.predictors.state import State

MEASURED = ["VGG0 at 64 px, batch 32", "Odd3 at 128 px, batch 64", "ResNet1 at 32 px, batch 256"]


@pytest.fixture(scope="module")
def part(small_dataset: Dataset) -> State:
    """What training keeps of the small data set."""
    rows = {("a.large", target): small_dataset.pair("a.large", target) for target in ("b.large", "c.large")}
    return held_out_part(small_dataset, rows, silent)


@pytest.fixture(scope="module")
def rehearsal(small_dataset: Dataset, part: State) -> Rehearsal:
    known = {}
    for target in ("b.large", "c.large"):
        here, there = small_dataset.pair("a.large", target)
        sides = small_dataset.profile_arrays(here), small_dataset.profile_arrays(there)
        known[target] = BlendPredictor().fit(*sides, small_dataset.workload_names(here))
    first = known["b.large"]
    zoo = Zoo(tuple(first.workloads_), first.additive_.neighbourhood_.parts, {})
    made = Rehearsal.of(zoo, known, held_out_of(part, "a.large"), {})
    assert made is not None
    return made


def changed(rehearsal: Rehearsal, **arrays: np.ndarray) -> Rehearsal:
    held_out = {known: replace(each, **arrays) for known, each in rehearsal.held_out.items()}
    return replace(rehearsal, held_out=held_out)


def test_every_target_and_model_is_asked_about_once(rehearsal: Rehearsal) -> None:
    played = rehearsal.play(MEASURED, 3, profiled=False)
    assert set(played) == {True, False}
    assert all(len(each.true_ms) == 2 * 100 for each in played.values())
    assert played[True].error(latency_known=True).mape < 20
    assert played[True].calibration().rows == 200


def test_predictions_of_the_target_itself_are_never_used(rehearsal: Rehearsal) -> None:
    right = rehearsal.play(MEASURED, 3, profiled=False)[True]
    held_out = rehearsal.held_out[True]
    spoilt = held_out.ratios.copy()
    spoilt[0] += 1.0
    known = rehearsal.ratios + np.array([1.0, 0.0])[:, None, None]
    wrong = replace(changed(rehearsal, ratios=spoilt), ratios=known)
    again = wrong.play(MEASURED, 3, profiled=False)[True]
    n = len(held_out.workloads)
    assert np.array_equal(again.predicted_ms[:n], right.predicted_ms[:n])
    assert not np.array_equal(again.predicted_ms[n:], right.predicted_ms[n:])


def test_truth_of_the_model_asked_about_is_never_used(rehearsal: Rehearsal) -> None:
    right = rehearsal.play(MEASURED, 3, profiled=False)[True]
    held_out = rehearsal.held_out[True]
    of_vgg = held_out.models == "VGG0"
    again = changed(rehearsal, true_us=np.where(of_vgg, 3.0, 1.0) * held_out.true_us)
    played = again.play(MEASURED, 3, profiled=False)[True]
    asked = np.tile(np.sort(held_out.models) == "VGG0", 2)
    assert np.array_equal(played.predicted_ms[asked], right.predicted_ms[asked])
    assert played.true_ms[asked] == pytest.approx(3 * right.true_ms[asked])


def test_what_is_kept_is_of_models_that_were_not_seen(small_dataset: Dataset, part: State) -> None:
    kept = held_out_of(part, "a.large")[True]
    here, there = small_dataset.pair("a.large", "b.large")
    of_vgg = small_dataset.runs["model"].to_numpy(object)[here] == "VGG0"
    taught = [side[~of_vgg] for side in (here, there)]
    names = small_dataset.workload_names(taught[0])
    predictor = BlendPredictor().fit(*(small_dataset.profile_arrays(side) for side in taught), names)
    rows = kept.models == "VGG0"
    expected_us = predictor.split(kept.parts.take(rows)).sum(axis=1)
    assert expected_us == pytest.approx(kept.true_us[0][rows], rel=0.2)
    assert kept.ratios.shape == (2, 100, predictor.split(kept.parts).shape[1])


@pytest.mark.parametrize("name", ["ratios", "novelty", "true_us", "step_us"])
def test_damaged_arrays_are_refused(part: State, name: str) -> None:
    whole = {key: array for key, array in part.arrays.items() if not key.endswith(f"/{name}")}
    with pytest.raises(KeyError):
        held_out_of(State(part.settings, whole), "a.large")
    key = f"0/with_latency/{name}"
    with pytest.raises(ValueError, match=r"not numbers of shape|holds a value"):
        held_out_of(State(part.settings, {**part.arrays, key: np.full_like(part.arrays[key], np.nan)}), "a.large")


def test_training_keeps_them_and_an_anchor_without_is_empty(small_dataset: Dataset, tmp_path: object) -> None:
    path = f"{tmp_path}/b.profet"
    train(small_dataset, "blend").save(path)
    bundle = Bundle.load(path)
    assert isinstance(held_out_of(bundle.part(PART), "a.large")[True], HeldOut)
    assert held_out_of(bundle.part(PART), "b.large") == {}
    assert held_out_of(None, "a.large") == {}
    assert len(known_workloads(bundle, "a.large")[0]) == 100


def test_what_tells_most_is_measured_next_and_of_equals_the_shortest() -> None:
    alike = np.array([[1.0, 0.9, 0.9, 0.0], [0.9, 1.0, 0.9, 0.0], [0.9, 0.9, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    names = ["long", "short", "known", "apart"]

    def anchor() -> Candidates:
        return Candidates(list(names), np.array([9e3, 1e3, 5e2, 1e3]), alike.copy())

    found = next_workloads([anchor(), anchor()], ["known"])
    assert [each.workload for each in found] == ["short", "apart", "long"]
    assert found[0].step_ms == pytest.approx(1.0)
    assert found[0].spread > found[1].spread > found[2].spread
    assert next_workloads([anchor()], names) == []
