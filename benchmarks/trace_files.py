"""A trace of any size, as PyTorch's profiler writes it: ``python -m benchmarks.trace_files 1000000 FILE[.gz]``.

Every operation is an outer and an inner one on the host, a launch, a kernel, and the arrow from launch to kernel:
six events. What is in it is known exactly, so that a reader's sums can be checked at any size.
"""

import gzip
import sys
from collections.abc import Iterator
from pathlib import Path

EVENTS_PER_OPERATION = 6
OPERATIONS_PER_STEP = 1600
KERNEL_US, GAP_US = 30.5, 4.25
START_US = 4382561608461.25

OPERATIONS = (
    ("aten::conv2d", "aten::cudnn_convolution", "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nhwckrsc_nchw"),
    (
        "aten::batch_norm",
        "aten::cudnn_batch_norm",
        "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512>",
    ),
    ("aten::relu", "aten::clamp_min", "void at::native::vectorized_elementwise_kernel<4, at::native::clamp_min>"),
    ("aten::linear", "aten::addmm", "ampere_sgemm_128x64_tn"),
)
"""Outer operation, inner operation, kernel."""

_EVENT = """  {{
    "ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, "tid": {tid},
    "ts": {ts:.3f}, "dur": {dur:.3f},
    "args": {{
      {args}
    }}
  }},
"""
_ARROW = """  {{
    "ph": "{ph}", "id": {id}, "pid": {pid}, "tid": {tid}, "ts": {ts:.3f},
    "cat": "ac2g", "name": "ac2g"{end}
  }},
"""
_KERNEL_ARGS = (
    '"External id": {id}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {corr},'
    ' "registers per thread": 32, "shared memory": 0, "blocks per SM": 12.5, "warps per SM": 50.0,'
    ' "grid": [1024, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 100'
)
_HOST, _GPU = {"pid": 4711, "tid": 4711}, {"pid": 0, "tid": 7}


def write_trace(path: Path, events: int) -> int:
    """Write a trace of about so many events, whole steps; return how many steps it has."""
    steps = max(1, round(events / (EVENTS_PER_OPERATION * OPERATIONS_PER_STEP)))
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as stream:
        stream.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n')
        stream.write('    {"id": 0, "name": "NVIDIA A10G", "totalGlobalMem": 23609475072}\n  ],\n')
        stream.write('  "displayTimeUnit": "ms",\n  "traceEvents": [\n')
        for number in range(steps):
            stream.writelines(_step(number))
        stream.write('  {"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 1}\n')
        stream.write('  ],\n  "traceName": "benchmark"\n}\n')
    return steps


def step_us() -> float:
    """Length of every step."""
    return OPERATIONS_PER_STEP * (KERNEL_US + GAP_US)


def _step(number: int) -> Iterator[str]:
    start = START_US + number * step_us()
    first = number * OPERATIONS_PER_STEP
    args = f'"External id": {1 + 3 * first}, "Record function id": 0, "Ev Idx": {first}'
    yield _EVENT.format(
        cat="user_annotation", name=f"ProfilerStep#{number}", ts=start, dur=step_us(), args=args, **_HOST
    )
    for index in range(OPERATIONS_PER_STEP):
        yield _operation(first + index, start + index * (KERNEL_US + GAP_US))


def _operation(index: int, ts: float) -> str:
    outer, inner, kernel = OPERATIONS[index % len(OPERATIONS)]
    corr, outer_id = 100 + index, 2 + 3 * index
    inner_id = outer_id + 1
    shapes = '"Record function id": 0, "Concrete Inputs": [], "Ev Idx": 471'
    launch = {"id": corr, "ph": "s", "ts": ts + 2.5, "end": ""}
    landing = {"id": corr, "ph": "f", "ts": ts + 3.75, "end": ', "bp": "e"'}
    return "".join(
        (
            _EVENT.format(
                cat="cpu_op", name=outer, ts=ts, dur=30.0, args=f'"External id": {outer_id}, {shapes}', **_HOST
            ),
            _EVENT.format(
                cat="cpu_op", name=inner, ts=ts + 1, dur=20.0, args=f'"External id": {inner_id}, {shapes}', **_HOST
            ),
            _EVENT.format(
                cat="cuda_runtime",
                name="cudaLaunchKernel",
                ts=ts + 2.5,
                dur=6.0,
                args=f'"External id": {inner_id}, "cbid": 211, "correlation": {corr}',
                **_HOST,
            ),
            _ARROW.format(**launch, **_HOST),
            _EVENT.format(
                cat="kernel",
                name=kernel,
                ts=ts + 3.75,
                dur=KERNEL_US,
                args=_KERNEL_ARGS.format(id=inner_id, corr=corr),
                **_GPU,
            ),
            _ARROW.format(**landing, **_GPU),
        )
    )


if __name__ == "__main__":
    target = Path(sys.argv[2])
    print(f"{target}: {write_trace(target, int(sys.argv[1]))} steps, {target.stat().st_size / 1e6:.0f} MB")
