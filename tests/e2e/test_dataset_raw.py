"""``profet dataset import raw``: PROFET's captures with their latencies."""

import pickle
from pathlib import Path

import pytest

from tests.conftest import Run, document, refused

TABLE = "Host/device,Type,Total time (us)\nDevice,Conv2D,{busy}\nDevice,IDLE,100\nHost,IDLE,20000\n"


@pytest.fixture
def captures(tmp_path: Path) -> Path:
    """Two models on two instances, captured over two steps."""
    root = tmp_path / "captures"
    for instance, step_s in (("g3s.xlarge", 0.010), ("p2.xlarge", 0.020)):
        folder = root / "exp01" / instance
        folder.mkdir(parents=True)
        for model in ("LeNet5", "VGG16"):
            name = f"{instance}-{instance}-32dataset-{model}-SGD-16-20210101"
            (folder / f"{name}.csv").write_text(TABLE.format(busy=2e6 * step_s - 100), encoding="utf-8")
            (folder / f"{name}.pickle").write_bytes(pickle.dumps((model, 0, 1.5, [step_s, step_s * 3, step_s])))
    return root


def test_captures_become_runs_with_profiles(profet: Run, captures: Path, tmp_path: Path) -> None:
    output = tmp_path / "raw.dataset"
    facts = document(profet("dataset", "import", "raw", captures, "-o", output, "--json"))
    assert (facts["runs"], facts["profiles"], facts["experiments"]) == (4, 4, 1)
    assert [each["instance"] for each in facts["instances"]] == ["g3s.xlarge", "p2.xlarge"]
    assert facts["warnings"] == []
    assert document(profet("dataset", "check", output, "--json"))["ok"] is True


def test_steps_that_are_wrong_show_as_truncated_captures(profet: Run, captures: Path, tmp_path: Path) -> None:
    output = tmp_path / "raw.dataset"
    assert profet("dataset", "import", "raw", captures, "-o", output, "--steps", 4).returncode == 0
    told = profet("dataset", "check", output)
    assert told.returncode == 1
    assert "truncated capture: 4" in told.stdout


def test_capture_without_latency_is_left_out_and_said(profet: Run, captures: Path, tmp_path: Path) -> None:
    next(captures.glob("exp01/p2.xlarge/*LeNet5*.pickle")).unlink()
    told = profet("dataset", "import", "raw", captures, "-o", tmp_path / "raw.dataset")
    assert told.returncode == 0
    assert told.stderr.startswith("warning: 1 captures without a .pickle were left out")
    assert "3 runs" in told.stdout


@pytest.mark.parametrize(
    "content",
    [(0, 0, 1.5, []), (0, 0, 1.5, ["fast"]), (0, 0, 1.5, [-1.0]), 7],
    ids=str,
)
def test_pickle_that_holds_no_latencies_is_named(
    profet: Run, captures: Path, tmp_path: Path, content: object
) -> None:
    path = next(captures.glob("exp01/p2.xlarge/*VGG16*.pickle"))
    path.write_bytes(pickle.dumps(content))
    refused(profet("dataset", "import", "raw", captures, "-o", tmp_path / "raw.dataset"), str(path))
    assert not (tmp_path / "raw.dataset").exists()


def test_name_that_is_no_capture_is_named(profet: Run, captures: Path, tmp_path: Path) -> None:
    stranger = captures / "exp01" / "g3s.xlarge" / "notes.csv"
    stranger.write_text("Host/device\n", encoding="utf-8")
    refused(profet("dataset", "import", "raw", captures, "-o", tmp_path / "raw.dataset"), str(stranger))
