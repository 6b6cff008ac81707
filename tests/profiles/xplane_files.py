"""Makes XSpace files: a whole one of planes, lines, events and stats, in the schema that the reader declares."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from profet.profiles.formats.xplane import schema as xplane_schema

Stats = Mapping[str, int | float | str]

_LINE: Any = xplane_schema.LINE
_ENTRY: Any = xplane_schema.ENTRY
_METADATA: Any = xplane_schema.METADATA
_EVENT_METADATA: Any = xplane_schema.EVENT_METADATA
_PLANE: Any = xplane_schema.PLANE


@dataclass
class RawLine:
    """A line whose fields stand in an order of their own."""

    content: bytes

    def SerializeToString(self) -> bytes:  # noqa: N802
        return self.content


@dataclass
class PlaneMaker:
    """One plane; text of stats is written as references, as profilers do."""

    name: str
    stats: Stats = field(default_factory=dict)
    lines: list[Any] = field(default_factory=list)
    event_ids: dict[str, int] = field(default_factory=dict)
    stat_ids: dict[str, int] = field(default_factory=dict)
    of_names: dict[str, Stats] = field(default_factory=dict)

    def line(self, name: str, timestamp_ns: int = 0) -> "LineMaker":
        message = _LINE(name=name.encode(), timestamp_ns=timestamp_ns)
        self.lines.append(message)
        return LineMaker(self, message)

    def describe(self, event_name: str, stats: Stats) -> None:
        """Give all events of a name these stats."""
        self.of_names[event_name] = stats

    def fill(self, stats: Any, values: Stats) -> None:
        for name, value in values.items():
            stat = stats.add(metadata_id=self._stat_id(name))
            if isinstance(value, str):
                stat.ref_value = self._stat_id(value)
            elif isinstance(value, float):
                stat.double_value = value
            else:
                stat.int64_value = value

    def _stat_id(self, name: str) -> int:
        return self.stat_ids.setdefault(name, len(self.stat_ids) + 1)

    def bytes(self) -> bytes:
        plane = _PLANE(name=self.name.encode())
        self.fill(plane.stats, self.stats)
        parts = [plane.SerializeToString(), *(field_of(3, line.SerializeToString()) for line in self.lines)]
        for name, number in self.event_ids.items():
            metadata = _EVENT_METADATA(id=number, name=name.encode())
            self.fill(metadata.stats, self.of_names.get(name, {}))
            parts.append(field_of(4, _ENTRY(key=number, value=metadata.SerializeToString()).SerializeToString()))
        for name, number in self.stat_ids.items():
            text = _METADATA(id=number, name=name.encode()).SerializeToString()
            parts.append(field_of(5, _ENTRY(key=number, value=text).SerializeToString()))
        return b"".join(parts)


@dataclass
class LineMaker:
    """One line of a plane; times in µs from its timestamp."""

    plane: PlaneMaker
    message: Any

    def event(self, name: str, start_us: float, length_us: float, **stats: int | float | str) -> Any:
        ids = self.plane.event_ids
        event = self.message.events.add(
            metadata_id=ids.setdefault(name, len(ids) + 1),
            offset_ps=round(start_us * 1e6),
            duration_ps=round(length_us * 1e6),
        )
        self.plane.fill(event.stats, stats)
        return event


def field_of(number: int, content: bytes) -> bytes:
    """A field that holds a message, as it stands in a file."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    """A number as it stands in a file."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def space(*planes: PlaneMaker, errors: tuple[str, ...] = ()) -> bytes:
    """A whole file."""
    return b"".join(
        [*(field_of(1, plane.bytes()) for plane in planes), *(field_of(2, error.encode()) for error in errors)]
    )


def tensorflow_on_gpus(gpus: int = 1, steps: int = 3) -> bytes:
    """What TensorFlow records with GPUs: a thread that launches, marks of steps, streams and derived lines."""
    host = PlaneMaker("/host:CPU")
    thread = host.line("python", timestamp_ns=1000)
    calls = PlaneMaker("/host:CUPTI").line("Host Threads/77", timestamp_ns=1000)
    planes = [PlaneMaker(f"/device:GPU:{n}", {"gpu_device_name": "Tesla T4"}) for n in range(gpus)]
    compute = [plane.line("Stream #14(Compute,MemcpyH2D)", timestamp_ns=2000) for plane in planes]
    derived = [plane.line("TensorFlow Ops", timestamp_ns=2000) for plane in planes]
    number = 100
    for step in range(steps):
        at = step * 1000.0
        thread.event("train", at, 900, step_num=step + 5, _r=1)
        thread.event("model/conv/Conv2D:Conv2D", at + 10, 50)
        thread.event("model/dense/MatMul:MatMul", at + 70, 20)
        for stream, line in zip(compute, derived, strict=True):
            for name, operation, start, length in (
                ("MemcpyH2D", "IteratorGetNext:IteratorGetNext", 20, 30),
                ("implicit_convolve_sgemm", "model/conv/Conv2D:Conv2D", 60, 200.5),
                ("volta_sgemm_128x64", "model/dense/MatMul:MatMul", 300, 100.25),
                ("volta_sgemm_128x64", "gradient_tape/model/dense/MatMul/MatMul_1:MatMul", 450, 80),
            ):
                number += 1
                calls.event("cuLaunchKernel", at + start - 15, 5, correlation_id=number, device_id=0)
                stream.event(name, at + start, length, correlation_id=number, tf_op=operation, is_eager=0)
                line.event(operation, at + start, length)
    return space(host, calls.plane, *planes)


def jax_on_gpu() -> bytes:
    """What JAX records with a GPU: HLO operations on a stream, one of them with its category."""
    host, gpu = PlaneMaker("/host:CPU"), PlaneMaker("/device:GPU:0")
    version = PlaneMaker("/host:metadata", {"jax_version": "0.10.2"})
    thread, stream, modules = host.line("python"), gpu.line("Stream #16(Compute)"), gpu.line("XLA Modules")
    gpu.describe("loop_fusion_7", {"hlo_category": "loop fusion"})
    for step in range(2):
        at = step * 500.0
        thread.event("train", at, 450, step_num=step)
        thread.event("PjitFunction(step)", at + 5, 40)
        stream.event("cudnn_conv", at + 50, 200, hlo_op="cudnn-conv-bias.3", hlo_module="jit_step", program_id=4)
        stream.event("loop_fusion_7", at + 260, 100, hlo_op="loop_fusion.7.clone.1", hlo_module="jit_step")
        modules.event("jit_step(4)", at + 50, 310)
    return space(version, host, gpu)
