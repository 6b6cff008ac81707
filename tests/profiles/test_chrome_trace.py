"""PyTorch's traces of every generation become profiles: joined, split, by step and by device."""

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from profet.errors import InputError
from profet.profiles.formats import Reading, ReadOptions, read_file
from tests.conftest import DATA
from tests.profiles.chrome_files import ChromeFile, training

RESNET = DATA / "traces" / "resnet50_v100.pt.trace.json.gz"

FAMILY_OF = {
    "aten::cudnn_convolution": "conv_forward",
    "aten::cudnn_convolution_backward_input": "conv_backward_data",
    "aten::cudnn_convolution_backward_weight": "conv_backward_filter",
    "aten::cudnn_batch_norm": "norm_forward",
    "aten::cudnn_batch_norm_backward": "norm_backward",
    "aten::clamp_min": "activation_forward",
    "aten::threshold_backward": "activation_backward",
    "aten::max_pool2d_with_indices": "pool_forward",
    "aten::mean": "pool_forward",
    "aten::max_pool2d_with_indices_backward": "pool_backward",
    "aten::addmm": "matmul",
    "aten::mm": "matmul",
    "aten::copy_": "copy",
    "aten::sum": "bias_backward",
    "aten::_log_softmax": "loss",
    "aten::_log_softmax_backward_data": "loss",
    "aten::nll_loss_forward": "loss",
    "aten::nll_loss_backward": "loss",
}
"""What the operations of the public trace do, written down beside its own list of them."""


def read(trace: ChromeFile, folder: Path, **options: Any) -> Reading:
    return read_file(trace.write(folder / "trace.json"), ReadOptions(**options))


@pytest.fixture(scope="module")
def resnet() -> Path:
    if not RESNET.is_file():
        pytest.skip(f"the public trace is not at {RESNET}; set PROFET_TEST_DATA to where the public data is")
    return RESNET


