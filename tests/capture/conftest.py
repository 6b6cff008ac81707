"""What the tests of captures stand on: PyTorch on one core, and options that make a capture short."""

from collections.abc import Iterator
from typing import Any

import pytest

SHORT: dict[str, Any] = {"warm_up": 3, "timed": 8, "profiled": 3}
SHORT_STEPS = 3 + 8 + 1 + 3


@pytest.fixture(autouse=True)
def one_core() -> Iterator[None]:
    torch = pytest.importorskip("torch", reason="needs PyTorch: the extra 'torch'")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
