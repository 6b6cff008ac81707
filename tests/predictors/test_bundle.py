"""Bundles: kept whole, checked whole, and refused with a sentence."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profet.datasets.dataset import Dataset
from profet.errors import BundleError, InputError
from profet.evaluation.training import train
from profet.predictors.archive import Archive, pack
from profet.predictors.bundle import Bundle
from profet.predictors.manifest import LEARNT

SMALL = pack({"schema": "profet/bundle/1"}, {"a": np.arange(5.0)})


@pytest.fixture(scope="module")
def trained(small_dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bundle") / "small.profet"
    train(small_dataset, "published", measured=False).save(path)
    return path


def test_a_bundle_answers_as_the_predictors_that_were_trained(trained: Path, small_dataset: Dataset) -> None:
    bundle = Bundle.load(trained)
    rows = small_dataset.profile_arrays(small_dataset.pair("a.large", "c.large")[0])
    again = train(small_dataset, "published", measured=False)
    assert np.array_equal(
        bundle.predictor("a.large", "c.large").predict(rows), again.predictors["a.large", "c.large"].predict(rows)
    )


def test_training_twice_gives_the_same_bytes(trained: Path, small_dataset: Dataset, tmp_path: Path) -> None:
    train(small_dataset, "published", measured=False).save(tmp_path / "again.profet")
    assert (tmp_path / "again.profet").read_bytes() == trained.read_bytes()


def test_a_bundle_tells_what_it_was_trained_on(trained: Path, small_dataset: Dataset) -> None:
    bundle = Bundle.load(trained)
    assert bundle.provenance.dataset == small_dataset.fingerprint
    assert bundle.provenance.models == ["Inception2", "Odd3", "ResNet1", "VGG0"]
    assert bundle.provenance.workloads == 100
    assert [(pair.anchor, pair.target, pair.errors) for pair in bundle.pairs] == [
        ("a.large", "b.large", ()),
        ("a.large", "c.large", ()),
    ]


def test_unknown_instances_are_refused_with_the_nearest_names(trained: Path) -> None:
    bundle = Bundle.load(trained)
    with pytest.raises(InputError, match=r"anchor 'a.larg' .*nearest: a.large"):
        bundle.predictor("a.larg", "b.large")
    with pytest.raises(InputError, match=r"target 'b.larg' .*nearest: b.large"):
        bundle.predictor("a.large", "b.larg")
    with pytest.raises(InputError, match="is the anchor itself"):
        bundle.predictor("a.large", "a.large")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SMALL) - 1), st.integers(0, 7))
def test_a_single_changed_bit_is_found(place: int, bit: int) -> None:
    damaged = bytearray(SMALL)
    damaged[place] ^= 1 << bit
    with pytest.raises(BundleError):
        Archive(bytes(damaged), "damaged")


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(SMALL) - 1))
def test_a_truncated_file_is_found(length: int) -> None:
    with pytest.raises(BundleError):
        Archive(SMALL[:length], "truncated")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({"schema": "profet/bundle/2"}, "another version"),
        ({"schema": "something"}, "not a bundle"),
        ({"schema": "profet/bundle/1"}, "manifest does not fit"),
        ([], "no manifest"),
    ],
)
def test_another_manifest_is_refused(manifest: object, words: str, tmp_path: Path) -> None:
    path = tmp_path / "other.profet"
    path.write_bytes(pack(manifest, {}))  # type: ignore[arg-type]
    with pytest.raises(BundleError, match=words):
        Bundle.load(path)


def test_arrays_that_hold_objects_are_refused() -> None:
    hostile = np.array([{"a": 1}], dtype=object)
    with pytest.raises(ValueError, match="Object arrays"):
        pack({}, {"a": hostile})


def test_the_shipped_bundle_holds_our_method_for_every_pair_at_hand_with_its_errors() -> None:
    bundle = Bundle.load()
    assert bundle.method == "blend"
    assert bundle.anchors == ["g3s.xlarge", "g4dn.xlarge", "p3.2xlarge"]
    assert bundle.targets("g3s.xlarge") == ["g4dn.xlarge", "g5.xlarge", "p2.xlarge", "p3.2xlarge"]
    for pair in bundle.pairs:
        by_model, by_family = (pair.error(left_out, latency_known=True) for left_out in ("model", "family"))
        assert by_model is not None
        if pair.basis == LEARNT:
            assert by_family is not None
            assert 2 < by_model.mape < by_family.mape < 15
        else:
            assert (pair.target, pair.basis) == ("g5.xlarge", "converted")
            assert 8 < by_model.mape < 12
            assert "epoch times" in pair.explanation
        assert bundle.calibration(pair.anchor, pair.target, latency_known=False) is not None
    assert Path(bundle.where).stat().st_size < 5e6
