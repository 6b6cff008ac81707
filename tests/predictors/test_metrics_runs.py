"""What hardware metrics say of a run, and epochs predicted from them."""

import numpy as np
import pytest

from profet.errors import InputError
from profet.predictors.epochs.hardware_metrics import HardwareMetrics, LearntRatio
from profet.predictors.epochs.metrics_runs import FEATURES, Limits, MetricsRun, features
from profet.predictors.epochs.prediction import predict_epochs
from profet.predictors.epochs.ratios import EpochRatio
from profet.predictors.intervals import Calibration

METRICS = {
    "utilization_gpu_mean": 80.0,
    "utilization_memory_mean": 40.0,
    "power_drawW_mean": 35.0,
    "power_limitW": 70.0,
    "clocks_current_smMHz_mean": 1272.0,
    "clocks_max_smMHz": 1590.0,
}
RUN = MetricsRun(METRICS, batch_size=32, pixels=64, epoch_samples=5000, epoch_s=15.7)


def learnt(runs: int = 30) -> HardwareMetrics:
    """Epochs take three times as long there, twice where the GPU is idle."""
    random = np.random.default_rng(0)
    X = random.uniform(0.1, 1, (runs, len(FEATURES)))
    logs = np.log(2 + X[:, 1])
    ratios = {}
    for timed in (True, False):
        ratio = EpochRatio.fit(X if timed else X[:, 1:], logs)
        calibration = Calibration.fit(np.ones((runs, 1)), np.exp(logs), np.exp(logs + random.normal(0, 0.1, runs)))
        ratios["a.large", "b.large", timed] = LearntRatio(ratio, runs, 8.0, calibration, 100.0)
    return HardwareMetrics({"a.large": Limits(70.0, 1590.0)}, ratios, ("VGG19",))


def test_a_run_is_compared_by_shares_of_what_its_gpu_can_do() -> None:
    assert RUN.epoch_steps == 157
    named = dict(zip(FEATURES, features(RUN, Limits()), strict=True))
    assert named["log seconds per step"] == pytest.approx(np.log(0.1))
    assert named["GPU utilisation"] == 0.8
    assert named["power, of its limit"] == 0.5
    assert named["clock, of its highest"] == 0.8


def test_limits_come_from_the_instance_where_the_run_does_not_say() -> None:
    bare = MetricsRun({name: value for name, value in METRICS.items() if "imit" not in name and "max" not in name})
    known = features(bare, Limits.of([METRICS, {"power_limitW": None}]))
    assert known[3:5].tolist() == [0.5, 0.8]
    assert np.isnan(features(bare, Limits()))[3:5].all()


def test_a_share_in_a_wrong_unit_is_unknown_rather_than_believed() -> None:
    wrong = MetricsRun({**METRICS, "power_drawW_mean": 35_000.0, "utilization_gpu_mean": -5.0})
    assert np.isnan(features(wrong, Limits())[[1, 3]]).all()


def test_an_epoch_elsewhere_comes_with_its_interval_and_its_samples() -> None:
    answer = predict_epochs(RUN, learnt(), "a.large")
    (there,) = answer.predictions
    assert there.target == "b.large"
    assert there.epoch_s == pytest.approx(15.7 * there.ratio)
    assert there.sample_ms == pytest.approx(1000 * 15.7 * there.ratio / 5000)
    assert there.low_s is not None
    assert there.high_s is not None
    assert there.low_s < there.epoch_s < there.high_s
    assert (there.interval, there.mape, answer.warnings) == (0.9, 8.0, ())


def test_without_the_time_of_an_epoch_there_is_a_ratio_and_a_warning() -> None:
    answer = predict_epochs(MetricsRun(METRICS, 32, 64), learnt(), "a.large")
    (there,) = answer.predictions
    assert there.ratio > 0
    assert (there.epoch_s, there.low_s, there.sample_ms) == (None, None, None)
    assert any("--anchor-epoch" in warning for warning in answer.warnings)


def test_what_is_unknown_of_the_run_is_told_and_widens_the_interval() -> None:
    known = predict_epochs(RUN, learnt(), "a.large").predictions[0]
    fewer = MetricsRun({**METRICS, "utilization_memory_mean": None}, 32, 64, 5000, 15.7)
    answer = predict_epochs(fewer, learnt(), "a.large")
    there = answer.predictions[0]
    assert any("memory utilisation" in warning for warning in answer.warnings)
    assert there.ratio_high is not None
    assert known.ratio_high is not None
    assert there.ratio_high / there.ratio == pytest.approx((known.ratio_high / known.ratio) ** 2)


def test_a_run_unlike_all_others_is_told() -> None:
    found = learnt()
    near = {
        key: LearntRatio(each.ratio, each.runs, each.mape, each.calibration, 1e-6)
        for key, each in found.ratios.items()
    }
    answer = predict_epochs(RUN, HardwareMetrics(found.limits, near, ()), "a.large")
    assert any("unlike what was learnt from for b.large" in warning for warning in answer.warnings)


@pytest.mark.parametrize(
    ("anchor", "targets", "word"),
    [
        ("a.larg", (), "a.large"),
        ("a.large", ("a.large",), "is the anchor itself"),
        ("a.large", ("z.large",), "has no measured epochs"),
    ],
)
def test_an_instance_nobody_learnt_about_is_refused(anchor: str, targets: tuple[str, ...], word: str) -> None:
    with pytest.raises(InputError, match=word):
        predict_epochs(RUN, learnt(), anchor, targets)


def test_metrics_without_utilisation_and_chances_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="utilization_gpu_mean"):
        predict_epochs(MetricsRun({}, 32, 64, 5000, 15.7), learnt(), "a.large")
    with pytest.raises(InputError, match="between 0 and 1"):
        predict_epochs(RUN, learnt(), "a.large", interval=90)


def test_what_was_learnt_is_the_same_after_it_was_kept() -> None:
    found = learnt()
    again = HardwareMetrics.from_state(found.to_state())
    assert predict_epochs(RUN, again, "a.large") == predict_epochs(RUN, found, "a.large")
    damaged = found.to_state()
    damaged.arrays["0/mean"] = damaged.arrays["0/mean"][:-1]
    with pytest.raises(ValueError, match="mean"):
        HardwareMetrics.from_state(damaged)


def test_a_feature_that_no_run_has_says_nothing() -> None:
    random = np.random.default_rng(1)
    X = random.uniform(0, 1, (20, 3))
    X[:, 2] = np.nan
    logs = X[:, 0]
    ratio = EpochRatio.fit(X, logs)
    asked = np.array([[0.5, 0.5, np.nan], [0.5, 0.5, 7.0]])
    first, second = ratio.predict(asked)[0]
    assert first == second
    assert first == pytest.approx(0.5, abs=0.1)
