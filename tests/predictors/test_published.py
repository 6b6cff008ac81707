"""The published method: how members are combined, how it is kept, what it reaches on public data."""

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, validate
from profet.predictors.published import PublishedPredictor, combine
from profet.profiles.arrays import ProfileArrays


@pytest.fixture(scope="module")
def pair(small_dataset: Dataset) -> tuple[ProfileArrays, ProfileArrays]:
    anchor_rows, target_rows = small_dataset.pair("a.large", "b.large")
    return small_dataset.profile_arrays(anchor_rows), small_dataset.profile_arrays(target_rows)


@pytest.fixture(scope="module")
def fitted(pair: tuple[ProfileArrays, ProfileArrays]) -> PublishedPredictor:
    return PublishedPredictor(n_trees=10).fit(*pair)


def test_three_answers_give_their_median_and_two_their_mean() -> None:
    nan = float("nan")
    members = {"linear": np.array([9.0, nan]), "forest": np.array([1.0, 1.0]), "network": np.array([4.0, 4.0])}
    assert combine(members).tolist() == [4.0, 2.5]


def test_the_line_needs_the_latency_and_forest_and_network_do_not_use_it(
    fitted: PublishedPredictor, pair: tuple[ProfileArrays, ProfileArrays]
) -> None:
    anchor, target = pair
    known = fitted.predict_members(anchor)
    anchor_unknown = ProfileArrays(
        anchor.host_ops, anchor.device_ops, anchor.host_us, anchor.device_us, np.full(len(anchor), np.nan)
    )
    unknown = fitted.predict_members(anchor_unknown)
    assert np.isnan(unknown["linear"]).all()
    assert np.array_equal(known["forest"], unknown["forest"])
    assert np.array_equal(known["network"], unknown["network"])
    assert known["linear"] == pytest.approx(target.step_latency_ms, rel=0.02)


def test_a_predictor_comes_back_from_its_state_the_same(
    fitted: PublishedPredictor, pair: tuple[ProfileArrays, ProfileArrays]
) -> None:
    again = PublishedPredictor.from_state(fitted.to_state())
    assert np.array_equal(again.predict(pair[0]), fitted.predict(pair[0]))
    assert again.get_params() == {"n_trees": 10, "seed": 0}


def test_an_unfitted_predictor_says_so(pair: tuple[ProfileArrays, ProfileArrays]) -> None:
    with pytest.raises(ValueError, match="call fit first"):
        PublishedPredictor().predict(pair[0])


def test_it_reaches_the_published_accuracy_on_a_model_left_out(public_dataset: Dataset) -> None:
    """All nine pairs give 4.3 % on VGG16 and 6.6 % on ResNet18 (docs/explanation/accuracy.md)."""
    for model, most in (("VGG16", 8.0), ("ResNet18", 11.0)):
        question = Question(
            "published", anchors=("g3s.xlarge",), targets=("g4dn.xlarge",), leave_out_models=(model,)
        )
        validation = validate(public_dataset, question)
        assert set(validation.models) == {model}
        assert validation.overall.mape < most
        assert (
            validation.overall.rows
            == public_dataset.runs[
                (public_dataset.runs["model"] == model) & (public_dataset.runs["instance"] == "g3s.xlarge")
            ].shape[0]
        )
