"""A bundle whose targets came to be known in different ways: each by its own method, and said so everywhere."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from profet.datasets.dataset import Dataset
from profet.errors import BundleError
from profet.evaluation.training import train
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.bundle_file import part_prefix
from profet.predictors.state import State
from tests.conftest import Run

TOLD = "from 3 workloads measured there"


@pytest.fixture(scope="module")
def mixed(small_dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our method for one target, the published one for the other."""
    folder = tmp_path_factory.mktemp("mixed")
    found = []
    for method in ("blend", "published"):
        train(small_dataset, method, ("a.large",), measured=False).save(folder / method)
        found.append(Bundle.load(folder / method).contents())
    (manifest, ours), (other, published) = found
    entry = next(replace(each, method="published") for each in other.pairs if each.target == "c.large")
    entries = [*(each for each in manifest.pairs if each.target != "c.large"), entry]
    entries[-1] = replace(entry, basis="onboarded", explanation=TOLD)
    arrays = {name: array for name, array in ours.items() if "c.large" not in name}
    arrays |= {name: array for name, array in published.items() if "c.large" in name}
    path = folder / "mixed.profet"
    path.write_bytes(pack(asdict(replace(manifest, pairs=entries)), arrays))
    return path


def test_each_pair_answers_by_its_own_method(mixed: Path, small_dataset: Dataset) -> None:
    rows = small_dataset.profile_arrays(small_dataset.pair("a.large", "c.large")[0])
    bundle = Bundle.load(mixed)
    for method, target in (("blend", "b.large"), ("published", "c.large")):
        alone = train(small_dataset, method, ("a.large",), measured=False).predictors["a.large", target]
        np.testing.assert_array_equal(bundle.predictor("a.large", target).predict(rows), alone.predict(rows))


def test_how_a_target_came_to_be_known_is_said_in_tables_and_json(
    mixed: Path, profet: Run, small_dataset: Dataset, tmp_path: Path
) -> None:
    profile = {"schema": "profet/profile/1", "device_us": {"Conv2D": 2000.0, "IDLE": 100.0}, "steps": 1}
    path = tmp_path / "p.json"
    path.write_text(json.dumps(profile))
    asked = ("predict", str(path), "--anchor", "a.large", "--anchor-latency", "3ms", "--bundle", str(mixed))
    told = json.loads(profet(*asked, "--json").stdout)["predictions"]
    assert {each["target"]: (each["basis"], each["explanation"]) for each in told} == {
        "b.large": ("learnt", ""),
        "c.large": ("onboarded", TOLD),
    }
    shown = profet(*asked, "--explain").stdout
    assert "c.large (onboarded)" in shown
    assert TOLD in shown


def test_a_method_of_another_version_is_refused_by_name(mixed: Path, tmp_path: Path) -> None:
    manifest, arrays = Bundle.load(mixed).contents()
    entries = [replace(each, method=each.method and "clairvoyance") for each in manifest.pairs]
    path = tmp_path / "newer.profet"
    path.write_bytes(pack(asdict(replace(manifest, pairs=entries)), arrays))
    with pytest.raises(BundleError, match="'clairvoyance'"):
        Bundle.load(path).predictor("a.large", "c.large")


def test_parts_come_back_as_they_were_saved(small_dataset: Dataset, tmp_path: Path) -> None:
    trained = train(small_dataset, "published", measured=False)
    part = State({"learnt": [1, 2]}, {"weights": np.arange(3.0)})
    replace(trained, parts={"sizes": part}).save(tmp_path / "parts.profet")
    bundle = Bundle.load(tmp_path / "parts.profet")
    found = bundle.part("sizes")
    assert found is not None
    assert found.settings == part.settings
    np.testing.assert_array_equal(found.arrays["weights"], part.arrays["weights"])
    assert part_prefix("sizes") + "weights" in bundle.contents()[1]
    assert bundle.part("other") is None
