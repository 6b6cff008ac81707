"""XSpace files of TensorFlow and JAX, recorded on the CPU or made up as a GPU writes them, against xprof."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from profet.errors import InputError
from profet.profiles.formats.recognition import looks_like_xplane
from profet.profiles.formats.xplane import reader as xplane
from profet.profiles.formats.xplane.names import hlo_operation
from profet.profiles.traces.intervals import parents, self_times
from profet.profiles.traces.trace import NO_OPERATION, HostEvents, Trace
from tests.profiles import recordings
from tests.profiles.xplane_files import PlaneMaker, RawLine, field_of, jax_on_gpu, space, tensorflow_on_gpus, varint

Sums = dict[str, list[float]]


@pytest.fixture(scope="session")
def tensorflow() -> Path:
    return recordings.python_with("tensorflow")


@pytest.fixture(scope="session")
def jax() -> Path:
    return recordings.python_with("jax")


@pytest.fixture(scope="session")
def recorded(tensorflow: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Record with TensorFlow, each way once."""
    folder = tmp_path_factory.mktemp("tensorflow")

    def record(how: str) -> Path:
        path = folder / f"{how}.xplane.pb"
        if not path.exists():
            recordings.run(tensorflow, "record_tensorflow.py", how, path)
        return path

    return record


def read(content: bytes) -> Trace:
    assert looks_like_xplane(content[:64])
    return xplane.read(content, "x.xplane.pb")


def host_sums(trace: Trace) -> Sums:
    """Self time and executions of the host's operations by type."""
    operations = HostEvents(*(getattr(trace.host, each)[trace.host.is_operation] for each in vars(trace.host)))
    parent = parents(operations.lane, operations.start_us, operations.end_us)
    times = self_times(operations.start_us, operations.end_us, parent)
    return _sums(trace, operations.name, times)


def device_sums(trace: Trace) -> Sums:
    """Time and executions of the devices by the type of the operation that launched."""
    return _sums(trace, trace.device.operation, trace.device.end_us - trace.device.start_us)


def _sums(trace: Trace, name: np.ndarray, times: np.ndarray) -> Sums:
    sums: Sums = {}
    for number, time in zip(name.tolist(), times.tolist(), strict=True):
        total = sums.setdefault(trace.names[number], [0.0, 0.0])
        total[0] += time
        total[1] += 1
    return sums


def assert_equal(ours: Sums, theirs: Sums) -> None:
    assert {kind: calls for kind, (_, calls) in ours.items()} == {
        kind: calls for kind, (_, calls) in theirs.items()
    }
    for kind, (time, _) in theirs.items():
        assert ours[kind][0] == pytest.approx(time, rel=1e-6, abs=0.002), kind


@pytest.mark.parametrize("how", ["keras", "marked"])
def test_sums_by_type_are_those_of_xprof(recorded: Callable[[str], Path], tensorflow: Path, how: str) -> None:
    path = recorded(how)
    ours, theirs = host_sums(read(path.read_bytes())), recordings.xprof_sums(tensorflow, path)
    assert_equal(ours, theirs["Host"])
    assert theirs["Device"] == {}
    assert ours["Conv2DBackpropFilter"][1] == 3


@pytest.mark.parametrize(("how", "labels"), [("keras", "1 2 3"), ("marked", "10 11 12"), ("unmarked", "")])
def test_steps_are_those_that_are_marked_or_that_keras_runs(
    recorded: Callable[[str], Path], how: str, labels: str
) -> None:
    trace = read(recorded(how).read_bytes())
    assert [step.label for step in trace.steps] == labels.split()
    assert trace.framework == "tensorflow"
    assert len(trace.device) == 0
    convolutions = trace.host.start_us[trace.host.name == trace.names.index("_FusedConv2D")]
    for step in trace.steps:
        inside = (step.start_us <= convolutions) & (convolutions <= step.end_us)
        assert inside.sum() == 1
    assert all(a.end_us <= b.start_us for a, b in zip(trace.steps, trace.steps[1:], strict=False))


def test_operations_nest_and_ranges_lie_around_them(recorded: Callable[[str], Path]) -> None:
    host = read(recorded("keras").read_bytes()).host
    parent = parents(host.lane, host.start_us, host.end_us)
    inside = np.flatnonzero(parent >= 0)
    assert len(inside)
    assert (host.end_us[inside] <= host.end_us[parent[inside]]).all()
    assert not (host.is_operation[parent[inside]] & ~host.is_operation[inside]).any()
    assert host.start_us.min() == 0.0


