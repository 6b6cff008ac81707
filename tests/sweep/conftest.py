"""Short captures, so that a sweep of real trainings takes seconds."""

import importlib.util

import pytest

SHORT = ("--warm-up", "1", "--timed", "3", "--profiled", "1", "--max-spread", "10", "--max-waited", "1")
"""A test cannot keep the machine quiet, so nothing is refused as noisy but where that is tested."""


@pytest.fixture(autouse=True)
def _torch() -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed: pip install 'profet-latency[torch]'")
