"""Samples of the hardware as statistics, under the names of the public data."""

from profet.capture.recording import HardwareSamples
from profet.errors import InputError
from profet.profiles.formats.hardware.cells import Table
from profet.profiles.formats.hardware.nvidia_smi_samples import Metrics, statistics, summarise


def metrics(samples: HardwareSamples) -> tuple[Metrics, list[str]]:
    """Return the statistics of a capture's samples (``utilization_gpu_mean``), and notes on what is missing."""
    found: Metrics = {}
    notes: list[str] = []
    if samples.gpu_header:
        rows = list(enumerate(samples.gpu_rows, start=1))
        try:
            found |= summarise(Table("samples of the GPU", tuple(samples.gpu_header), rows, ","), None, notes)
        except InputError as error:
            notes.append(f"no hardware metrics of the GPU: {error}")
    for name, values in samples.host.items():
        found |= statistics(values, name)
    if samples.waited is not None:
        found["run_queue_waited_share"] = samples.waited
    return found, notes