def test_jax_on_the_cpu_is_what_jax_reads_of_it(jax: Path, tmp_path: Path) -> None:
    path = tmp_path / "jax.xplane.pb"
    theirs = json.loads(recordings.run(jax, "record_jax.py", path).splitlines()[-1])
    trace = read(path.read_bytes())
    expected: dict[str, float] = {}
    for operation, time in theirs.items():
        expected[hlo_operation(operation)] = expected.get(hlo_operation(operation), 0.0) + time
    host = trace.host
    ours = _sums(trace, host.name[host.is_operation], (host.end_us - host.start_us)[host.is_operation])
    assert {kind: time for kind, (time, _) in ours.items()} == pytest.approx(expected, rel=1e-6, abs=0.002)
    assert (trace.framework, trace.framework_version) == ("jax", "0.10.2")
    assert [step.label for step in trace.steps] == ["5", "6", "7"]


@pytest.mark.parametrize("gpus", [1, 3])
def test_gpu_time_by_the_operation_that_launched_is_that_of_xprof(
    tensorflow: Path, tmp_path: Path, gpus: int
) -> None:
    path = tmp_path / "gpu.xplane.pb"
    path.write_bytes(tensorflow_on_gpus(gpus))
    trace, theirs = read(path.read_bytes()), recordings.xprof_sums(tensorflow, path)
    assert_equal(device_sums(trace), theirs["Device"])
    assert_equal(host_sums(trace), theirs["Host"])


def test_a_gpu_trace_tells_kernels_copies_launches_devices_and_steps() -> None:
    trace = read(tensorflow_on_gpus(gpus=2))
    device = trace.device
    assert {trace.names[each] for each in device.name} == {
        "MemcpyH2D",
        "implicit_convolve_sgemm",
        "volta_sgemm_128x64",
    }
    assert sorted(set(device.device.tolist())) == [0, 1]
    assert trace.device_names == {0: "Tesla T4", 1: "Tesla T4"}
    assert device_sums(trace)["MatMul"] == [pytest.approx(2 * 3 * 180.25), 12]
    assert device.start_us - device.launch_us == pytest.approx(16.0)  # 15 µs, and lines that start 1 µs apart
    assert trace.launches == 24
    assert [(step.label, step.length_us) for step in trace.steps] == [("5", 900), ("6", 900), ("7", 900)]
    assert trace.warnings == ()


def test_jax_on_a_gpu_goes_by_hlo_category_else_by_hlo_operation() -> None:
    trace = read(jax_on_gpu())
    assert device_sums(trace) == {"cudnn-conv-bias": [400.0, 2], "loop fusion": [200.0, 2]}
    assert np.isnan(trace.device.launch_us).all()
    assert (trace.framework, trace.framework_version) == ("jax", "0.10.2")
    assert [step.label for step in trace.steps] == ["0", "1"]


def test_steps_of_the_device_count_where_the_host_marks_none() -> None:
    gpu = PlaneMaker("/device:GPU:0")
    stream, steps = gpu.line("Stream #1"), gpu.line("Steps")
    for number in range(2):
        steps.event(str(number + 3), number * 100, 90)
        stream.event("kernel", number * 100 + 5, 50)
    trace = read(space(gpu))
    assert [(step.label, step.length_us) for step in trace.steps] == [("3", 90.0), ("4", 90.0)]
    assert trace.device.operation.tolist() == [NO_OPERATION] * 2
    assert trace.framework == "unknown"


def test_validation_and_a_second_function_do_not_pass_for_training_steps() -> None:
    host = PlaneMaker("/host:CPU")
    line = host.line("python")
    for at, name in enumerate(("train", "test", "train", "test", "test")):
        line.event(name, at * 10, 8, step_num=at)
        line.event("MatMul:MatMul", at * 10 + 1, 3)
    assert [step.label for step in read(space(host)).steps] == ["0", "2"]
    calls = PlaneMaker("/host:CPU")
    for at, number in enumerate((7, 7, 9)):
        line = calls.line("python")
        line.event(f"EagerLocalExecute: __inference_multi_step_on_iterator_{number}", at * 10, 8)
        line.event("MatMul:MatMul", at * 10 + 1, 3)
    assert read(space(calls)).steps == ()


def test_operations_that_cross_are_left_out_as_xprof_does(tensorflow: Path, tmp_path: Path) -> None:
    host = PlaneMaker("/host:CPU")
    line = host.line("thread")
    for name, start, length in (("a:Conv2D", 0, 10), ("b:MatMul", 5, 10), ("c:Relu", 6, 1), ("d:MatMul", 20, 4)):
        line.event(name, start, length)
    line.event("a range that crosses", 22, 9)
    path = tmp_path / "crossing.xplane.pb"
    path.write_bytes(space(host))
    trace, theirs = read(path.read_bytes()), recordings.xprof_sums(tensorflow, path)["Host"]
    assert {kind: calls for kind, (_, calls) in host_sums(trace).items()} == {"Conv2D": 1, "Relu": 1, "MatMul": 1}
    assert theirs["MatMul"] == [4.0, 1]
    assert trace.warnings == ("1 operations cross others of their thread and are left out, as xprof does",)


