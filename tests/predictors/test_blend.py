"""Our method: it finds how machines differ, says where the time goes, and is the same after it was kept."""

from dataclasses import replace

import numpy as np
import pytest

from profet.predictors.additive import AdditiveRatios
from profet.predictors.blend import BlendPredictor
from profet.predictors.state import State
from profet.predictors.translation import FamilyTranslation
from profet.profiles.arrays import ProfileArrays
from tests.predictors.made_up_machines import OPERATIONS, measured, on_slow_machine, workloads

NAMES = [f"model {i % 8} at 64 px, batch {i}" for i in range(80)]


def fitted(profiled: bool = True) -> BlendPredictor:
    fast = workloads(1)
    return BlendPredictor().fit(measured(fast), measured(on_slow_machine(fast), profiled), NAMES)


@pytest.fixture(scope="module")
def predictor() -> BlendPredictor:
    return fitted()


def errors(predictor: BlendPredictor, asked: np.ndarray) -> np.ndarray:
    truth = on_slow_machine(asked).sum(axis=1) / 1000
    relative: np.ndarray = np.abs(predictor.predict(measured(asked)) / truth - 1)
    return relative


@pytest.mark.parametrize("profiled", [True, False])
def test_workloads_never_seen_are_predicted_from_what_machines_do(profiled: bool) -> None:
    assert errors(fitted(profiled), workloads(2)).mean() < 0.03


def test_a_workload_of_copies_alone_stays_as_it_is_and_arithmetic_does_not(predictor: BlendPredictor) -> None:
    copies, arithmetic = (np.full((1, len(OPERATIONS)), 200.0) for _ in range(2))
    copies[0, OPERATIONS.index("_Send")] = arithmetic[0, OPERATIONS.index("Conv2D")] = 50_000
    assert errors(predictor, copies)[0] < 0.25
    assert errors(predictor, arithmetic)[0] < 0.25


def test_the_answer_says_where_the_time_goes_on_both_sides(predictor: BlendPredictor) -> None:
    asked = workloads(3, n=5)
    answer = predictor.answer(measured(asked))
    families = answer.families
    assert families is not None
    assert families.anchor_ms.sum(axis=1) == pytest.approx(asked.sum(axis=1) / 1000)
    assert families.target_ms.sum(axis=1) == pytest.approx(answer.latency_ms)
    place, column = families.names.index("norm_forward"), OPERATIONS.index("FusedBatchNormV3")
    assert families.anchor_ms[:, place] == pytest.approx(asked[:, column] / 1000)
    assert families.target_ms[:, place] == pytest.approx(asked[:, column] / 1000 * 1.5, rel=0.25)


def test_the_blend_lies_between_its_members(predictor: BlendPredictor) -> None:
    answer = predictor.answer(measured(workloads(4)))
    members = np.stack(list(answer.members.values()))
    assert set(answer.members) == {"additive", "translation"}
    assert (answer.latency_ms >= members.min(axis=0) * (1 - 1e-9)).all()
    assert (answer.latency_ms <= members.max(axis=0) * (1 + 1e-9)).all()


def test_a_target_without_profiles_is_answered_by_the_member_that_needs_none() -> None:
    assert set(fitted(profiled=False).answer(measured(workloads(4))).members) == {"additive"}


def test_without_a_latency_busy_and_idle_time_take_its_place(predictor: BlendPredictor) -> None:
    asked = measured(workloads(5))
    unknown = replace(asked, step_latency_ms=np.full(len(asked), np.nan))
    assert predictor.predict(unknown) == pytest.approx(predictor.predict(asked), rel=0.05)


@pytest.mark.parametrize("profiled", [True, False])
def test_a_predictor_answers_the_same_after_it_was_kept(profiled: bool) -> None:
    before = fitted(profiled)
    state = before.to_state()
    after = BlendPredictor.from_state(
        State(state.settings, {name: value.copy() for name, value in state.arrays.items()})
    )
    asked = measured(workloads(6))
    assert np.array_equal(before.predict(asked), after.predict(asked))
    assert np.array_equal(before.answer(asked).doubts, after.answer(asked).doubts)
    assert before.answer(asked).nearest_workloads == after.answer(asked).nearest_workloads


def test_a_training_workload_is_its_own_nearest_and_new_work_is_far(predictor: BlendPredictor) -> None:
    known = measured(workloads(1)[:1])
    assert predictor.answer(known).nearest_workloads[0] == NAMES[0]
    strange = np.zeros((1, len(OPERATIONS)))
    strange[0, OPERATIONS.index("ReluGrad")] = 40_000
    near, far = (predictor.answer(rows).doubts for rows in (known, measured(strange)))
    assert near is not None
    assert far is not None
    assert near[0, 1] < 1e-3
    assert far[0, 1] > 0.3


