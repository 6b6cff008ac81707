"""``profet partition units``: what this machine has, what is missing, and how to get it."""

import os
import sys
from pathlib import Path

from profet.partition.cores import usable_cores
from tests.conftest import Run, document

SOME_CORES = sys.platform == "linux" and len(usable_cores()) > 1
"""Whether a process can be kept from a part of the cores."""


def test_units_are_listed_with_their_names_and_cores(profet: Run) -> None:
    last = usable_cores()[-1]
    pinned = {"preexec_fn": lambda: os.sched_setaffinity(0, {last})} if SOME_CORES else {}

    result = profet("partition", "units", **pinned)

    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "Units of this machine" in result.stdout
    row = next(line for line in result.stdout.splitlines() if "onnxruntime:cpu" in line)
    assert "│ cpu " in row
    assert "ready" in row
    assert not SOME_CORES or f"of which this process may use {last} alone" in result.stdout


def test_json_holds_units_missing_parts_and_the_machine(profet: Run) -> None:
    facts = document(profet("partition", "units", "--json"))

    units = {unit["unit"]: unit for unit in facts["units"]}
    assert units["onnxruntime:cpu"]["short_name"] == "cpu"
    assert units["onnxruntime:cpu"]["backend_version"]
    assert {"openvino:cpu", "torch:cpu"} <= set(units)
    assert all(set(each) == {"what", "why", "how"} for each in facts["missing"])
    assert facts["machine"]["all_cores"] >= len(facts["machine"]["usable_cores"]) >= 1


def test_runtime_that_breaks_at_its_start_is_listed_as_broken(profet: Run, tmp_path: Path) -> None:
    folder = tmp_path / "openvino"
    folder.mkdir()
    (folder / "__init__.py").write_text("raise ImportError('libtbb.so.12: cannot open shared object file')\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])

    facts = document(profet("partition", "units", "--json", env={**os.environ, "PYTHONPATH": paths}))

    broken = next(each for each in facts["missing"] if each["what"] == "openvino")
    assert "libtbb.so.12" in broken["why"]
    assert "pip install" in broken["how"]
    assert any(unit["unit"] == "onnxruntime:cpu" for unit in facts["units"])
    assert not any(unit["backend"] == "openvino" for unit in facts["units"])
