"""OpenVINO: Intel's and other CPUs, and Intel's integrated and discrete GPUs."""

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from profet.partition.backends.blank_batch import run_blank_batch
from profet.partition.backends.failures import error_line, told_as_unit_errors
from profet.partition.backends.installed import installed_version
from profet.partition.backends.protocol import Array, Device, Runner, RunTimes, UnitError
from profet.partition.cores import default_threads
from profet.partition.networks.network import Network
from profet.partition.units import Unit
from profet.quantities import MS_PER_S

if TYPE_CHECKING:
    import openvino

_PRECISION = "INFERENCE_PRECISION_HINT"


class OpenVino:
    """Loads networks into OpenVINO; in f32 unless asked, where its own default may be less without a word."""

    name = "openvino"
    install = "pip install 'profet-latency[openvino]'"

    def version(self) -> str | None:
        """Return the installed version, or None."""
        return installed_version("openvino")

    def devices(self) -> list[Device]:
        """List the CPU and Intel's GPUs.

        Raises:
            UnitError: it is installed but does not start.
        """
        core = _core()
        try:
            listed = [name for name in core.available_devices if name.partition(".")[0] in {"CPU", "GPU"}]
            return [_device(core, name) for name in listed]
        except Exception as error:
            raise UnitError(f"openvino: does not list its devices: {error_line(error)}") from error

    def load(self, network: Network, unit: Unit) -> Runner:
        """Load a network with one stream.

        Raises:
            UnitError: the device is missing, lacks the precision, or cannot run the network.
            OutOfMemoryError: the network is too large for the unit.
        """
        core = _core()
        device = unit.device.upper()
        with told_as_unit_errors(unit, f"loading {network.name}"):
            compiled = core.compile_model(str(network.path), device, _settings(unit, device))
            found = str(compiled.get_property(_PRECISION).to_string())
            request = compiled.create_infer_request()
        if found != unit.precision:
            raise UnitError(f"{unit.name}: OpenVINO computes in {found} here, not in {unit.precision}")
        return _Runner(request, network, unit)


def _core() -> "openvino.Core":
    try:
        import openvino

        return openvino.Core()
    except ModuleNotFoundError:
        raise UnitError(f"openvino: not installed; {OpenVino.install}") from None
    except Exception as error:
        raise UnitError(f"openvino: does not start: {error_line(error)}") from error


def _device(core: "openvino.Core", name: str) -> Device:
    hardware = " ".join(str(core.get_property(name, "FULL_DEVICE_NAME")).split())
    if name == "CPU":
        return Device("cpu", "cpu", hardware)
    integrated = "INTEGRATED" in str(core.get_property(name, "DEVICE_TYPE")).upper()
    number = name if "." in name else f"{name}.0"  # a single GPU is listed without its number
    return Device(number, "igpu" if integrated else "gpu", hardware)


def _settings(unit: Unit, device: str) -> dict[str, Any]:
    settings: dict[str, Any] = {_PRECISION: unit.precision, "NUM_STREAMS": 1}
    if device == "CPU":
        settings["INFERENCE_NUM_THREADS"] = default_threads(unit.worker_threads)
        settings["ENABLE_CPU_PINNING"] = False  # the process is pinned already, where it is to be
    return settings


class _Runner:
    """Reads inputs from the arrays given and writes outputs straight into them; GPUs copy while they run."""

    def __init__(self, request: "openvino.InferRequest", network: Network, unit: Unit) -> None:
        self._request, self._network, self._unit = request, network, unit

    def warm_up(self, batch: int) -> None:
        """Run a batch of zeros; see Runner."""
        with told_as_unit_errors(self._unit, f"warming up a batch of {batch}"):
            run_blank_batch(self, self._network, batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch; see Runner. There is nothing to bring in or out."""
        from openvino import Tensor

        with told_as_unit_errors(self._unit, f"running a batch of {len(images)}"):
            given = images if images.flags.writeable else images.copy()  # only such memory can be shared
            self._request.set_input_tensor(0, Tensor(given, shared_memory=True))
            for index, array in enumerate(outputs):
                self._request.set_output_tensor(index, Tensor(array, shared_memory=True))
            start = perf_counter()
            self._request.infer()
            return RunTimes((perf_counter() - start) * MS_PER_S, 0.0)

    def close(self) -> None:
        """Drop the request, which holds the network."""
        del self._request


BACKEND = OpenVino()
