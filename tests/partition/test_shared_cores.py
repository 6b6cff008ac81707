"""Units that compute on the same cores are warned of before anything is measured or run."""

import pytest

from profet.partition.cores import usable_cores
from profet.partition.shared_cores import shared_cores_warnings
from profet.partition.units import format_cores, parse_unit


def warnings(text: str) -> list[str]:
    return shared_cores_warnings([parse_unit(name) for name in text.split(",")])


@pytest.mark.parametrize(
    "text",
    [
        "onnxruntime:cpu@0,openvino:cpu@1",
        "onnxruntime:cpu@0-1,tvm:llvm@2-3",
        "onnxruntime:cpu,openvino:GPU.0",
        "onnxruntime:cpu,simulated:a,simulated:cpu",
        "onnxruntime:cpu",
        "onnxruntime:cpu@0,ray://b:onnxruntime:cpu@0,ray://c:onnxruntime:cpu@0",
    ],
)
def test_units_with_cores_of_their_own_are_fine(text: str) -> None:
    assert warnings(text) == []


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("onnxruntime:cpu@0-1,openvino:cpu@1-2", "1"),
        ("torch:cpu@3,openvino:GPU.0,tvm:llvm@2-3", "3"),
        ("ray://b:torch:cpu@0,ray://b:openvino:cpu@0", "0"),
    ],
)
def test_cores_that_two_units_use_are_named(text: str, core: str) -> None:
    (warning,) = warnings(text)
    first, last = text.split(",", maxsplit=1)[0], text.rsplit(",", maxsplit=1)[-1]
    assert warning.startswith(f"{first} and {last} share core {core}: ")


def test_unit_that_is_not_pinned_uses_all_cores() -> None:
    (warning,) = warnings("onnxruntime:cpu,openvino:cpu")
    assert f"share core {format_cores(usable_cores())}" in warning
