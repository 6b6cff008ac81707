"""ONNX Runtime: the default backend, on the CPU, CUDA, TensorRT or DirectML."""

import contextlib
import os
import re
from ctypes.util import find_library
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from profet.partition.backends.cuda_devices import cuda_device_names
from profet.partition.backends.failures import error_line, told_as_unit_errors
from profet.partition.backends.installed import installed_version
from profet.partition.backends.onnxruntime_runners import CudaRunner, HostRunner
from profet.partition.backends.protocol import Device, Runner, UnitError
from profet.partition.cores import default_threads
from profet.partition.machine import machine_facts
from profet.partition.networks.network import Network
from profet.partition.units import Unit

if TYPE_CHECKING:
    import onnxruntime

_PACKAGES = ("onnxruntime", "onnxruntime-gpu", "onnxruntime-directml", "onnxruntime-openvino")
_PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "directml": "DmlExecutionProvider",
}
_INSTALL = {
    "cpu": "pip install onnxruntime",
    "cuda": "pip uninstall onnxruntime, then pip install 'onnxruntime-gpu[cuda,cudnn]'",
    "tensorrt": "pip uninstall onnxruntime, then pip install 'onnxruntime-gpu[cuda,cudnn]' tensorrt",
    "directml": "pip uninstall onnxruntime, then pip install onnxruntime-directml (on Windows)",
}
_DEVICE = re.compile(r"cpu|(?:cuda|tensorrt|directml):\d{1,2}")
_FATAL = 4
"""Severity of its log: what goes wrong is raised as well, so that the log would only tell it twice."""


class OnnxRuntime:
    """Loads networks into ONNX Runtime."""

    name = "onnxruntime"
    install = "pip install 'profet-latency[partition]'"

    def version(self) -> str | None:
        """Return the installed version of any of its packages, or None."""
        return installed_version(*_PACKAGES)

    def devices(self) -> list[Device]:
        """List the CPU, and the GPUs that its installed providers can use.

        Raises:
            UnitError: it is installed but does not start.
        """
        available = _import().get_available_providers()
        found = [Device("cpu", "cpu", str(machine_facts()["cpu"]))]
        if _PROVIDERS["cuda"] in available:
            found += [Device(f"cuda:{i}", "gpu", name) for i, name in enumerate(cuda_device_names())]
        if _PROVIDERS["tensorrt"] in available and _has_tensorrt():
            note = "builds an engine for every batch size"
            found += [Device(f"tensorrt:{i}", "gpu", name, note) for i, name in enumerate(cuda_device_names())]
        return found + (_directml_devices() if _PROVIDERS["directml"] in available else [])

    def load(self, network: Network, unit: Unit) -> Runner:
        """Load a network; its execution is timed apart from copies on CUDA and TensorRT.

        Raises:
            UnitError: the device or its provider is missing, or the network cannot be run there.
            OutOfMemoryError: the network is too large for the unit.
        """
        kind, _, number = unit.device.partition(":")
        if not _DEVICE.fullmatch(unit.device):
            raise UnitError(
                f"{unit.name}: ONNX Runtime has no device '{unit.device}'; write cpu, cuda:0 or directml:0"
            )
        if _PROVIDERS[kind] not in _import().get_available_providers():
            raise UnitError(
                f"{unit.name}: the installed ONNX Runtime lacks {_PROVIDERS[kind]}; replace it: {_INSTALL[kind]}"
            )
        _check_precision(network, unit, kind)
        with told_as_unit_errors(unit, f"loading {network.name}"):
            session = _session(network, unit, kind, int(number or 0))
        if _PROVIDERS[kind] not in session.get_providers():
            raise UnitError(
                f"{unit.name}: ONNX Runtime cannot start {_PROVIDERS[kind]}; its libraries must be installed and"
                " fit this version (profet partition units)"
            )
        if kind in {"cuda", "tensorrt"}:
            return CudaRunner(session, network, unit, int(number))
        return HostRunner(session, network, unit)


