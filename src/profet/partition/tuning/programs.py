"""Programs: a network compiled for one target, for one batch size or for any."""

from typing import TYPE_CHECKING, Any

from profet.partition.tuning.default_schedule import apply_default_schedule
from profet.partition.tuning.lowering import is_cpu

if TYPE_CHECKING:
    from profet.partition.tuning.records import TuningRecords

_LANES = {"avx512f": 16, "avx": 8}
_PREPACKED = "_prepacked"


class Program:
    """A network that is ready to run on a device.

    Attributes:
        batch: the only size it takes; None where it takes any.
    """

    def __init__(self, executable: Any, device: Any, batch: int | None) -> None:
        from tvm import relax

        self._executable, self._device = executable, device
        self._machine = relax.VirtualMachine(executable, device)
        self.batch = batch

    def run(self, images: Any) -> list[Any]:
        """Run on a tensor of the device and wait; return its outputs, tensors of the device."""
        results = self._machine["main"](images)
        self._device.sync()  # a GPU goes on after the call
        return [results] if hasattr(results, "copyto") else list(results)

    def function_ms(self, images: Any) -> dict[str, float]:
        """Run, and return how long each function took a call, by the name it had when it was lowered."""
        from time import perf_counter

        from tvm import relax

        started = 0.0
        times: dict[str, list[float]] = {}

        def listen(_function: Any, name: Any, before: bool, _result: Any, *_arguments: Any) -> None:
            nonlocal started
            if before:
                started = perf_counter()
                return
            self._device.sync()
            own = str(name).removesuffix(_PREPACKED)
            times.setdefault(own, []).append((perf_counter() - started) * 1000)

        heard = relax.VirtualMachine(self._executable, self._device)  # one of its own: listening costs time
        heard.set_instrument(listen)
        heard["main"](images)
        return {name: sum(each) / len(each) for name, each in times.items()}


def build(module: Any, target: Any, records: "TuningRecords | None" = None) -> Any:
    """Schedule and compile lowered loop nests, which stay as they are."""
    import tvm
    from tvm.relax import transform

    module = module.clone()  # a scheduled function takes the place of the other within a module
    with target:
        if records is not None:
            module = records.apply(module)
        module = apply_default_schedule(module, _lanes(target)) if is_cpu(target) else _schedule_for_gpu(module)
        after = [transform.SplitLayoutRewritePreproc(), transform.FoldConstant(), transform.DeadCodeElimination()]
        module = tvm.transform.Sequential(after)(module)
    return tvm.compile(module, target)


def _lanes(target: Any) -> int:
    """Return how many numbers fit a vector; TVM's own answer counts AVX-512 where a CPU has none."""
    from tvm.target import codegen

    return next((lanes for feature, lanes in _LANES.items() if codegen.target_has_features(feature, target)), 4)


def _schedule_for_gpu(module: Any) -> Any:
    from tvm.s_tir import dlight

    gpu = dlight.gpu
    rules = (gpu.Matmul(), gpu.GEMV(), gpu.Reduction(), gpu.GeneralReduction(), gpu.Fallback())
    return dlight.ApplyDefaultSchedule(*rules)(module)
