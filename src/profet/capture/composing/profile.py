"""A profile of a recording: the trace read as any other, the latency of the timed steps, the hardware beside it."""

import statistics
from pathlib import Path

import msgspec

from profet.capture import stability
from profet.capture.composing.first_step import from_first_step
from profet.capture.composing.hardware_metrics import metrics
from profet.capture.composing.input_sizes import InputSizes, sizes_of
from profet.capture.composing.torch_trace import refined
from profet.capture.composing.user_names import without_user_names
from profet.capture.destination import Captured
from profet.capture.recording import TORCH_TRACE, Recording
from profet.errors import InputError
from profet.profiles.formats.pytorch import chrome_trace
from profet.profiles.formats.source import open_source
from profet.profiles.formats.xplane import reader as xplane
from profet.profiles.reading import Reading, ReadOptions
from profet.profiles.traces.doubts import odd_warnings
from profet.profiles.traces.summary import summarise
from profet.quantities import US_PER_MS

_LONG = 1.5
"""A profiled step this many times as long as the median one held something else, such as a validation."""

_ON_A_CPU = "no GPU in the trace: "
_MOST_XPLANE_BYTES = 512 * 1024 * 1024

_WHERE = "the captured trace"


def compose(
    recording: Recording, folder: Path, instance: str | None, batch_size: int | None, pixels: int | None
) -> Captured:
    """Make a profile of a recording.

    Args:
        recording: what was recorded.
        folder: where its trace lies.
        instance: machine type that the training ran on; None where unknown.
        batch_size: samples per step; None to take what the trace tells.
        pixels: width and height of the input; None to take what the trace tells.

    Raises:
        InputError: the trace holds what no profile can.
    """
    if not recording.latency_samples_ms:
        raise InputError("the capture timed no steps; capture again")
    latency_ms = statistics.median(recording.latency_samples_ms)
    reading, sizes = _read(recording, folder, ReadOptions(step_latency_ms=latency_ms))
    hardware, notes = metrics(recording.hardware)
    profiled_ms = statistics.median(step.length_us for step in reading.steps) / US_PER_MS
    overhead = profiled_ms / latency_ms - 1.0
    warnings = [
        *recording.notes,
        *reading.profile.warnings,
        *stability.notes(recording.latency_samples_ms, overhead, recording.hardware.waited),
        *recording.hardware.notes,
        *notes,
    ]
    try:
        profile = msgspec.structs.replace(
            reading.profile,
            instance=instance,
            framework_version=recording.framework_version[:100],
            latency_samples_ms=list(recording.latency_samples_ms),
            batch_size=batch_size or recording.batch_size or sizes.batch_size,
            pixels=pixels or recording.pixels or sizes.pixels,
            hardware=hardware or None,
            warnings=warnings,
        )
    except ValueError as error:
        raise InputError(f"{_WHERE}: {error}") from None
    return Captured(Reading(profile, reading.steps, reading.devices), overhead)


def _read(recording: Recording, folder: Path, options: ReadOptions) -> tuple[Reading, InputSizes]:
    """Read a recording's trace; steps that held something else are left out."""
    path, sizes = folder / recording.trace, InputSizes()
    with open_source(path) as source:
        if recording.trace == TORCH_TRACE:
            trace, steps = refined(chrome_trace.read(source))
            sizes = InputSizes() if recording.optimizers > 1 else sizes_of(path, steps)
        else:
            content = source.read(_MOST_XPLANE_BYTES, "trace")
            trace = from_first_step(xplane.read(content, _WHERE))
    trace = without_user_names(trace)
    reading = summarise(trace, _WHERE, options)
    long = _long_steps(reading)
    if long:
        rest = ReadOptions(step_latency_ms=options.step_latency_ms, leave_out_steps=long)
        told = f"{len(long)} of {len(reading.steps)} profiled steps took over {_LONG:g} times the median one and"
        reading = summarise(trace, _WHERE, rest).with_warnings(
            f"{told} are left out: did a validation or a checkpoint fall into them?"
        )
    return _without(reading), sizes


def _long_steps(reading: Reading) -> tuple[str, ...]:
    """Return the labels of steps that held something else; none where that were half of them."""
    middle = statistics.median(step.length_us for step in reading.steps)
    long = tuple(step.label for step in reading.steps if step.length_us > _LONG * middle)
    return long if len(long) * 2 < len(reading.steps) else ()


def _without(reading: Reading) -> Reading:
    """Leave out warnings that tell how to do what a capture does by itself, or that the CPU is what trained."""
    odd = odd_warnings(reading)
    kept = [each for each in reading.profile.warnings if each not in odd and not each.startswith(_ON_A_CPU)]
    return Reading(msgspec.structs.replace(reading.profile, warnings=kept), reading.steps, reading.devices)
