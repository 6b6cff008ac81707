"""A new target from a few measured workloads: what is learnt, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.predictors.blend import BlendPredictor
from profet.predictors.data_sheets.rates import Rates
from profet.predictors.onboarding.expectation import Sheets
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.predictors.onboarding.prior import FROM_SHEETS, UNKNOWN, Sums, covariance, variance
from profet.predictors.state import State
from tests.predictors.made_up_machines import SLOW, measured, on_slow_machine, workloads

KNOWN_RATIOS = {"third.large": 0.5, "other.large": 1.5}
FAST = workloads(1)
NAMES = [f"model {i} at 64 px, batch {i}" for i in range(len(FAST))]


@pytest.fixture(scope="module")
def known() -> dict[str, BlendPredictor]:
    """Two known targets: one uniformly faster than the anchor, one whose convolutions are slower."""
    even = measured(FAST * 0.5)
    uneven = measured(FAST * np.array([1 + 0.5 * (ratio == 3.0) for ratio in SLOW.values()]))
    anchor = measured(FAST)
    return {
        "other.large": BlendPredictor().fit(anchor, uneven, NAMES),
        "third.large": BlendPredictor().fit(anchor, even, NAMES),
    }


def onboarded(known: dict[str, BlendPredictor], k: int, profiled: bool) -> OnboardedPredictor:
    taught = FAST[:k]
    target = measured(on_slow_machine(taught))
    if not profiled:
        target.device_us[:] = np.nan
    return OnboardedPredictor(known).fit(measured(taught), target, NAMES[:k])


def error(predictor: OnboardedPredictor) -> float:
    asked = workloads(2, n=40)
    true_ms = on_slow_machine(asked).sum(axis=1) / 1000
    return float(np.abs(predictor.predict(measured(asked)) / true_ms - 1).mean())


@pytest.mark.parametrize(
    ("k", "profiled", "most"), [(1, False, 0.3), (5, False, 0.15), (5, True, 0.08), (40, True, 0.04)]
)
def test_few_workloads_teach_a_new_target(
    known: dict[str, BlendPredictor], k: int, profiled: bool, most: float
) -> None:
    assert error(onboarded(known, k, profiled)) < most


@pytest.mark.parametrize("factor", [0.1, 1.0, 20.0])
def test_one_ratio_is_enough_where_everything_changes_alike(
    known: dict[str, BlendPredictor], factor: float
) -> None:
    target = measured(FAST[:1] * factor, profiled=False)
    predictor = OnboardedPredictor(known).fit(measured(FAST[:1]), target, NAMES[:1])
    assert predictor.predict(measured(FAST[:1]))[0] == pytest.approx(FAST[0].sum() * factor / 1000, rel=0.03)


def test_doubt_shrinks_with_every_measurement_and_most_where_it_was_made(known: dict[str, BlendPredictor]) -> None:
    asked = measured(FAST[:10])
    before, after = (onboarded(known, k, profiled=False).answer(asked).doubts for k in (2, 6))
    assert before is not None
    assert after is not None
    assert (after[:, 3] <= before[:, 3] + 1e-9).all()
    assert after[:6, 3].mean() < 0.06 < before[2:6, 3].mean()


def test_families_of_an_answer_add_up_to_its_latency(known: dict[str, BlendPredictor]) -> None:
    answer = onboarded(known, 5, profiled=True).answer(measured(workloads(3, n=7)))
    assert answer.families is not None
    assert answer.families.target_ms.sum(axis=1) == pytest.approx(answer.latency_ms)


HALF_AS_FAST = Sheets(Rates(8.0, 300.0), Rates(4.0, 150.0), {"third.large": Rates(16.0, 600.0)})


def test_data_sheets_tell_what_a_small_workload_cannot(known: dict[str, BlendPredictor]) -> None:
    taught, asked = FAST[:1].copy(), workloads(2, n=40)
    taught[0, -1] = 20 * taught[0, :-1].sum()  # its step is the host's alone, and tells nothing of the device
    true_ms = (asked * ([2.0] * 6 + [1.0])).sum(axis=1) / 1000
    errors = []
    for sheets in (None, HALF_AS_FAST):
        there = measured(taught * ([2.0] * 6 + [1.0]), profiled=False)
        predictor = OnboardedPredictor(known, sheets).fit(measured(taught), there, NAMES[:1])
        errors.append(np.abs(predictor.predict(measured(asked)) / true_ms - 1).mean())
    assert errors[1] < 0.15
    assert errors[0] > 0.3


def test_measurements_win_over_wrong_data_sheets(known: dict[str, BlendPredictor]) -> None:
    wrong = Sheets(Rates(8.0, 300.0), Rates(80.0, 3000.0), {})
    target = measured(on_slow_machine(FAST[:40]))
    assert error(OnboardedPredictor(known, wrong).fit(measured(FAST[:40]), target, NAMES[:40])) < 0.06


def test_saved_and_loaded_it_answers_the_same(known: dict[str, BlendPredictor]) -> None:
    asked = measured(workloads(4, n=9))
    for sheets in (None, HALF_AS_FAST):
        predictor = OnboardedPredictor(known, sheets)
        predictor.fit(measured(FAST[:5]), measured(on_slow_machine(FAST[:5])), NAMES[:5])
        again = OnboardedPredictor.from_state(predictor.to_state())
        again.rest_on(known)
        assert np.array_equal(again.predict(asked), predictor.predict(asked))
        doubts, before = again.answer(asked).doubts, predictor.answer(asked).doubts
        assert doubts is not None
        assert np.array_equal(doubts, before)


@pytest.mark.parametrize("kept", [{}, {"anchor": [1.0, 2.0], "target": [1.0], "known": {}}, 7])
@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf"), "fast"])
def test_sheets_that_are_none_are_refused(known: dict[str, BlendPredictor], kept: object, rate: object) -> None:
    state = onboarded(known, 3, profiled=False).to_state()
    wrong = {"anchor": [1.0, 2.0], "target": [rate, 2.0], "known": {}}
    for sheets in (kept, wrong):
        with pytest.raises((KeyError, TypeError, ValueError)):
            OnboardedPredictor.from_state(State({**state.settings, "sheets": sheets}, state.arrays))


@pytest.mark.parametrize("name", ["learnt", "shares", "context", "known", "mean"])
@pytest.mark.parametrize("how", ["missing", "shape", "nan", "text"])
def test_arrays_that_are_not_its_own_are_refused(known: dict[str, BlendPredictor], name: str, how: str) -> None:
    state = onboarded(known, 3, profiled=False).to_state()
    right = state.arrays[name]
    wrong = {"shape": right[..., None, :], "nan": np.full_like(right, np.nan), "text": right.astype(str)}
    arrays = {key: value for key, value in state.arrays.items() if key != name}
    if how != "missing":
        arrays[name] = wrong[how]
    with pytest.raises((KeyError, ValueError)):
        OnboardedPredictor.from_state(State(state.settings, arrays))


def test_it_refuses_to_rest_on_others_than_it_learnt_with(known: dict[str, BlendPredictor]) -> None:
    predictor = OnboardedPredictor.from_state(onboarded(known, 3, profiled=False).to_state())
    with pytest.raises(ValueError, match="without the known ones"):
        predictor.rest_on({"third.large": known["third.large"]})
    with pytest.raises(ValueError, match="call fit first"):
        predictor.predict(measured(FAST[:1]))
    with pytest.raises(ValueError, match="at least one known"):
        OnboardedPredictor({}).fit(measured(FAST[:1]), measured(FAST[:1]), NAMES[:1])


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_what_is_expected_is_a_covariance(seed: int, n: int, targets: int) -> None:
    random = np.random.default_rng(seed)
    known = random.normal(size=(targets, n, 22))
    weights, mean = random.normal(size=(2, n, 22))
    sums = Sums(weights, random.normal(size=(n, 5)), known, mean, random.choice([UNKNOWN, FROM_SHEETS]))
    matrix = covariance(sums, sums)
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-8
    assert np.diag(matrix) == pytest.approx(variance(sums))


@given(st.integers(0, 2**32 - 1), st.floats(-4.0, 4.0))
@settings(max_examples=25, deadline=None)
def test_any_latency_gives_a_usable_answer(seed: int, log_factor: float) -> None:
    random = np.random.default_rng(seed)
    few = workloads(seed % 1000, n=8)
    names = NAMES[:8]
    rests_on = {"b": BlendPredictor().fit(measured(few), measured(few * 2, profiled=False), names)}
    latencies = measured(few * np.exp(log_factor + random.normal(0, 0.5, (8, 1))), profiled=False)
    answer = OnboardedPredictor(rests_on).fit(measured(few), latencies, names).answer(measured(workloads(5, n=5)))
    assert np.isfinite(answer.latency_ms).all()
    assert (answer.latency_ms > 0).all()
