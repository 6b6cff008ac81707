"""How ONNX Runtime runs a batch: in the machine's memory, or copied to a CUDA GPU and back."""

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from profet.partition.backends.blank_batch import run_blank_batch
from profet.partition.backends.failures import told_as_unit_errors
from profet.partition.backends.protocol import Array, RunTimes
from profet.partition.networks.network import Network
from profet.partition.units import Unit
from profet.quantities import MS_PER_S

if TYPE_CHECKING:
    import onnxruntime


class HostRunner:
    """Reads inputs from the arrays given and writes outputs straight into them; DirectML copies while it runs."""

    def __init__(self, session: "onnxruntime.InferenceSession", network: Network, unit: Unit) -> None:
        self._session, self._network, self._unit = session, network, unit

    def warm_up(self, batch: int) -> None:
        """Run a batch of zeros; see Runner."""
        with told_as_unit_errors(self._unit, f"warming up a batch of {batch}"):
            run_blank_batch(self, self._network, batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch; see Runner. There is nothing to bring in or out."""
        with told_as_unit_errors(self._unit, f"running a batch of {len(images)}"):
            binding = self._session.io_binding()
            binding.bind_input(self._network.input.name, "cpu", 0, images.dtype, images.shape, images.ctypes.data)
            for tensor, array in zip(self._network.outputs, outputs, strict=True):
                binding.bind_output(tensor.name, "cpu", 0, array.dtype, array.shape, array.ctypes.data)
            start = perf_counter()
            self._session.run_with_iobinding(binding)
            return RunTimes((perf_counter() - start) * MS_PER_S, 0.0)

    def close(self) -> None:
        """Drop the session."""
        del self._session


class CudaRunner:
    """Copies a batch to the GPU, runs it there, and copies its outputs back: each timed by itself."""

    def __init__(self, session: "onnxruntime.InferenceSession", network: Network, unit: Unit, number: int) -> None:
        self._session, self._network, self._unit, self._number = session, network, unit, number
        self._batch = 0
        self._values: list[Any] = []
        self._binding: Any = None

    def warm_up(self, batch: int) -> None:
        """Run a batch of zeros; see Runner."""
        with told_as_unit_errors(self._unit, f"warming up a batch of {batch}"):
            run_blank_batch(self, self._network, batch)

    def run(self, images: Array, outputs: Sequence[Array]) -> RunTimes:
        """Run one batch; see Runner."""
        with told_as_unit_errors(self._unit, f"running a batch of {len(images)}"):
            start = perf_counter()
            self._reserve(len(images))
            self._values[0].update_inplace(images)
            self._binding.synchronize_inputs()
            copied = perf_counter()
            self._session.run_with_iobinding(self._binding)
            self._binding.synchronize_outputs()
            ran = perf_counter()
            for value, array in zip(self._values[1:], outputs, strict=True):
                array[...] = value.numpy()
            end = perf_counter()
        return RunTimes((ran - copied) * MS_PER_S, (end - ran + copied - start) * MS_PER_S)

    def _reserve(self, batch: int) -> None:
        """Keep memory on the GPU for the inputs and outputs of batches of this size."""
        if batch == self._batch:
            return
        from onnxruntime import OrtValue

        self._batch, self._values, self._binding = 0, [], None
        tensors = (self._network.input, *self._network.outputs)
        shapes = [((batch, *each.shape), each.dtype) for each in tensors]
        self._values = [OrtValue.ortvalue_from_shape_and_type(s, d, "cuda", self._number) for s, d in shapes]
        self._binding = self._session.io_binding()
        self._binding.bind_ortvalue_input(tensors[0].name, self._values[0])
        for tensor, value in zip(tensors[1:], self._values[1:], strict=True):
            self._binding.bind_ortvalue_output(tensor.name, value)
        self._batch = batch

    def close(self) -> None:
        """Drop the session and what is on the GPU."""
        self._values, self._binding = [], None
        del self._session