@pytest.fixture(scope="module")
def resnet_events(resnet: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(gzip.decompress(resnet.read_bytes()))["traceEvents"]
    return events


def counted(events: list[dict[str, Any]]) -> dict[str, tuple[float, float, Counter[str], Counter[str]]]:
    """Count a trace plainly: by step its length, busy time, device time by family, and kernels by family."""
    operations = {e["args"]["External id"]: e for e in events if e.get("cat") == "Operator"}
    launches = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") == "Runtime"}
    marks = [e for e in events if e["name"].startswith("ProfilerStep#")]
    optimizers = [e for e in events if e["name"].startswith("Optimizer.step#")]
    result = {}
    for mark in marks:
        busy: list[tuple[float, float]] = []
        families: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        for event in events:
            if event.get("cat") not in {"Kernel", "Memcpy", "Memset"}:
                continue
            at = launches[event["args"]["correlation"]]
            if not mark["ts"] <= at < mark["ts"] + mark["dur"]:
                continue
            name = operations[event["args"]["external id"]]["name"]
            family = FAMILY_OF.get(name, "elementwise")
            if any(e["ts"] <= at <= e["ts"] + e["dur"] for e in optimizers):
                family = "optimizer"
            families[family] += event["dur"]
            calls[family] += 1
            busy.append((event["ts"], event["ts"] + event["dur"]))
        total, reached = 0.0, 0.0
        for start, end in sorted(busy):
            total += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        result[mark["name"].removeprefix("ProfilerStep#")] = (mark["dur"], total, families, calls)
    return result


def test_the_public_trace_is_read_as_a_plain_count_of_it_says(
    resnet: Path, resnet_events: list[dict[str, Any]]
) -> None:
    plain = counted(resnet_events)
    reading = read_file(resnet)
    assert [step.label for step in reading.steps] == list(plain) == ["5", "6", "7", "8", "9", "10"]
    for step in reading.steps:
        length, busy, families, _ = plain[step.label]
        assert step.length_us == pytest.approx(length, rel=1e-9)
        assert step.busy_us == pytest.approx(busy, rel=1e-6)
        assert step.idle_us == pytest.approx(length - busy, rel=1e-6)
        assert step.families_us == pytest.approx(families, rel=1e-6)
    shares = {each.family: each for each in reading.families()}
    mean_idle = sum(length - busy for length, busy, _, _ in plain.values()) / len(plain)
    assert shares.pop("idle").us == pytest.approx(mean_idle, rel=1e-6)
    for family, share in shares.items():
        assert share.us == pytest.approx(sum(each[2][family] for each in plain.values()) / 6, rel=1e-6)
        assert share.calls == pytest.approx(sum(each[3][family] for each in plain.values()) / 6, rel=1e-6)


def test_every_operation_of_the_public_trace_has_a_family(resnet: Path) -> None:
    reading = read_file(resnet)
    assert sum(reading.unmapped().values()) < 0.01 * reading.profile.device_total_us
    assert reading.profile.framework == "pytorch"
    assert reading.profile.device_calls["aten::cudnn_convolution_backward_input"] == pytest.approx(133)


def test_odd_steps_of_the_public_trace_are_named_and_can_be_left_out(resnet: Path) -> None:
    reading = read_file(resnet)
    assert reading.odd_steps == ("5", "9")
    assert any("5 (181.6 ms), 9 (163.5 ms)" in text for text in reading.profile.warnings)
    rest = read_file(resnet, ReadOptions(leave_out_steps=("5", "9")))
    assert rest.profile.steps == 4
    assert rest.odd_steps == ()
    assert rest.profile.device_us["IDLE"] < 0.65 * reading.profile.device_us["IDLE"]


@pytest.mark.parametrize("generation", ["new", "old"])
def test_both_generations_are_read_alike(tmp_path: Path, generation: str) -> None:
    reading = read(training(generation), tmp_path)
    assert reading.profile.device_us == pytest.approx(
        {
            "aten::convolution_backward [conv_backward_data]": 200.0,
            "aten::convolution_backward": 150.0,
            "aten::cudnn_convolution": 100.0,
            "Memcpy HtoD (Pinned -> Device)": 30.0,
            "aten::add_ [optimizer]": 20.0,
            "IDLE": 500.0,
        }
    )
    assert reading.profile.steps == 3
    assert [step.label for step in reading.steps] == ["7", "8", "9"]
    families = {each.family: each.us for each in reading.families()}
    assert families["conv_backward_data"] == pytest.approx(200.0)
    assert families["conv_backward_filter"] == pytest.approx(150.0)
    assert reading.profile.host_us["aten::convolution_backward"] == pytest.approx(20.0)
    assert reading.profile.host_us["ProfilerStep"] == pytest.approx(1000 - 4 - 4 - 20 - 60)
    assert reading.profile.warnings == []


def test_a_compressed_trace_is_read_like_the_plain_one(tmp_path: Path) -> None:
    plain = training().write(tmp_path / "trace.json")
    packed = tmp_path / "trace.json.gz"
    half = len(plain.read_bytes()) // 2
    parts = plain.read_bytes()[:half], plain.read_bytes()[half:]
    packed.write_bytes(b"".join(gzip.compress(part) for part in parts))  # two members, as pigz writes them
    assert read_file(packed).profile == read_file(plain).profile


@pytest.mark.parametrize("known", ["operation", "launch", "time"])
def test_a_kernel_is_joined_to_its_operation_by_whatever_is_there(tmp_path: Path, known: str) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.host("aten::linear", 10, 30)
    inner = trace.host("aten::addmm", 12, 20)
    by = {"operation": inner, "launch": 0, "time": 0}[known]
    trace.kernel("some_kernel", 60, 25, launched=15, by=by)
    if known == "launch":
        trace.events[-2]["args"]["External id"] = inner
    assert read(trace, tmp_path).profile.device_us["aten::addmm"] == pytest.approx(25.0)


def test_a_kernel_belongs_to_the_step_that_launched_it(tmp_path: Path) -> None:
    trace = ChromeFile()
    for number in (0, 1):
        trace.step(number, 1000 * number, 1000)
        by = trace.host("aten::mm", 1000 * number + 990, 5)
        trace.kernel("sgemm", 1000 * number + 1100, 300 + number, 1000 * number + 991, by)
    steps = read(trace, tmp_path).steps
    assert [step.busy_us for step in steps] == [300, 301]
    assert [step.idle_us for step in steps] == [700, 699]


def test_time_in_which_kernels_overlap_is_busy_once(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    by = trace.host("aten::mm", 1, 5)
    trace.kernel("a", 10, 30, 2, by)
    trace.kernel("b", 20, 30, 3, by)
    trace.kernel("c", 25, 5, 4, by)
    reading = read(trace, tmp_path)
    assert (reading.steps[0].busy_us, reading.steps[0].idle_us) == (40, 60)
    assert reading.profile.device_us == {"aten::mm": 65.0, "IDLE": 60.0}
    assert reading.profile.device_calls == {"aten::mm": 3.0}


def test_a_kernel_of_a_backward_convolution_that_tells_no_side_goes_with_the_next(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    by = trace.host("aten::convolution_backward", 10, 50)
    kernels = [("nchwToNhwcKernel", 1), ("dgrad", 10), ("nchwToNhwcKernel", 2), ("wgrad", 20), ("reduce", 4)]
    for place, (name, dur) in enumerate(kernels):
        trace.kernel(name, 100 + 50 * place, dur, 11 + place, by)
    families = {each.family: each.us for each in read(trace, tmp_path).families()}
    assert families["conv_backward_data"] == pytest.approx(11)
    assert families["conv_backward_filter"] == pytest.approx(26)


@pytest.mark.parametrize(
    ("kernel", "family"),
    [
        ("volta_scudnn_128x64_relu_interior_nn_v1", "conv_forward"),
        ("volta_scudnn_128x64_stridedB_interior_nn_v1", "conv_backward_data"),
        ("volta_scudnn_128x128_stridedB_splitK_medium_nn_v1", "conv_backward_filter"),
        ("void implicit_convolve_sgemm<float, float, 1024, 6, 7>", "conv_forward"),
        ("void cudnn::bn_bw_1C11_kernel_new<float>", "norm_backward"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "copy"),
        ("triton_poi_fused_relu_3", "activation_forward"),
        ("void cudnn::ops::nchwToNhwcKernel<float>", "data_movement"),
    ],
)
def test_a_kernel_without_an_operation_is_placed_by_rules_for_kernels(
    tmp_path: Path, kernel: str, family: str
) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.kernel(kernel, 20, 30, launched=10)
    reading = read(trace, tmp_path)
    assert {each.family: each.us for each in reading.families()} == {family: 30.0, "idle": 70.0}
    assert not reading.unmapped()


def test_reduced_precision_of_a_kernel_stays_visible_under_its_operation(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.launched("aten::cudnn_convolution", "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32", 5, 30)
    assert read(trace, tmp_path).profile.device_us["aten::cudnn_convolution [conv_forward half]"] == 30.0


def test_names_that_no_rule_knows_are_told(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.kernel("qwertzuiop", 20, 30, launched=10)
    assert read(trace, tmp_path).unmapped() == {"qwertzuiop": 30.0}


def test_lightning_runs_everything_in_the_optimizer_and_only_its_end_counts_as_such(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.host("Optimizer.step#SGD.step", 10, 900, kind="range")
    for at, name in ((20, "aten::add"), (800, "aten::add_")):
        trace.launched(name, "vectorized_elementwise_kernel", at, 10)
    trace.host("autograd::engine::evaluate_function: AddBackward0", 300, 100, tid=2)
    assert set(read(trace, tmp_path).profile.device_us) == {"aten::add", "aten::add_ [optimizer]", "IDLE"}


def test_of_several_gpus_the_busiest_is_read_and_the_others_are_listed(tmp_path: Path) -> None:
    trace = training(gpus=(0, 1))
    trace.devices = ["Tesla V100", "Tesla T4"]
    reading = read(trace, tmp_path)
    assert [(d.number, d.name, d.chosen) for d in reading.devices] == [
        (0, "Tesla V100", False),
        (1, "Tesla T4", True),
    ]
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(200.0)
    assert any("2 GPUs in the trace: GPU 1 is read" in text for text in reading.profile.warnings)
    other = read(trace, tmp_path, device=0)
    assert other.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100.0)
    with pytest.raises(InputError, match=r"nothing ran on GPU 5; --gpu takes one of: 0, 1"):
        read(trace, tmp_path, device=5)


def test_a_step_on_the_cpu_takes_the_cpu_for_the_device(tmp_path: Path) -> None:
    trace = ChromeFile()
    for number in (0, 1):
        start = 1000 * number
        trace.step(number, start, 1000)
        trace.host("aten::conv2d", start + 100, 400)
        trace.host("aten::mkldnn_convolution", start + 150, 300)
        trace.host("autograd::engine::evaluate_function: ConvolutionBackward0", start + 550, 250, tid=2)
        trace.host("aten::convolution_backward", start + 600, 200, tid=2)
    reading = read(trace, tmp_path)
    assert reading.profile.device_us == {
        "aten::mkldnn_convolution": 300,
        "aten::convolution_backward": 200,
        "aten::conv2d": 100,
        "IDLE": 400,
    }
    assert reading.profile.host_us["autograd::engine::evaluate_function: ConvolutionBackward0"] == 50
    assert any("trains on the CPU" in text and "ProfilerActivity.CUDA" in text for text in reading.profile.warnings)


@pytest.mark.parametrize("kind", ["operation", "range"])
def test_kernels_compiled_for_the_cpu_are_operations_of_what_they_fuse(tmp_path: Path, kind: str) -> None:
    trace = ChromeFile()
    for number in (0, 1):
        start = 1000 * number
        trace.step(number, start, 1000)
        trace.host("Torch-Compiled Region: 0/0", start + 50, 600, kind="range")
        trace.host("aten::mkldnn_convolution", start + 100, 200)
        trace.host("graph_0_cpp_fused_relu_threshold_backward_1", start + 300, 150, kind=kind)
        trace.host("graph_1_cpp_fused_relu_threshold_backward_4", start + 450, 50, kind=kind)
        trace.host("cpp_fused_convolution_0", start + 500, 100, kind=kind)
    reading = read(trace, tmp_path)
    assert reading.profile.device_us == {
        "aten::mkldnn_convolution": 200,
        "cpp_fused_relu_threshold_backward [activation_backward]": 200,
        "cpp_fused_convolution [elementwise]": 100,
        "IDLE": 500,
    }
    assert reading.profile.device_calls["cpp_fused_relu_threshold_backward [activation_backward]"] == 2


@pytest.mark.parametrize("namespace", ["", "aten::"])
def test_the_first_profiler_s_bare_list_is_read(tmp_path: Path, namespace: str) -> None:
    events = []
    for place in range(6):
        start = 100 * (place // 2) + 1000 * (place % 2)
        host = {"ph": "X", "pid": "CPU functions", "tid": 0, "args": {}}
        name = f"{namespace}{['conv2d', 'batch_norm', 'cudnn_convolution_backward'][place // 2]}"
        events.append(host | {"name": name, "ts": start, "dur": 50})
        arrow = {"name": name, "id": place, "cat": "cpu_to_cuda", "args": {}}
        events.append(arrow | {"ph": "s", "ts": start, "tid": 0, "pid": "CPU functions"})
        for kernel in ("implicit_convolve_sgemm", "bn_fw_kernel", "dgrad_engine,wgrad_engine")[place // 2].split(
            ","
        ):
            device = {"name": kernel, "tid": 1, "pid": "CUDA functions", "args": {}}
            events.append(device | {"ph": "X", "ts": start + 60, "dur": 20})
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    reading = read_file(path, ReadOptions(steps=2))
    assert {name: us for name, us in reading.profile.device_us.items() if name != "IDLE"} == {
        "aten::conv2d": 20.0,
        "aten::batch_norm": 20.0,
        "aten::cudnn_convolution_backward [conv_backward_data]": 20.0,
        "aten::cudnn_convolution_backward": 20.0,
    }
    assert [device.number for device in reading.devices] == [1]


def test_calls_per_step_are_kept(tmp_path: Path) -> None:
    calls: dict[str, float] = defaultdict(float)
    trace = ChromeFile()
    for number in (0, 1):
        trace.step(number, 1000 * number, 1000)
        for index in range(3 + 2 * number):
            trace.launched("aten::mm", "sgemm", 1000 * number + 50 * index, 10)
            calls["aten::mm"] += 0.5
    profile = read(trace, tmp_path).profile
    assert profile.device_calls == dict(calls) == {"aten::mm": 4.0}
    assert profile.host_calls == {"aten::mm": 4.0, "ProfilerStep": 1.0}


def test_on_the_cpu_preparing_input_is_the_host_s_work(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.host("tf::Dataset::prefetch", 10, 300, tid=2)
    trace.host("aten::conv2d", 100, 400)
    profile = read(trace, tmp_path).profile
    assert profile.device_us == {"aten::conv2d": 400.0, "IDLE": 600.0}
    assert profile.host_us["tf::Dataset::prefetch"] == 300.0
