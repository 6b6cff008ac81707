"""Names of units: short ones become what this machine has, exact ones must be there; broken runtimes are told."""

from importlib import metadata
from typing import Any

import pytest

from profet.errors import InputError
from profet.partition.backends.protocol import Device, UnitError
from profet.partition.cores import usable_cores
from profet.partition.discovery import FoundBackend, look_at, look_at_all, resolve_units, short_names
from profet.partition.missing import missing_parts
from profet.partition.units import format_cores


def found(name: str, *devices: tuple[str, str]) -> FoundBackend:
    """A runtime that found devices: each its name and kind."""
    return FoundBackend(
        name, f"pip install {name}", "1.0", tuple(Device(d, kind, f"a {kind}") for d, kind in devices)
    )


ORT = found("onnxruntime", ("cpu", "cpu"))
ORT_CUDA = found("onnxruntime", ("cpu", "cpu"), ("cuda:0", "gpu"), ("cuda:1", "gpu"), ("tensorrt:0", "gpu"))
ORT_DIRECTML = found("onnxruntime", ("cpu", "cpu"), ("directml:0", "igpu"), ("directml:1", "gpu"))
OPENVINO_INTEL = found("openvino", ("cpu", "cpu"), ("GPU.0", "igpu"), ("GPU.1", "gpu"))
TORCH_CUDA = found("torch", ("cpu", "cpu"), ("cuda:0", "gpu"), ("cuda:1", "gpu"))
TVM_CUDA = found("tvm", ("llvm", "cpu"), ("cuda:0", "gpu"), ("opencl:0", "gpu"))


def test_laptop_with_intel_graphics_and_two_nvidia_gpus() -> None:
    assert short_names([ORT_CUDA, OPENVINO_INTEL, TORCH_CUDA, TVM_CUDA]) == {
        "cpu": "onnxruntime:cpu",
        "igpu": "openvino:GPU.0",
        "gpu0": "onnxruntime:cuda:0",
        "gpu1": "onnxruntime:cuda:1",
        "gpu2": "openvino:GPU.1",
    }


@pytest.mark.parametrize(
    ("runtimes", "name", "unit"),
    [
        ([ORT, TORCH_CUDA], "gpu1", "torch:cuda:1"),
        ([ORT, TVM_CUDA], "gpu0", "tvm:cuda:0"),
        ([ORT, OPENVINO_INTEL], "gpu0", "openvino:GPU.1"),
        ([ORT_DIRECTML], "igpu", "onnxruntime:directml:0"),
        ([ORT_DIRECTML], "gpu0", "onnxruntime:directml:1"),
        ([found("torch", ("cpu", "cpu"), ("mps:0", "igpu"))], "igpu", "torch:mps:0"),
        ([found("openvino", ("cpu", "cpu"))], "cpu", "openvino:cpu"),
        ([found("torch", ("cpu", "cpu"))], "cpu", "torch:cpu"),
    ],
)
def test_each_short_name_takes_the_best_runtime_that_is_there(
    runtimes: list[FoundBackend], name: str, unit: str
) -> None:
    assert short_names(runtimes)[name] == unit


def test_gpu_seen_by_two_runtimes_counts_once() -> None:
    names = short_names([ORT_CUDA, TORCH_CUDA, TVM_CUDA])

    assert [name for name in names if name.startswith("gpu")] == ["gpu0", "gpu1"]


def test_machine_without_a_runtime_has_no_names() -> None:
    assert short_names([FoundBackend("onnxruntime", "pip install it", None)]) == {}


class Broken:
    """A runtime that is installed but raises when it is asked."""

    name = "broken"
    install = "pip install broken"

    def __init__(self, error: Exception) -> None:
        self.error = error

    def version(self) -> str | None:
        return "2.0"

    def devices(self) -> list[Device]:
        raise self.error

    def load(self, network: Any, unit: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    "error", [UnitError("no libcudart"), RuntimeError("no libcudart"), OSError("no libcudart")]
)
def test_broken_runtime_is_told_and_stops_nothing(error: Exception) -> None:
    seen = look_at(Broken(error))
    parts = missing_parts([ORT, seen])

    assert seen.devices == ()
    assert seen.problem == "no libcudart"
    assert (parts[0].what, parts[0].why) == ("broken", "broken: no libcudart")


