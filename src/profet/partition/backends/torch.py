"""PyTorch: CPU, CUDA and Apple GPUs, through an interpreter of ONNX graphs of our own."""

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from profet.partition.backends.blank_batch import run_blank_batch
from profet.partition.backends.failures import error_line, told_as_unit_errors
from profet.partition.backends.installed import installed_version
from profet.partition.backends.protocol import Array, Device, Runner, RunTimes, UnitError
from profet.partition.cores import default_threads
from profet.partition.machine import machine_facts
from profet.partition.networks.network import Network
from profet.partition.units import Unit
from profet.quantities import MS_PER_S

if TYPE_CHECKING:
    import torch

    from profet.partition.backends.torch_graph import TorchGraph

_KINDS = ("cpu", "cuda", "mps")


class Torch:
    """Loads networks into PyTorch."""

    name = "torch"
    install = "pip install 'profet-latency[torch]'"

    def version(self) -> str | None:
        """Return the installed version, or None."""
        return installed_version("torch")

    def devices(self) -> list[Device]:
        """List the CPU, and the GPUs that its build can use.

        Raises:
            UnitError: it is installed but does not start.
        """
        torch = _import()
        found = [Device("cpu", "cpu", str(machine_facts()["cpu"]))]
        try:
            count = torch.cuda.device_count() if torch.cuda.is_available() else 0
            found += [Device(f"cuda:{i}", "gpu", torch.cuda.get_device_name(i)) for i in range(count)]
            if torch.backends.mps.is_available():
                found.append(Device("mps:0", "igpu", "Apple GPU"))
        except Exception as error:
            raise UnitError(f"torch: does not list its devices: {error_line(error)}") from error
        return found

    def load(self, network: Network, unit: Unit) -> Runner:
        """Load a network; on a GPU its execution is timed apart from copies.

        Raises:
            UnitError: the device is missing, or the network has an operator that the interpreter lacks.
            OutOfMemoryError: the network is too large for the unit.
        """
        torch = _import()
        if unit.device.partition(":")[0] not in _KINDS:
            raise UnitError(f"{unit.name}: PyTorch has no device '{unit.device}' here; it has {', '.join(_KINDS)}")
        from profet.partition.backends.torch_graph import TorchGraph

        types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
        with told_as_unit_errors(unit, f"loading {network.name}"):
            torch.set_num_threads(default_threads(unit.worker_threads))
            torch.backends.cudnn.allow_tf32 = False  # f32 is f32, unless the unit says otherwise
            graph = TorchGraph(network, unit, torch.device(unit.device), types[unit.precision])
        return _Runner(graph, network, unit)


def _import() -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise UnitError(f"torch: not installed; {Torch.install}") from None
    except Exception as error:
        raise UnitError(f"torch: does not start: {error_line(error)}") from error
    return torch


class _Runner:
    def __init__(self, graph: "TorchGraph", network: Network, unit: Unit) -> None:
        self._graph, self._network, self._unit = graph, network, unit

    def warm_up(self, batch: int) -> None:
        """Run a batch of zeros; see Runner."""
        with told_as_unit_errors(self._unit, f"warming up a batch of {batch}"):
            run_blank_batch(self, self._network, batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch; see Runner."""
        import torch

        device = self._graph.device
        with told_as_unit_errors(self._unit, f"running a batch of {len(images)}"), torch.inference_mode():
            start = perf_counter()
            given = torch.from_numpy(images if images.flags.writeable else images.copy()).to(device)
            _wait(device)
            copied = perf_counter()
            results = self._graph.run(given)
            _wait(device)
            ran = perf_counter()
            for tensor, result, array in zip(self._network.outputs, results, outputs, strict=True):
                if tuple(result.shape) != array.shape:
                    raise UnitError(
                        f"{self._unit.name}: output {tensor.name[:40]} came out as {tuple(result.shape)}, not as"
                        f" {array.shape}: the network's first axis is not the batch all the way"
                    )
                torch.from_numpy(array).copy_(result)
            end = perf_counter()
        return RunTimes((ran - copied) * MS_PER_S, (end - ran + copied - start) * MS_PER_S)

    def close(self) -> None:
        """Drop the weights."""
        del self._graph


def _wait(device: "torch.device") -> None:
    """Wait until a GPU has done what it was given, so that the clock tells the truth."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


BACKEND = Torch()
