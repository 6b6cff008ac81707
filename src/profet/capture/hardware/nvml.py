"""Metrics of one GPU by NVML (nvidia-ml-py), under the names that nvidia-smi gives them."""

from collections.abc import Callable
from typing import Any

_NOT_AVAILABLE = "[N/A]"
_BYTES_PER_MIB = 1024 * 1024
_MW_PER_W = 1000


class Gpu:
    """A GPU.

    Args:
        uuid: such as ``"GPU-6cf5..."``, with or without its prefix; empty for the first GPU.

    Raises:
        ImportError: nvidia-ml-py is not installed.
        Exception: of NVML: there is no driver, or no such GPU.
    """

    def __init__(self, uuid: str) -> None:
        import pynvml

        self._nvml = pynvml
        pynvml.nvmlInit()
        self._handle = _handle(pynvml, uuid)
        self._readers = self._changing()
        fixed = {title: self._cell(read) for title, read in self._fixed().items()}
        self._fixed_cells = list(fixed.values())
        self.header = [*self._readers, *fixed]

    def sample(self) -> list[str]:
        """Return a cell for each column of the header; ``[N/A]`` where this GPU does not tell."""
        return [*(self._cell(read) for read in self._readers.values()), *self._fixed_cells]

    def _changing(self) -> dict[str, Callable[[], Any]]:
        nvml, gpu = self._nvml, self._handle
        clock, memory, busy = (
            nvml.nvmlDeviceGetClockInfo,
            nvml.nvmlDeviceGetMemoryInfo,
            nvml.nvmlDeviceGetUtilizationRates,
        )
        throttled = nvml.nvmlDeviceGetCurrentClocksThrottleReasons
        return {
            "clocks.current.graphics [MHz]": lambda: clock(gpu, nvml.NVML_CLOCK_GRAPHICS),
            "clocks.current.sm [MHz]": lambda: clock(gpu, nvml.NVML_CLOCK_SM),
            "clocks.current.memory [MHz]": lambda: clock(gpu, nvml.NVML_CLOCK_MEM),
            "memory.free [MiB]": lambda: memory(gpu).free / _BYTES_PER_MIB,
            "memory.used [MiB]": lambda: memory(gpu).used / _BYTES_PER_MIB,
            "memory.total [MiB]": lambda: memory(gpu).total / _BYTES_PER_MIB,
            "power.draw [W]": lambda: nvml.nvmlDeviceGetPowerUsage(gpu) / _MW_PER_W,
            "temperature.gpu": lambda: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
            "utilization.gpu [%]": lambda: busy(gpu).gpu,
            "utilization.memory [%]": lambda: busy(gpu).memory,
            "clocks_throttle_reasons.active": lambda: f"0x{throttled(gpu):016x}",
            "clocks_throttle_reasons.sw_power_cap": lambda: _state(
                throttled(gpu) & nvml.nvmlClocksThrottleReasonSwPowerCap
            ),
        }

    def _fixed(self) -> dict[str, Callable[[], Any]]:
        nvml, gpu = self._nvml, self._handle
        most = nvml.nvmlDeviceGetMaxClockInfo
        return {
            "clocks.max.graphics [MHz]": lambda: most(gpu, nvml.NVML_CLOCK_GRAPHICS),
            "clocks.max.sm [MHz]": lambda: most(gpu, nvml.NVML_CLOCK_SM),
            "clocks.max.memory [MHz]": lambda: most(gpu, nvml.NVML_CLOCK_MEM),
            "power.limit [W]": lambda: nvml.nvmlDeviceGetPowerManagementLimit(gpu) / _MW_PER_W,
            "pcie.link.gen.max": lambda: nvml.nvmlDeviceGetMaxPcieLinkGeneration(gpu),
            "pcie.link.width.max": lambda: nvml.nvmlDeviceGetMaxPcieLinkWidth(gpu),
        }

    def _cell(self, read: Callable[[], Any]) -> str:
        try:
            value = read()
        except (self._nvml.NVMLError, AttributeError):
            return _NOT_AVAILABLE
        return value if isinstance(value, str) else f"{value:g}"


def _handle(nvml: Any, uuid: str) -> Any:
    if not uuid:
        return nvml.nvmlDeviceGetHandleByIndex(0)
    name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
    return nvml.nvmlDeviceGetHandleByUUID(name.encode())


def _state(active: int) -> str:
    return "Active" if active else "Not Active"
