"""Apache TVM: compiles the network itself, for CPUs by LLVM, for GPUs by CUDA, or OpenCL if built."""

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from profet.partition.backends.blank_batch import run_blank_batch
from profet.partition.backends.failures import error_line, told_as_unit_errors
from profet.partition.backends.installed import installed_version
from profet.partition.backends.protocol import Array, Device, Runner, RunTimes, UnitError
from profet.partition.cores import default_threads
from profet.partition.machine import machine_facts
from profet.partition.networks.network import Network
from profet.partition.tuning.lowering import INSTALL, device_of, import_tvm, quiet, target_of
from profet.partition.tuning.records import tuned_mark
from profet.partition.units import Unit
from profet.quantities import MS_PER_S

_MOST_GPUS = 16
_TUNE = "can be tuned: profet partition tune"


class Tvm:
    """Compiles networks with TVM."""

    name = "tvm"
    install = INSTALL

    def version(self) -> str | None:
        """Return the installed version and a mark of what tuning has found for it, or None."""
        version = installed_version("apache-tvm")
        mark = "" if version is None else tuned_mark(version)
        return f"{version}+tuned.{mark}" if mark else version

    def devices(self) -> list[Device]:
        """List the CPU, and the GPUs that its build can use.

        Raises:
            UnitError: it is installed but does not start.
        """
        tvm = import_tvm()
        try:
            built = tvm.support.libinfo()
            lacking = [name for name in ("CUDA", "OpenCL") if built.get(f"USE_{name.upper()}", "OFF") == "OFF"]
            note = "; ".join([_TUNE, *(f"this build has no {name}" for name in lacking)])
            found = [] if built.get("USE_LLVM", "OFF") == "OFF" else [
                Device("llvm", "cpu", str(machine_facts()["cpu"]), note)
            ]  # fmt: skip
            for kind in ("cuda", "opencl"):
                for index in range(_MOST_GPUS):
                    device = tvm.device(kind, index)
                    if not device.exist:
                        break
                    found.append(Device(f"{kind}:{index}", "gpu", str(device.device_name), _TUNE))
        except Exception as error:
            raise UnitError(f"tvm: does not list its devices: {error_line(error)}") from error
        return found

    def load(self, network: Network, unit: Unit) -> Runner:
        """Read a network; it is compiled when it is warmed up.

        Raises:
            UnitError: another precision than f32, no such device, or an operator that TVM lacks.
        """
        if unit.precision != "f32":
            raise UnitError(f"{unit.name}: TVM computes in f32 alone here; leave out precision={unit.precision}")
        import_tvm(default_threads(unit.worker_threads))
        device_of(unit)
        from profet.partition.tuning.choice import Programs

        with told_as_unit_errors(unit, f"loading {network.name}"), quiet():
            return _Runner(network, unit, Programs(network, target_of(unit), device_of(unit)))


class _Runner:
    def __init__(self, network: Network, unit: Unit, programs: Any) -> None:
        self._network, self._unit, self._programs = network, unit, programs
        self._input: Any = None

    def warm_up(self, batch: int) -> None:
        """Compile what a batch of this size needs, and run it once; see Runner."""
        with told_as_unit_errors(self._unit, f"compiling for a batch of {batch}"), quiet():
            self._programs.prepare(batch)
        run_blank_batch(self, self._network, batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch; a program for a larger one gets zeros behind the images; see Runner."""
        batch = len(images)
        with told_as_unit_errors(self._unit, f"running a batch of {batch}"):
            program = self._programs.of(batch)
            start = perf_counter()
            given = self._tensor(images, program.batch or batch)
            copied = perf_counter()
            results = program.run(given)
            ran = perf_counter()
            for tensor, result, array in zip(self._network.outputs, results, outputs, strict=True):
                if tuple(int(size) for size in result.shape[1:]) != array.shape[1:]:
                    raise UnitError(f"{self._unit.name}: output {tensor.name[:40]} is not of the file's shape")
                array[...] = result.numpy()[:batch]
            end = perf_counter()
        return RunTimes((ran - copied) * MS_PER_S, (end - ran + copied - start) * MS_PER_S)

    def _tensor(self, images: Array, batch: int) -> Any:
        """Return the images on the device, in memory that is used again for batches of the same size."""
        shape = (batch, *images.shape[1:])
        if self._input is None or tuple(int(size) for size in self._input.shape) != shape:
            import tvm

            self._input = tvm.runtime.empty(shape, str(images.dtype), self._programs.device)
        if batch > len(images):
            padded = np.zeros(shape, images.dtype)
            padded[: len(images)] = images
            images = padded
        self._input.copyfrom(images)
        return self._input

    def close(self) -> None:
        """Drop the programs and their weights."""
        self._input = None
        self._programs = None


BACKEND = Tvm()
