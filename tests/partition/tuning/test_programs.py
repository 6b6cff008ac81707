"""Compiling a network leaves what it was compiled from as it was, so that it can be tuned, or compiled again."""

from pathlib import Path

import pytest

from profet.partition.backends.registry import backend
from profet.partition.units import parse_unit
from tests.partition.backends.test_tvm import two_convolutions

pytestmark = [
    pytest.mark.skipif(backend("tvm").version() is None, reason="apache-tvm is not installed"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of TVM's own modules
]


def test_compiling_leaves_the_loop_nests_as_they_were(tmp_path: Path) -> None:
    from profet.partition.tuning.lowering import lower, target_of
    from profet.partition.tuning.programs import build
    from profet.partition.tuning.records import fingerprint

    target = target_of(parse_unit("tvm:llvm@0"))
    lowered = lower(two_convolutions(tmp_path / "two.onnx"), target, 2)
    before = fingerprint(lowered)

    build(lowered, target)

    assert fingerprint(lowered) == before
