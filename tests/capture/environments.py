"""Scripts that capture in environments of other frameworks, with what the plain install needs lent by this one."""

import importlib.util
import os
import subprocess
from pathlib import Path

from tests.conftest import REPOSITORY
from tests.profiles import recordings

LENT = ("msgspec", "rapidfuzz", "platformdirs", "psutil", "google.protobuf")
"""Packages that the environments of tests/environments do not have all of; they are made by this same Python."""


def run_in(name: str, script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder, in the environment of this name; Profet is importable there."""
    python = recordings.python_with(name)
    lent = folder / "lent"
    for package in LENT:
        spec = importlib.util.find_spec(package)
        assert spec is not None
        assert spec.submodule_search_locations
        place = lent.joinpath(*package.split("."))
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(spec.submodule_search_locations[0], target_is_directory=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "JAX_PLATFORMS": "cpu"}
    search = os.pathsep.join([str(REPOSITORY / "src"), str(lent)])
    return subprocess.run(
        [str(python), "-c", script],
        cwd=folder,
        env=kept | quiet | {"PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
