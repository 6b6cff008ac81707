"""What a capture leaves for a profile to be made of: a trace, and this beside it."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

RECORDING_FILE = "recording.json"
PROBLEM_FILE = "problem.txt"
TORCH_TRACE, XPLANE_TRACE = "trace.json", "trace.xplane.pb"


@dataclass(frozen=True)
class HardwareSamples:
    """What the hardware did while steps were timed.

    Args:
        gpu_header: columns of the samples of the GPU, named as nvidia-smi names them, such as ``"power.draw [W]"``.
        gpu_rows: cells of each sample.
        host: samples of the machine by metric.
        waited: share of the time in which this process's threads were ready to run and had no core; None where
            the system does not tell.
        notes: what could not be sampled, and what to do about it.
    """

    gpu_header: list[str] = field(default_factory=list)
    gpu_rows: list[list[str]] = field(default_factory=list)
    host: dict[str, list[float]] = field(default_factory=dict)
    waited: float | None = None
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Recording:
    """What was recorded beside a trace.

    Args:
        framework: what trained, such as ``"pytorch"``.
        framework_version: of that framework.
        device: ``"cuda"`` or ``"cpu"``.
        trace: name of the trace's file, in the same folder.
        latency_samples_ms: latency of each step that was timed, the profiler off.
        hardware: sampled while steps were timed.
        batch_size: samples per step; None where only the trace can tell.
        pixels: width and height of the input; None where only the trace can tell.
        optimizers: how many optimizers a step runs; 0 where unknown.
        notes: what had to be assumed.
    """

    framework: str
    framework_version: str
    device: str
    trace: str
    latency_samples_ms: list[float]
    hardware: HardwareSamples = field(default_factory=HardwareSamples)
    batch_size: int | None = None
    pixels: int | None = None
    optimizers: int = 0
    notes: list[str] = field(default_factory=list)


def write_recording(recording: Recording, folder: Path) -> None:
    """Write a recording into the folder of its trace; it appears whole."""
    _write(folder / RECORDING_FILE, json.dumps(asdict(recording)))


def write_problem(problem: str, folder: Path) -> None:
    """Write why there will be no recording."""
    _write(folder / PROBLEM_FILE, problem)


def _write(path: Path, text: str) -> None:
    beside = path.with_suffix(".part")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
