"""Makes chrome traces as PyTorch's profiler writes them, in the words of its old and of its new generation."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NEW = {"operation": "cpu_op", "range": "user_annotation", "launch": "cuda_runtime", "kernel": "kernel"}
NEW |= {"memcpy": "gpu_memcpy", "memset": "gpu_memset", "id": "External id"}
OLD = {"operation": "Operator", "range": "Operator", "launch": "Runtime", "kernel": "Kernel"}
OLD |= {"memcpy": "Memcpy", "memset": "Memset", "id": "external id"}
GENERATIONS = {"new": NEW, "old": OLD}


@dataclass
class ChromeFile:
    """Events in the order in which they are added; times are µs."""

    generation: str = "new"
    events: list[dict[str, Any]] = field(default_factory=list)
    devices: list[str] = field(default_factory=lambda: ["Tesla V100"])
    ids: int = 0

    @property
    def words(self) -> dict[str, str]:
        return GENERATIONS[self.generation]

    def host(self, name: str, ts: float, dur: float, tid: int = 1, kind: str = "operation") -> int:
        """Add an operation or a range; return its id."""
        self.ids += 1
        arguments = {"External id": self.ids}
        self._add(self.words[kind], name, ts, dur, 77, tid, arguments)
        return self.ids

    def step(self, number: int, ts: float, dur: float) -> None:
        self.host(f"ProfilerStep#{number}", ts, dur, kind="range")

    def kernel(
        self,
        name: str,
        ts: float,
        dur: float,
        launched: float | None = None,
        by: int = 0,
        gpu: int = 0,
        kind: str = "kernel",
        tid: int = 1,
        launcher: bool = True,
    ) -> None:
        """Add a kernel (or a copy or a fill) and, where it is known when it was launched, its launch."""
        self.ids += 1
        correlation = 1000 + self.ids
        if launched is not None:
            arguments = {"correlation": correlation} | ({self.words["id"]: by} if launcher else {})
            self._add(self.words["launch"], "cudaLaunchKernel", launched, 2.0, 77, tid, arguments)
        of_kernel = {"device": gpu, "stream": 7, "correlation": correlation} | (
            {self.words["id"]: by} if by else {}
        )
        self._add(self.words[kind], name, ts, dur, gpu, "stream 7", of_kernel)

    def launched(
        self, operation: str, kernel: str, ts: float, dur: float, gpu: int = 0, kind: str = "kernel"
    ) -> None:
        """Add an operation of 4 µs and the kernel that it launches, which runs dur from ts + 5 on."""
        by = self.host(operation, ts, 4.0)
        self.kernel(kernel, ts + 5, dur, ts + 1, by, gpu, kind)

    def _add(
        self, cat: str, name: str, ts: float, dur: float, pid: int, tid: int | str, args: dict[str, Any]
    ) -> None:
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}
        )

    def text(self) -> str:
        properties = [{"id": index, "name": name} for index, name in enumerate(self.devices)]
        document = {"schemaVersion": 1, "deviceProperties": properties, "traceEvents": self.events}
        return json.dumps(document | {"traceName": "x.json"}, indent=1)

    def write(self, path: Path) -> Path:
        path.write_text(self.text())
        return path


def training(
    generation: str = "new", steps: int = 3, marked: bool = True, gpus: tuple[int, ...] = (0,)
) -> ChromeFile:
    """Steps of 1000 µs: a convolution of 100, its backward of 200 + 150, an optimizer's 20, a copy of 30."""
    trace = ChromeFile(generation)
    for number in range(steps):
        start = 10_000.0 + 1000 * number
        if marked:
            trace.step(number + 7, start, 1000.0)
        for gpu in gpus:
            scale = 1 + gpu
            trace.launched("aten::copy_", "Memcpy HtoD (Pinned -> Device)", start + 5, 30 * scale, gpu, "memcpy")
            trace.launched("aten::cudnn_convolution", "volta_scudnn_relu_nn", start + 50, 100 * scale, gpu)
            backward = trace.host("aten::convolution_backward", start + 300, 20.0)
            trace.kernel("dgrad_engine", start + 310, 200 * scale, start + 302, backward, gpu)
            trace.kernel("wgrad_alg0_engine", start + 310 + 200 * scale, 150 * scale, start + 304, backward, gpu)
        trace.host("Optimizer.step#SGD.step", start + 900, 60.0, kind="range")
        add = trace.host("aten::add_", start + 905, 4.0)
        trace.kernel("vectorized_elementwise_kernel", start + 910, 20, start + 906, add, gpus[0])
    return trace
