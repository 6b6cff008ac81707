"""What a runtime cannot do is one line that names the unit, says why, and what to do."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from profet.partition.backends.failures import told_as_unit_errors
from profet.partition.backends.protocol import OutOfMemoryError, UnitError
from profet.partition.backends.registry import backend
from profet.partition.networks.find import find_network
from profet.partition.networks.network import Network, Tensor
from profet.partition.units import parse_unit
from tests.partition.small_models import save_model, small_classifier, value

BACKENDS = ["onnxruntime", "openvino", "torch"]


@pytest.fixture
def small(tmp_path: Path) -> Network:
    return find_network(str(small_classifier(tmp_path / "small.onnx")))


def refusal(unit_name: str, network: Network) -> str:
    unit = parse_unit(unit_name)
    with pytest.raises(UnitError) as caught:
        backend(unit.backend).load(network, unit)
    text = str(caught.value)
    assert text.startswith(unit_name)
    assert "\n" not in text
    assert len(text) < 500
    return text


@pytest.mark.parametrize("name", BACKENDS)
def test_version_is_told_without_starting_the_framework(name: str) -> None:
    version = backend(name).version()

    assert version is not None
    assert version[0].isdigit()


@pytest.mark.parametrize("name", BACKENDS)
def test_cpu_is_among_the_devices(name: str) -> None:
    devices = {device.device: device for device in backend(name).devices()}

    assert devices["cpu"].kind == "cpu"
    assert devices["cpu"].device_name


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("onnxruntime:cuda:99", ["CUDAExecutionProvider"]),
        ("onnxruntime:directml:0", ["DmlExecutionProvider"]),
        ("onnxruntime:tpu", ["no device 'tpu'"]),
        ("onnxruntime:cpu:precision=bf16", ["not in bf16", "openvino or torch"]),
        ("openvino:GPU.77", ["loading small failed"]),
        ("torch:cuda:99", ["loading small failed"]),
        ("torch:tpu", ["no device 'tpu'"]),
    ],
)
def test_device_or_precision_that_is_not_there_is_told(small: Network, unit: str, words: list[str]) -> None:
    text = refusal(unit, small)

    for word in words:
        assert word in text


@pytest.mark.parametrize("name", BACKENDS)
def test_file_that_vanished_is_told(small: Network, name: str) -> None:
    small.path.unlink()

    assert "loading small failed" in refusal(f"{name}:cpu", small)


def unfit(path: Path) -> Network:
    """A file whose layers do not fit together, which only running or loading it shows."""
    weights = {"w": np.ones((4, 9), np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    save_model(path, nodes, [value("x", ["batch", 5])], [value("y", ["batch", 9])], weights)
    return Network("unfit", path, "0", Tensor("x", (5,)), (Tensor("y", (9,)),))


@pytest.mark.parametrize("name", BACKENDS)
def test_file_whose_layers_do_not_fit_is_told(tmp_path: Path, name: str) -> None:
    unit = parse_unit(f"{name}:cpu")

    with pytest.raises(UnitError, match=f"{name}:cpu: .* failed"):
        backend(name).load(unfit(tmp_path / "unfit.onnx"), unit).warm_up(2)


@pytest.mark.parametrize("name", BACKENDS)
def test_file_that_uses_what_nothing_gives_is_told(tmp_path: Path, name: str) -> None:
    path = tmp_path / "lost.onnx"
    save_model(
        path, [helper.make_node("Add", ["x", "lost"], ["y"])], [value("x", ["b", 5])], [value("y", ["b", 5])]
    )
    text = refusal(f"{name}:cpu", Network("lost", path, "0", Tensor("x", (5,)), (Tensor("y", (5,)),)))

    assert name != "torch" or "nothing gives 'lost'" in text


@pytest.mark.parametrize("name", BACKENDS)
def test_batch_beyond_all_memory_is_told_and_smaller_ones_still_run(small: Network, name: str) -> None:
    unit = parse_unit(f"{name}:cpu")
    runner = backend(name).load(small, unit)

    with pytest.raises(OutOfMemoryError, match=f"{name}:cpu: out of memory .* smaller"):
        runner.warm_up(2**40)

    runner.warm_up(2)


@pytest.mark.parametrize(
    "message",
    [
        "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory: you tried 4 bytes",
        "CUDA out of memory. Tried to allocate 2.00 GiB",
        "BFCArena::AllocateRawInternal Available memory of 100 is smaller than requested bytes of 200",
        "CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0",
        "std::bad_alloc",
        "[GPU] Exceeded max size of memory object allocation: requested 5 bytes",
    ],
)
def test_memory_is_recognised_in_what_frameworks_say(message: str) -> None:
    unit = parse_unit("torch:cuda:0")
    with pytest.raises(OutOfMemoryError, match="torch:cuda:0"), told_as_unit_errors(unit, "running a batch of 8"):
        raise RuntimeError(message)


def test_other_failures_are_not_taken_for_memory() -> None:
    unit = parse_unit("torch:cuda:0")
    with pytest.raises(UnitError) as caught, told_as_unit_errors(unit, "running a batch of 8"):
        raise RuntimeError("an illegal\ninstruction " + 1000 * "x")

    assert type(caught.value) is UnitError
    assert str(caught.value).startswith("torch:cuda:0: running a batch of 8 failed: an illegal instruction")
    assert len(str(caught.value)) < 500
