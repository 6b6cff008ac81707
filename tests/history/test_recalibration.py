"""Recalibration: intervals that did not hold in what was recorded hold again, in the bundle that is written."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.errors import InputError
from profet.history.measurement import Measurement, TrainedOn
from profet.history.recalibration import conformal_score, fewest_records, recalibrate
from profet.predictors.bundle import Bundle
from profet.predictors.card import Prediction
from profet.predictors.prediction import predict
from profet.predictors.rescaling import save_rescaled
from profet.profiles.example import example_profile
from tests.history.made_up import measured

ANCHOR, TARGET = "g3s.xlarge", "g4dn.xlarge"


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


@pytest.fixture(scope="module")
def prediction(bundle: Bundle) -> Prediction:
    return predict(example_profile(), bundle)


def records(
    bundle: Bundle, prediction: Prediction, count: int, scale: float, seed: int = 0, target: str = TARGET
) -> list[Measurement]:
    """Records whose errors are so many times those that the bundle expects."""
    trained = TrainedOn(bundle.provenance.dataset, bundle.provenance.created_with)
    (answer,) = (each for each in prediction.predictions if each.target == target)
    size = answer.card.expected_log_error
    assert size is not None
    errors = np.random.default_rng(seed).laplace(scale=scale * size, size=count)
    bare = (measured(answer.latency_ms * np.exp(error), anchor=ANCHOR, target=target) for error in errors)
    return [each.beside(prediction, trained) for each in bare]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(9, 80), st.floats(0.01, 30), st.sampled_from(["normal", "laplace", "uniform", "standard_cauchy"])
)
def test_coverage_comes_back_to_the_level_whatever_the_errors_are(count: int, scale: float, kind: str) -> None:
    random = np.random.default_rng(count)
    seen, new = (scale * np.abs(getattr(random, kind)(size=(400, size))) for size in (count, 50))
    held = [np.mean(new[row] <= conformal_score(list(seen[row]), 0.9)) for row in range(400)]
    assert 0.9 - 0.02 <= np.mean(held) <= 0.9 + 1 / (count + 1) + 0.02


@pytest.mark.parametrize("scale", [0.2, 4.0])
def test_bundle_that_is_written_covers_what_comes_next(
    bundle: Bundle, prediction: Prediction, tmp_path: Path, scale: float
) -> None:
    fitted = recalibrate(records(bundle, prediction, 400, scale), bundle, 0.9)
    save_rescaled(bundle, tmp_path / "new.profet", fitted.factors)
    again = Bundle.load(tmp_path / "new.profet")
    told = predict(example_profile(), again)
    later = [each.beside(told) for each in records(bundle, prediction, 2000, scale, seed=1)]
    assert np.mean([each.inside for each in later]) == pytest.approx(0.9, abs=0.03)
    before = [each.inside for each in records(bundle, prediction, 2000, scale, seed=1)]
    assert abs(np.mean(before) - 0.9) > 0.08


def test_only_what_was_recorded_enough_changes(bundle: Bundle, prediction: Prediction, tmp_path: Path) -> None:
    few = records(bundle, prediction, 8, 3.0, target="p2.xlarge")
    fitted = recalibrate([*records(bundle, prediction, 9, 3.0), *few], bundle, 0.9)
    assert [(each.target, each.records, each.latency_known) for each in fitted.factors] == [(TARGET, 9, True)]
    assert any("p2.xlarge" in text and "8 records, and 0.9 needs 9" in text for text in fitted.warnings)
    save_rescaled(bundle, tmp_path / "new.profet", fitted.factors)
    again = Bundle.load(tmp_path / "new.profet")
    for pair in bundle.pairs:
        for known in (True, False):
            old, new = (each.calibration(pair.anchor, pair.target, known) for each in (bundle, again))
            assert old is not None
            assert new is not None
            changed = (pair.anchor, pair.target, known) == (ANCHOR, TARGET, True)
            factor = fitted.factors[0].factor if changed else 1.0
            assert new.quantiles == pytest.approx(old.quantiles * factor)
            assert np.array_equal(new.weights, old.weights)


def test_joint_errors_are_scaled_as_the_intervals_are(
    bundle: Bundle, prediction: Prediction, tmp_path: Path
) -> None:
    fitted = recalibrate(records(bundle, prediction, 50, 3.0), bundle, 0.9)
    save_rescaled(bundle, tmp_path / "new.profet", fitted.factors)
    old, new = bundle.joint_errors(ANCHOR, True), Bundle.load(tmp_path / "new.profet").joint_errors(ANCHOR, True)
    assert old is not None
    assert new is not None
    for column, target in enumerate(old.targets):
        factor = fitted.factors[0].factor if target == TARGET else 1.0
        assert new.scores[:, column] == pytest.approx(old.scores[:, column] * factor, rel=1e-5)


def test_recalibrating_twice_is_recalibrating_once(bundle: Bundle, prediction: Prediction, tmp_path: Path) -> None:
    seen = records(bundle, prediction, 50, 3.0)
    once, twice = tmp_path / "once.profet", tmp_path / "twice.profet"
    save_rescaled(bundle, once, recalibrate(seen, bundle, 0.9).factors)
    save_rescaled(Bundle.load(once), twice, recalibrate(seen, Bundle.load(once), 0.9).factors)
    known = Bundle.load(once).provenance.recalibrated
    assert [each.records for each in known] == [50]
    assert Bundle.load(twice).provenance.recalibrated[0].factor == pytest.approx(known[0].factor)


def test_records_of_another_bundle_do_not_count(bundle: Bundle, prediction: Prediction) -> None:
    others = [replace(each, bundle_dataset="another") for each in records(bundle, prediction, 20, 3.0)]
    with pytest.raises(InputError, match="the most is 0"):
        recalibrate(others, bundle, 0.9)
    both = recalibrate([*others, *records(bundle, prediction, 20, 3.0)], bundle, 0.9)
    assert both.factors[0].records == 20
    assert any(text.startswith("20 records were predicted by another bundle") for text in both.warnings)


@pytest.mark.parametrize(("level", "needed"), [(0.9, 9), (0.5, 1), (0.8, 4), (0.95, 19), (0.99, 99)])
def test_level_needs_as_many_records_as_its_rank(level: float, needed: int) -> None:
    assert fewest_records(level) == needed
    assert conformal_score([float(score) for score in range(needed)], level) == needed - 1
    with pytest.raises(ValueError, match="needs"):
        conformal_score([1.0] * (needed - 1), level)


def test_intervals_at_other_sizes_widen_with_the_pairs_own_and_never_narrow(
    bundle: Bundle, prediction: Prediction, tmp_path: Path
) -> None:
    def width(path: Path | None, target: str) -> float:
        told = predict(example_profile(), Bundle.load(path), targets=[target], batch_size=64).predictions[0]
        assert told.low_ms is not None
        return float(np.log(told.latency_ms / told.low_ms))

    wider, narrower, back = (tmp_path / f"{name}.profet" for name in ("wider", "narrower", "back"))
    (factor,) = recalibrate(records(bundle, prediction, 50, 3.0), bundle, 0.9).factors
    assert factor.factor > 1.2
    save_rescaled(bundle, wider, [factor])
    assert width(wider, TARGET) == pytest.approx(width(None, TARGET) * factor.factor)
    assert width(wider, "p3.2xlarge") == pytest.approx(width(None, "p3.2xlarge"))
    assert width(wider, ANCHOR) == pytest.approx(width(None, ANCHOR))
    save_rescaled(bundle, narrower, [replace(factor, factor=0.5)])
    assert width(narrower, TARGET) == pytest.approx(width(None, TARGET))
    save_rescaled(Bundle.load(wider), back, [replace(factor, factor=0.5 / factor.factor)])
    assert width(back, TARGET) == pytest.approx(width(None, TARGET))
