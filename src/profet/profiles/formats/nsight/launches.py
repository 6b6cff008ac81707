"""Which CUDA call launched each event on a device, in an export of Nsight Systems, and on which thread."""

import numpy as np
import numpy.typing as npt

from profet.profiles.formats.nsight.devices import PROCESS_SHIFT, DeviceRows, sensible
from profet.profiles.formats.nsight.tables import MISSING, Tables, Whole

_RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
_CORRELATION_BITS = 36


def read_launches(tables: Tables, device: DeviceRows, warnings: list[str]) -> tuple[Whole, Whole]:
    """Find the CUDA call that launched each device event: the earliest of its process with its correlationId.

    Args:
        tables: of the export.
        device: n events.
        warnings: gets a line where calls are unknown.

    Returns:
        When it was called in ns, MISSING where unknown, and on which thread; each of shape (n,).
    """
    calls = tables.read(_RUNTIME, ("start", "globalTid", "correlationId"))
    usable = _is_correlation(calls["correlationId"]) & (calls["globalTid"] != MISSING)
    usable &= sensible(calls["start"], calls["start"])
    start, thread, correlation = (calls[name][usable] for name in ("start", "globalTid", "correlationId"))
    processes, process = np.unique(thread >> PROCESS_SHIFT, return_inverse=True)
    key = (process.astype(np.int64) << _CORRELATION_BITS) | correlation
    order = np.lexsort((start, key))
    key, start, thread = key[order], start[order], thread[order]
    asked = _ask(device, processes)
    found = np.searchsorted(key, asked)
    known = asked >= 0
    known[known] = found[known] < len(key)
    known[known] = key[found[known]] == asked[known]
    launch, launcher = np.full(len(device), MISSING), np.zeros(len(device), np.int64)
    launch[known], launcher[known] = start[found[known]], thread[found[known]]
    if not known.all():
        warnings.append(
            f"{np.count_nonzero(~known)} of {len(device)} device events have no CUDA call that launched them"
        )
    return launch, launcher


def _ask(device: DeviceRows, processes: Whole) -> Whole:
    """Return the key of each event's call, -1 for none; where only one process called, it was that."""
    if not len(processes):
        return np.full(len(device), -1)
    process = np.where(device.process == MISSING, processes[0] if len(processes) == 1 else MISSING, device.process)
    place = np.minimum(np.searchsorted(processes, process), len(processes) - 1)
    fits = (processes[place] == process) & _is_correlation(device.correlation)
    return np.where(fits, (place << _CORRELATION_BITS) | np.where(fits, device.correlation, 0), -1)


def _is_correlation(correlation: Whole) -> npt.NDArray[np.bool_]:
    usable: npt.NDArray[np.bool_] = (correlation > 0) & (correlation < 2**_CORRELATION_BITS)
    return usable
