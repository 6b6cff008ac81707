"""Metrics of the machine and of this process, by psutil."""

import contextlib
import os

_BYTES_PER_MIB = 1024 * 1024


class Machine:
    """The machine that this process runs on.

    Raises:
        ImportError: psutil is not installed.
    """

    def __init__(self) -> None:
        import psutil

        self._psutil = psutil
        self._process = psutil.Process()
        psutil.cpu_percent(None)  # the first tells nothing
        self._process.cpu_percent(None)

    def sample(self) -> dict[str, float]:
        """Return utilisation in percent of all cores since the last sample, memory in MiB, clock in MHz, load."""
        memory = self._psutil.virtual_memory()
        cores = self._psutil.cpu_count() or 1
        metrics = {
            "utilization_cpu": self._psutil.cpu_percent(None),
            "utilization_cpu_process": self._process.cpu_percent(None) / cores,
            "memory_host_totalMiB": memory.total / _BYTES_PER_MIB,
            "memory_host_usedMiB": memory.used / _BYTES_PER_MIB,
            "memory_host_processMiB": self._process.memory_info().rss / _BYTES_PER_MIB,
        }
        with contextlib.suppress(Exception):  # not every system tells
            metrics["clocks_current_cpuMHz"] = float(self._psutil.cpu_freq().current)
        with contextlib.suppress(OSError, AttributeError):
            metrics["load_1min"] = os.getloadavg()[0]
        return metrics