def test_memory_events_totals_and_nameless_events_are_no_kernels() -> None:
    gpu = PlaneMaker("/device:GPU:0")
    stream, counters = gpu.line("Stream #1"), gpu.line("Counters")
    stream.event("kernel", 0, 5)
    stream.event("MemoryAlloc", 1, 500, memalloc_details="kind:device num_bytes:8")
    stream.event("kernel", 0, 70).num_occurrences = 2**62
    stream.event("kernel", 8, 70).metadata_id = 999
    counters.event("power_mw", 0, 400)
    trace = read(space(gpu, errors=("CUPTI\nhas no rights",)))
    assert (trace.device.end_us - trace.device.start_us).tolist() == [5.0]
    assert trace.warnings == (
        "1 events tell totals without a time and are left out",
        "1 events have no name and are left out",
        "the profiler says: CUPTI has no rights",
    )


def test_a_trace_without_operations_says_what_the_profiler_says() -> None:
    host = PlaneMaker("/host:CPU")
    host.line("python").event("tf.constant", 0, 5)
    with pytest.raises(InputError, match=r"^x\.xplane\.pb: no operations .*CUPTI is missing.*; record again"):
        read(space(host, errors=("CUPTI is missing",)))
    tpu = PlaneMaker("/device:TPU:0")
    tpu.line("XLA Ops").event("fusion", 0, 5)
    with pytest.raises(InputError, match=r"operations of /device:TPU:0 only, which is no GPU; record again"):
        read(space(tpu))


def test_wrappers_of_whole_functions_are_not_counted_beside_what_they_hold() -> None:
    host = PlaneMaker("/host:CPU")
    line = host.line("python")
    line.event("StatefulPartitionedCall:__inference_step_12", 0, 100)
    line.event("a/MatMul:MatMul", 10, 30)
    assert host_sums(read(space(host))) == {"MatMul": [30.0, 1]}


def test_an_operation_told_by_a_stat_can_differ_at_each_event_of_a_name() -> None:
    host = PlaneMaker("/host:CPU")
    line = host.line("thread")
    for at, operation in enumerate(("dot.3", "fusion.1", "dot.4")):
        line.event("thunk", at * 10, 5, hlo_op=operation, hlo_module="jit_step")
        line.event("executor", at * 10 + 6, 2, tf_op="a/Relu:Relu" if at else "b/Mul:Mul")
    trace = read(space(host))
    assert host_sums(trace) == {"dot": [10.0, 2], "fusion": [5.0, 1], "Mul": [2.0, 1], "Relu": [4.0, 2]}


def test_launches_are_no_operations_of_their_own_though_they_name_one() -> None:
    host, gpu = PlaneMaker("/host:CPU"), PlaneMaker("/device:GPU:0")
    calls, stream = host.line("Host Threads/1"), gpu.line("Stream #1")
    for at, operation in enumerate(("a:Conv2D", "b:Relu")):
        calls.event("cuLaunchKernel", at * 10, 5, correlation_id=at + 1, tf_op=operation)
        stream.event("kernel", at * 10 + 20, 3, correlation_id=at + 1, tf_op=operation)
    trace = read(space(host, gpu))
    assert len(trace.host) == 0
    assert device_sums(trace) == {"Conv2D": [3.0, 1], "Relu": [3.0, 1]}
    assert trace.device.launch_us.tolist() == [0.0, 10.0]


def test_every_event_of_a_long_line_counts_wherever_its_own_facts_stand() -> None:
    gpu = PlaneMaker("/device:GPU:0")
    stream = gpu.line("", timestamp_ns=0)
    for at in range(25_001):
        stream.event("kernel", at, 0.5, kernel_details="regs:32 " + "x" * 90)
    late = field_of(2, b"Stream #1") + b"\x18" + varint(3000)  # its name and timestamp
    gpu.lines.append(RawLine(stream.message.SerializeToString().removeprefix(b"\x12\x00\x18\x00") + late))
    del gpu.lines[0]
    other = gpu.line("Stream #2", timestamp_ns=1000)
    other.event("kernel", 0, 1)
    device = read(space(gpu)).device
    assert len(device) == 25_002
    assert device.start_us[:25_001] == pytest.approx(np.arange(25_001) + 2.0)
