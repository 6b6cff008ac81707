"""Raw captures that are refused: by name, by shape, and without running what a pickle names."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from profet.datasets.families import FamilyTable
from profet.datasets.raw_captures import import_raw
from profet.errors import InputError
from tests.datasets.raw_tree import CSV, Capture


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        import_raw(folder, FamilyTable.load())
    assert str(caught.value).startswith(str(folder))
    return str(caught.value)


def test_a_folder_without_captures_is_refused(tmp_path: Path) -> None:
    assert "no captures; expected experiment/INSTANCE/" in refusal(tmp_path)
    assert "no captures" in refusal(tmp_path / "absent")


def test_captures_without_any_latency_are_refused(capture: Capture, tmp_path: Path) -> None:
    capture(latencies=None)
    assert "no .pickle with latencies" in refusal(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["notes.csv", "a-b-128-AlexNet-SGD-16.csv", "a-b-xdataset-AlexNet-SGD-16.csv", "a-b-128dataset-A-SGD.pickle"],
)
def test_a_file_not_named_as_a_capture_is_refused(capture: Capture, tmp_path: Path, name: str) -> None:
    capture().with_name(name).write_text(CSV)
    assert f"{name}: not named as a capture" in refusal(tmp_path)


@pytest.mark.parametrize(
    "latencies",
    [
        None,
        3.0,
        "text",
        [],
        [0, 0, 12.0],
        [0, 0, 12.0, []],
        [0, 0, 12.0, 0.3],
        [0, 0, "x", [0.3]],
        [0, 0, 12.0, ["x"]],
        [0, 0, 12.0, [None]],
        {2: 12.0},
        {0: 1},
        [0, 0, 12.0, [10**400]],
        [0, 0, 10**400, [0.3]],
        [0, 0, 12.0, np.array([["a"]], dtype=object)],
        [0, 0, np.arange(2), [0.3]],
        np.arange(4),
        {1, 2, 3, 4},
    ],
)
def test_a_pickle_of_another_shape_is_refused(capture: Capture, tmp_path: Path, latencies: object) -> None:
    path = capture(content=pickle.dumps(latencies))
    assert refusal(tmp_path).startswith(f"{path}: expected a sequence with epoch seconds at [2]")


@pytest.mark.parametrize("step_s", [0.0, -0.3, float("nan"), float("inf"), 1e307])
def test_a_latency_that_no_step_can_have_is_refused(capture: Capture, tmp_path: Path, step_s: float) -> None:
    path = capture(latencies=[0, 0, 12.0, [step_s]])
    assert refusal(tmp_path).startswith(f"{path}: its median step is ")


def test_a_pickle_that_names_a_function_is_refused_and_runs_nothing(
    capture: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Evil:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("touch made",)

    monkeypatch.chdir(tmp_path)
    path = capture(latencies=[0, 0, 12.0, [Evil()]])
    assert refusal(tmp_path).startswith(f"{path}: names posix.system")
    assert not (tmp_path / "made").exists()


def test_a_broken_table_is_refused_by_name_and_row(capture: Capture, tmp_path: Path) -> None:
    path = capture(csv=CSV.replace("300", "fast"))
    assert refusal(tmp_path).startswith(f"{path.with_suffix('.csv')}: row 2, Total time (us) is 'fast'")


def test_times_too_large_to_add_up_are_refused_by_name(capture: Capture, tmp_path: Path) -> None:
    path = capture(csv=CSV.replace("300", "1.7e308").replace("100", "1.7e308"))
    assert refusal(tmp_path).startswith(f"{path.with_suffix('.csv')}: ")
