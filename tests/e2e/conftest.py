"""What several whole-command tests stand on: profiles, bundles and data sets as files."""

from pathlib import Path

import pytest

from profet.datasets.dataset import Dataset
from profet.profiles.example import example_profile
from tests.conftest import Run, document, made_up_runs


@pytest.fixture(scope="session")
def vgg16(public_profet: Path) -> Path:
    """PROFET's own example: VGG16 at 224 px and batch 16 on g3s.xlarge, where a step took 322.6 ms."""
    return public_profet / "vgg16_224ds_16bs_test.json"


@pytest.fixture(scope="session")
def example_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped example as a file; it says that it is from g3s.xlarge, and its latency there."""
    path = tmp_path_factory.mktemp("example") / "profile.json"
    path.write_text(example_profile().to_json(), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def trained(profet: Run, small_dataset_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle that the command trained on the small data set, errors measured."""
    path = tmp_path_factory.mktemp("trained") / "small.profet"
    assert document(profet("train", small_dataset_path, "-o", path, "--json"))["output"] == str(path)
    return path


@pytest.fixture(scope="session")
def imported(profet: Run, public_profet: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The public PROFET data as a data set that the command imported."""
    path = tmp_path_factory.mktemp("imported") / "profet.dataset"
    result = profet("dataset", "import", "profet", public_profet, "-o", path)
    assert result.returncode == 0, result.stderr
    return path


@pytest.fixture
def empty_folder(tmp_path: Path) -> Path:
    """A folder of its own to run a command in, so that anything it leaves there is seen."""
    folder = tmp_path / "empty"
    folder.mkdir()
    return folder


def profiled_dataset(models: int = 4, repeats: int = 2) -> Dataset:
    """Made-up runs that all have whole profiles: nothing in them is wrong."""
    runs = made_up_runs(models, repeats).assign(steps=2)
    busy_us = runs["step_latency_ms"] * 1000 - 1000
    device = busy_us.to_frame("Conv2D").assign(Conv2D=0.7 * busy_us, MatMul=0.3 * busy_us, IDLE=1000.0)
    host = busy_us.to_frame("IDLE").assign(IDLE=900.0, Dataset=100.0)
    return Dataset(runs, host, device, ("made up in the tests",))