def test_target_profiles_of_some_workloads_teach_what_they_can() -> None:
    fast = workloads(1)
    target = measured(on_slow_machine(fast))
    target.device_us[::3] = np.nan
    some = BlendPredictor().fit(measured(fast), target, NAMES)
    assert set(some.answer(measured(fast)).members) == {"additive", "translation"}
    assert errors(some, workloads(2)).mean() < 0.03
    state = some.to_state()
    asked = measured(workloads(6))
    assert np.array_equal(BlendPredictor.from_state(state).predict(asked), some.predict(asked))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_handful_of_workloads_is_enough_to_answer_for_themselves(count: int) -> None:
    fast = workloads(1, n=count)
    few = BlendPredictor().fit(measured(fast), measured(on_slow_machine(fast)), NAMES[:count])
    assert errors(few, fast).max() < 0.2


def test_a_target_that_was_only_idle_is_learnt_from_without_a_stumble() -> None:
    fast = workloads(1)
    slow = on_slow_machine(fast)
    slow[3, :-1] = 0.0
    assert errors(BlendPredictor().fit(measured(fast), measured(slow), NAMES), workloads(2)).mean() < 0.1


@pytest.mark.parametrize(
    "name", ["anchor/step_us", "additive/ratios", "translation/gap_terms", "translation/family/length"]
)
@pytest.mark.parametrize("how", ["missing", "shape", "nan", "text", "complex", "negative"])
def test_arrays_that_are_not_those_of_a_predictor_are_refused(name: str, how: str) -> None:
    state = fitted().to_state()
    right = state.arrays[name]
    wrong = {
        "shape": right[..., None],
        "nan": np.full_like(right, np.nan),
        "text": right.astype(str),
        "complex": right.astype(complex),
        "negative": right - 1e9,
    }
    arrays = {key: value for key, value in state.arrays.items() if key != name}
    if how != "missing":
        arrays[name] = wrong[how]
    with pytest.raises((KeyError, ValueError)):
        BlendPredictor.from_state(State(state.settings, arrays))


@pytest.mark.parametrize(
    "settings",
    [
        {"op_families": "another table"},
        {"step_estimate": {"idle_share": "x", "cut_factor": 1}},
        {"step_estimate": {"idle_share": float("nan"), "cut_factor": 1}},
        {"workloads": ["one"]},
        {"params": {"translation_weight": 7}},
        {"vocabulary": {"operations": [1], "frameworks": [], "precisions": []}},
    ],
)
def test_settings_that_are_not_those_of_a_predictor_are_refused(settings: dict[str, object]) -> None:
    state = fitted().to_state()
    with pytest.raises((KeyError, TypeError, ValueError)):
        BlendPredictor.from_state(State({**state.settings, **settings}, state.arrays))


def test_repeats_of_a_workload_count_as_their_median() -> None:
    fast = workloads(1)
    noisy = np.vstack([fast, fast * 1.0, fast * 3.0])
    names = NAMES * 3
    repeated = BlendPredictor().fit(measured(noisy), measured(on_slow_machine(noisy)), names)
    asked = measured(workloads(2))
    assert repeated.predict(asked) == pytest.approx(fitted().predict(asked), rel=1e-6)


def test_an_operation_that_no_training_run_has_still_counts(predictor: BlendPredictor) -> None:
    asked = workloads(7, n=1)
    plain = measured(asked)
    more = ProfileArrays(
        (), (*OPERATIONS, "Zzz9"), plain.host_us, np.column_stack([asked, [50_000.0]]), plain.step_latency_ms + 50
    )
    assert predictor.predict(more)[0] > predictor.predict(plain)[0] + 40


@pytest.mark.parametrize("member", [BlendPredictor, AdditiveRatios, FamilyTranslation])
def test_members_tell_and_take_their_settings(member: type) -> None:
    params = member().get_params()
    assert params
    assert member(**params).get_params() == params


def test_answering_before_learning_is_refused() -> None:
    with pytest.raises(ValueError, match="call fit first"):
        BlendPredictor().predict(measured(workloads(1)))


def test_the_ratios_of_the_machines_are_found() -> None:
    ratios = {"conv_forward": 3.0, "norm_forward": 1.5, "copy": 1.0}
    answer = fitted().answer(measured(workloads(8)))
    assert answer.families is not None
    for family, ratio in ratios.items():
        place = answer.families.names.index(family)
        found = answer.families.target_ms[:, place].sum() / answer.families.anchor_ms[:, place].sum()
        assert found == pytest.approx(ratio, rel=0.1)
