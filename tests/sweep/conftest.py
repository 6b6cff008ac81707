"""Short captures, so that a sweep of real trainings takes seconds."""

import importlib.util
from pathlib import Path

import pytest

SHORT = ("--warm-up", "1", "--timed", "3", "--profiled", "1", "--max-spread", "10", "--max-waited", "1")
"""A test cannot keep the machine quiet, so nothing is refused as noisy but where that is tested."""


def parts(output: Path) -> dict[str, int]:
    """What is done so far: file by name, with the moment at which it was written."""
    return {each.name: each.stat().st_mtime_ns for each in Path(f"{output}.parts").glob("exp*.json")}


@pytest.fixture(autouse=True)
def _torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: pip install 'profet-latency[torch]'")