def test_what_is_missing_comes_with_how_to_get_it() -> None:
    parts = {each.what: each for each in missing_parts([ORT, FoundBackend("openvino", "pip install it", None)])}

    assert set(parts) == {"openvino", "igpu", "gpu0"}
    assert parts["openvino"].how == "pip install it"
    assert all(each.why and each.how for each in parts.values())


def test_nothing_is_missing_where_all_is_there() -> None:
    assert missing_parts([ORT_CUDA, OPENVINO_INTEL]) == []


def test_this_machine_has_a_processor() -> None:
    runtimes = look_at_all()

    assert short_names(runtimes)["cpu"] == "onnxruntime:cpu"
    assert "simulated" not in {each.name for each in runtimes}


def test_short_name_keeps_its_name_and_has_an_exact_one() -> None:
    (unit,) = resolve_units("cpu")

    assert (unit.name, unit.full_name) == ("cpu", "onnxruntime:cpu")


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    real = metadata.version

    def version(package: str) -> str:
        if package in packages:
            raise metadata.PackageNotFoundError(package)
        return real(package)

    monkeypatch.setattr(metadata, "version", version)


def test_cpu_is_another_runtimes_where_the_default_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "onnxruntime")

    assert resolve_units("cpu")[0].full_name == "openvino:cpu"


def test_machine_without_any_runtime_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "onnxruntime", "openvino", "torch")

    with pytest.raises(InputError, match="--device: cpu: no runtime is installed; pip install"):
        resolve_units("cpu")


def test_runtime_that_is_not_installed_is_told_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "openvino")

    with pytest.raises(InputError, match=r"openvino is not installed; pip install 'profet-latency\[openvino\]'"):
        resolve_units("onnxruntime:cpu,openvino:cpu")


def test_several_units_keep_their_order_and_settings() -> None:
    core = usable_cores()[0]
    units = resolve_units(f"simulated:a:fixed=2, openvino:CPU@{core}:threads=1,onnxruntime:cpu:largest=8")

    assert [unit.backend for unit in units] == ["simulated", "openvino", "onnxruntime"]
    assert (units[1].device, units[1].cores, units[1].threads) == ("cpu", (core,), 1)
    assert units[2].largest_batch == 8


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "gpu77",
            ["discrete GPU 77", "there is", "cpu (onnxruntime:cpu)", "partition units", "onnxruntime:cuda:77"],
        ),
        ("onnxruntime:cuda:77", ["finds no device 'cuda:77'", "nearest: ", "cpu"]),
        ("openvino:GPU.77", ["finds no device 'GPU.77'", "nearest: "]),
        ("torch:cdua:0", ["finds no device 'cdua:0'", "nearest: "]),
        ("cpu,onnxruntime:cpu", ["cpu and onnxruntime:cpu are the same unit"]),
        ("openvino:cpu,openvino:CPU", ["are the same unit"]),
        ("cpu,cpu", ["stands twice"]),
        ("cpu@0", ["cpu takes no cores and no settings", "onnxruntime:cpu@0"]),
        ("gpu0:largest=4", ["gpu0 takes no cores and no settings", "exact name"]),
        ("onnxruntime:cpu@4095", ["may not use core 4095", f"it may use {format_cores(usable_cores())}"]),
        ("onnx:cpu", ["no backend is called 'onnx'", "onnxruntime"]),
    ],
)
def test_unit_that_is_not_there_is_met_with_what_is(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        resolve_units(text)

    message = str(caught.value)
    assert message.startswith("--device: ")
    assert "\n" not in message
    for word in words:
        assert word in message