def _import() -> Any:
    try:
        import onnxruntime
    except ModuleNotFoundError:
        raise UnitError(f"onnxruntime: not installed; {OnnxRuntime.install}") from None
    except Exception as error:
        raise UnitError(f"onnxruntime: does not start: {error_line(error)}") from error
    onnxruntime.set_default_logger_severity(_FATAL)
    return onnxruntime


def _directml_devices() -> list[Device]:
    """List DirectX adapters; ONNX Runtime tells their names and kinds from version 1.22 on."""
    ort = _import()
    listed = ort.get_ep_devices() if hasattr(ort, "get_ep_devices") else []
    adapters = [each.device for each in listed if each.ep_name == _PROVIDERS["directml"]]
    if not adapters:
        return [Device("directml:0", "gpu", "DirectX adapter", "the first; others are directml:1, directml:2")]
    return [_adapter(index, each.metadata, each.vendor) for index, each in enumerate(adapters)]


def _adapter(index: int, facts: dict[str, str], vendor: str) -> Device:
    number = facts.get("DxgiAdapterNumber", str(index))
    kind = "gpu" if facts.get("Discrete") == "1" else "igpu"
    return Device(f"directml:{number}", kind, facts.get("Description") or vendor or "DirectX adapter")


def _check_precision(network: Network, unit: Unit, kind: str) -> None:
    if unit.precision == "f32" or (unit.precision == "f16" and kind == "tensorrt"):
        return
    if unit.precision == "f16" and network.input.dtype == "float16":
        return
    raise UnitError(
        f"{unit.name}: ONNX Runtime computes in the network's own type here, not in {unit.precision}; leave the"
        " precision out, give a network exported in it, or use openvino or torch"
    )


def _session(network: Network, unit: Unit, kind: str, number: int) -> "onnxruntime.InferenceSession":
    ort = _import()
    options = ort.SessionOptions()
    options.intra_op_num_threads = default_threads(unit.worker_threads)
    options.inter_op_num_threads = 1
    options.log_severity_level = _FATAL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    if kind == "directml":
        options.enable_mem_pattern = False  # DirectML cannot have it
    if kind in {"cuda", "tensorrt"}:
        _load_libraries(ort, kind)
    providers = _providers(unit, kind, number)
    # Without this, a provider that does not start is replaced by the CPU, and the news printed among our output.
    return ort.InferenceSession(str(network.path), options, providers=providers, enable_fallback=0)


def _has_tensorrt() -> bool:
    """Whether TensorRT is there: its provider is listed even where it is not."""
    return bool(find_spec("tensorrt") or find_library("nvinfer"))


def _load_libraries(ort: Any, kind: str) -> None:
    """Load CUDA, cuDNN and TensorRT from where pip put them; nothing where the system has them."""
    if hasattr(ort, "preload_dlls"):
        ort.preload_dlls()
    if kind == "tensorrt":
        with contextlib.suppress(ImportError):
            import_module("tensorrt")


def _providers(unit: Unit, kind: str, number: int) -> list[tuple[str, dict[str, str]]]:
    """Return the provider of a device with its options, and those that take what it cannot run."""
    cuda = {"device_id": str(number), "use_tf32": "0", "arena_extend_strategy": "kSameAsRequested"}
    cpu: list[tuple[str, dict[str, str]]] = [(_PROVIDERS["cpu"], {})]
    if kind == "cuda":
        return [(_PROVIDERS["cuda"], cuda), *cpu]
    if kind == "tensorrt":
        os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")  # the provider has no option for it
        options = {"device_id": str(number), "trt_fp16_enable": str(unit.precision == "f16")}
        return [(_PROVIDERS["tensorrt"], options), (_PROVIDERS["cuda"], cuda), *cpu]
    if kind == "directml":
        return [(_PROVIDERS["directml"], {"device_id": str(number)}), *cpu]
    return cpu


BACKEND = OnnxRuntime()
