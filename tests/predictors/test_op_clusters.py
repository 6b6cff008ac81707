"""Operations are grouped by name, found by name, and none is dropped."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.predictors.op_clusters import OpClusters, Unseen, cluster_names
from profet.profiles.arrays import ProfileArrays
from profet.profiles.profile import Profile


def arrays(*devices: dict[str, float], host: dict[str, float] | None = None) -> ProfileArrays:
    return ProfileArrays.from_profiles([Profile(device_us=d, host_us=host or {"IDLE": 1.0}) for d in devices])


def test_similar_names_share_a_feature_and_unlike_names_do_not() -> None:
    clusters = cluster_names(["Conv2DBackpropFilter", "Conv2DBackpropInput", "MaxPool", "AvgPool", "_FusedConv2D"])
    assert sorted(map(sorted, clusters)) == [
        ["AvgPool", "MaxPool"],
        ["Conv2DBackpropFilter", "Conv2DBackpropInput"],
        ["_FusedConv2D"],
    ]


def test_public_names_fall_into_the_published_clusters(public_dataset: Dataset) -> None:
    rows = np.flatnonzero((public_dataset.runs["instance"] == "g3s.xlarge").to_numpy() & public_dataset.has_profile)
    fitted = OpClusters.fit(public_dataset.profile_arrays(rows))
    groups = {frozenset(names) for names in fitted.clusters}
    assert frozenset({"ArgMax", "MaxPool", "MatMul", "AvgPool"}) in groups
    assert frozenset({"ConcatV2", "Conv2D"}) in groups
    assert frozenset({"FusedBatchNormV3", "FusedBatchNormGradV3"}) in groups
    assert sum(len(group) for group in groups) == len({name for group in groups for name in group})


def test_features_are_two_step_totals_of_host_operations_and_clusters() -> None:
    profiles = arrays({"MaxPool": 3.0, "AvgPool": 4.0, "IDLE": 1.0}, host={"Dataset": 5.0})
    features = OpClusters(("Dataset",), (("AvgPool", "MaxPool"), ("IDLE",))).transform(profiles)
    assert features.tolist() == [[10.0, 14.0, 2.0]]


def test_an_unseen_operation_counts_where_its_nearest_relative_does() -> None:
    fitted = OpClusters((), (("MaxPool",), ("SoftmaxCrossEntropyWithLogits",)))
    profiles = arrays({"MaxPool3D": 7.0, "MaxPool": 1.0})
    assert fitted.transform(profiles).tolist() == [[16.0, 0.0]]
    assert fitted.unseen(profiles) == [Unseen("device", {"MaxPool3D": "MaxPool"}, 7 / 8)]


def test_unseen_host_operations_are_told_too() -> None:
    fitted = OpClusters(("Dataset", "IDLE"), (("MaxPool",),))
    profiles = arrays({"MaxPool": 1.0}, host={"MapDataset": 3.0, "IDLE": 9.0})
    assert fitted.unseen(profiles) == [Unseen("host", {"MapDataset": "Dataset"}, 0.25)]
    assert fitted.transform(profiles).tolist() == [[6.0, 18.0, 2.0]]


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.text("abcXYZ_", min_size=1, max_size=12), st.floats(0, 1e6), min_size=2, max_size=12),
    st.randoms(use_true_random=False),
)
def test_features_do_not_depend_on_the_order_of_columns(times: dict[str, float], random: "st.randoms") -> None:  # type: ignore[valid-type]
    profiles = arrays({"first": 1.0, **times})
    fitted = OpClusters.fit(profiles)
    order = list(range(len(profiles.device_ops)))
    random.shuffle(order)
    shuffled = ProfileArrays(
        profiles.host_ops,
        tuple(profiles.device_ops[i] for i in order),
        profiles.host_us,
        profiles.device_us[:, order],
        profiles.step_latency_ms,
    )
    assert fitted.transform(shuffled) == pytest.approx(fitted.transform(profiles))


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=12), st.floats(0, 1e6), min_size=1, max_size=12))
def test_no_time_is_dropped(times: dict[str, float]) -> None:
    fitted = OpClusters((), (("Conv2D",), ("MatMul", "MaxPool")))
    assert fitted.transform(arrays({"Conv2D": 1.0, **times})).sum() == pytest.approx(
        2 * sum({"Conv2D": 1.0, **times}.values())
    )
