"""What a trace means where it could be misread: halves of convolutions, doubtful marks, several GPUs, idle time."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.profiles.family_rules import read_rules
from profet.profiles.formats import Reading, ReadOptions, read_file
from profet.profiles.traces.halves import COMPUTE, DATA, FILTER, LIGHT, WHOLE, halves
from tests.conftest import DATA as PUBLIC
from tests.profiles.chrome_files import ChromeFile, training
from tests.profiles.nsight_files import NsightFile

RESNET = PUBLIC / "traces" / "resnet50_v100.pt.trace.json.gz"


def read(trace: ChromeFile, folder: Path, **options: Any) -> Reading:
    return read_file(trace.write(folder / "trace.json"), ReadOptions(**options))


def warned(reading: Reading, words: str) -> bool:
    return any(words in text for text in reading.profile.warnings)


@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        ([LIGHT, DATA, LIGHT, FILTER, LIGHT], [DATA, DATA, FILTER, FILTER, FILTER]),
        ([COMPUTE, COMPUTE, FILTER], [DATA, DATA, FILTER]),
        ([DATA, COMPUTE, LIGHT], [DATA, FILTER, FILTER]),
        ([COMPUTE, LIGHT, COMPUTE], [DATA, FILTER, FILTER]),
        ([LIGHT, COMPUTE], [FILTER, FILTER]),
        ([FILTER, LIGHT], [FILTER, FILTER]),
        ([DATA], [DATA]),
        ([LIGHT], [FILTER]),
    ],
)
def test_the_order_tells_the_half_of_a_kernel_that_does_not(roles: list[int], expected: list[int]) -> None:
    assert halves(np.array(roles, np.int8), np.zeros(len(roles), np.int64)).tolist() == expected


@given(st.lists(st.tuples(st.sampled_from([WHOLE, DATA, FILTER, COMPUTE, LIGHT]), st.integers(0, 2)), max_size=30))
def test_a_kernel_that_tells_its_half_is_believed(kernels: list[tuple[int, int]]) -> None:
    roles = np.array([role for role, _ in kernels], np.int8)
    callers = np.cumsum([step for _, step in kernels]).astype(np.int64)
    found = halves(roles, callers)
    assert ((found == WHOLE) == (roles == WHOLE)).all()
    told = np.isin(roles, [DATA, FILTER])
    assert (found[told] == roles[told]).all()


def test_the_public_trace_written_as_todays_profiler_does_splits_as_before(tmp_path: Path) -> None:
    """Its two operations of a backward convolution become one, as in PyTorch of today; kernels tell the halves."""
    if not RESNET.is_file():
        pytest.skip(f"the public trace is not at {RESNET}; set PROFET_TEST_DATA to where the public data is")
    document = json.loads(gzip.decompress(RESNET.read_bytes()))
    operations = [e for e in document["traceEvents"] if e.get("cat") == "Operator"]
    wholes = sorted(
        (e for e in operations if e["name"] == "aten::cudnn_convolution_backward"), key=lambda e: e["ts"]
    )
    starts = [e["ts"] for e in wholes]
    merged = {}
    for event in operations:
        if event["name"].startswith("aten::cudnn_convolution_backward_"):
            whole = wholes[int(np.searchsorted(starts, event["ts"], side="right")) - 1]
            merged[event["args"]["External id"]] = whole["args"]["External id"]
    for event in document["traceEvents"]:
        if event.get("name") == "aten::cudnn_convolution_backward":
            event["name"] = "aten::convolution_backward"
        if "external id" in event.get("args", {}):
            event["args"]["external id"] = merged.get(event["args"]["external id"], event["args"]["external id"])
    path = tmp_path / "merged.json"
    path.write_text(json.dumps(document))
    today = {share.family: share.us for share in read_file(path).families()}
    before = {share.family: share.us for share in read_file(RESNET).families()}
    for family in ("conv_backward_data", "conv_backward_filter"):
        assert today[family] == pytest.approx(before[family], rel=0.02)
    assert "aten::cudnn_convolution_backward_input" not in read_file(path).profile.device_us


def test_two_backward_convolutions_in_a_row_are_split_each_for_itself(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    for start in (10, 200):
        by = trace.host("aten::convolution_backward", start, 50)
        for place, (kernel, dur) in enumerate([("volta_sgemm_64x64_nt", 30), ("volta_sgemm_128x32_nt", 7)]):
            trace.kernel(kernel, start + 60 + 40 * place, dur, start + 5 + place, by)
    families = {share.family: share.us for share in read(trace, tmp_path).families()}
    assert (families["conv_backward_data"], families["conv_backward_filter"]) == (60, 14)


def test_a_depthwise_engine_tells_what_its_operation_does_not(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.launched("aten::cudnn_convolution", "cudnn::cnn::conv2d_c1_k1_nhwc_kernel<float>", 10, 40)
    by = trace.host("aten::convolution_backward", 100, 50)
    trace.kernel("cudnn::cnn::dgrad2d_c1_k1_nhwc_kernel<float>", 200, 20, 105, by)
    trace.kernel("cudnn::cnn::wgrad2d_c1_k1_nhwc_kernel<float>", 300, 10, 106, by)
    families = {share.family: share.us for share in read(trace, tmp_path).families()}
    assert families == {"idle": 930, "depthwise": 60, "depthwise_backward_filter": 10}


def test_a_host_that_runs_ahead_makes_no_idle_time(tmp_path: Path) -> None:
    trace = ChromeFile()
    start = 0.0
    for number, length in enumerate((30, 170, 100)):
        trace.step(number, start, length)
        by = trace.host("aten::mm", start + 1, 5)
        trace.kernel("sgemm", 100 * number, 100, start + 2, by)
        start += length
    profile = read(trace, tmp_path).profile
    assert profile.device_us == {"aten::mm": 100.0}


def test_marks_of_micro_batches_are_told(tmp_path: Path) -> None:
    trace = ChromeFile()
    for number in range(4):
        trace.step(number, 100 * number, 100)
        trace.launched("aten::mm", "sgemm", 100 * number + 5, 50)
    trace.host("Optimizer.step#SGD.step", 380, 10, kind="range")
    assert warned(read(trace, tmp_path), "the optimizer steps 1 times in 4 marked steps")


def test_waiting_for_other_gpus_makes_none_the_busiest_and_is_told(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    for gpu, work in ((0, 300), (1, 500)):
        trace.launched("aten::mm", "sgemm", 10 + gpu, work, gpu)
        trace.kernel("ncclDevKernel_AllReduce_Sum_f32", 520, 900 - work, 20, gpu=gpu)
    reading = read(trace, tmp_path)
    assert [(device.number, device.busy_us, device.chosen) for device in reading.devices] == [
        (0, 300, False),
        (1, 500, True),
    ]
    assert warned(reading, "44 % of the device time is in collective kernels")


def test_blocks_of_a_network_are_no_steps(tmp_path: Path) -> None:
    trace = ChromeFile()
    place = 0
    for _ in range(4):
        kernels = ["copy", *["conv", "bn", "relu"] * 30, "loss", *["bn_bw", "wgrad", "dgrad"] * 30, "sgd", "zero"]
        for name in kernels:
            trace.kernel(name, 10.0 * place, 8)
            place += 1
    reading = read(trace, tmp_path)
    assert reading.profile.steps == 4
    assert reading.profile.device_calls["loss"] == 1.0


def nsight(file: NsightFile, folder: Path) -> Reading:
    path = folder / "x.sqlite"
    file.write(path)
    return read_file(path)


def test_a_range_named_step_around_the_optimizer_alone_is_none(tmp_path: Path) -> None:
    file = NsightFile()
    for number in range(4):
        start = 10_000 * number
        for place, kernel in enumerate(["conv", "bn", "relu", "loss", "wgrad", "dgrad", "sgd"]):
            file.kernel(start + 1000 * place, start + 1000 * place + 900, place, kernel)
        file.range(start + 5950, start + 6500, "step")
    reading = nsight(file, tmp_path)
    assert reading.profile.device_calls["conv"] == 1.0
    assert warned(reading, "step marks hold little of the device time")


def test_labels_that_start_again_with_each_epoch_stay_apart(tmp_path: Path) -> None:
    file = NsightFile()
    for number, label in enumerate(["batch 0", "batch 1", "batch 0", "batch 1"]):
        file.range(1000 * number, 1000 * number + 900, label)
        file.kernel(1000 * number + 10, 1000 * number + 500, 1)
    assert [step.label for step in nsight(file, tmp_path).steps] == ["0", "1", "0 (2)", "1 (2)"]


def rules(folder: Path, text: str) -> ReadOptions:
    path = folder / "rules.toml"
    path.write_text(text)
    return ReadOptions(families=read_rules(path))


def test_rules_win_over_the_table_and_hold_for_files_of_sums_too(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('[{"Device_MatMul": 4.0, "Device_Conv2D": 2.0, "Device_Conv2Dx": 2.0}]')
    options = rules(
        tmp_path, '[names]\nloss = ["MatMul"]\n[[patterns]]\nfamily = "depthwise"\npattern = "^conv2dx"\n'
    )
    assert read_file(path, options).profile.device_us == {
        "MatMul [loss]": 2.0,
        "Conv2D": 1.0,
        "Conv2Dx [depthwise]": 1.0,
    }


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ReadOptions(device=1), "does not tell GPUs apart"),
        (ReadOptions(leave_out_steps=("3",)), "holds no single steps"),
    ],
)
def test_what_a_file_of_sums_cannot_give_is_refused(tmp_path: Path, options: ReadOptions, words: str) -> None:
    path = tmp_path / "p.json"
    path.write_text('[{"Device_MatMul": 4.0}]')
    with pytest.raises(InputError, match=words):
        read_file(path, options)


def test_a_trace_of_the_cpu_has_no_gpu_to_choose(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.host("aten::conv2d", 10, 50)
    with pytest.raises(InputError, match="no GPU in the trace; leave out --gpu"):
        read(trace, tmp_path, device=0)


def test_an_operation_that_only_calls_others_keeps_its_calls(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 100)
    trace.host("aten::outer", 10, 20)
    by = trace.host("aten::mm", 10, 20)
    trace.kernel("a_kernel_of_no_step", 30, 10, 15, by)
    profile = read(trace, tmp_path).profile
    assert profile.host_calls == {"ProfilerStep": 1.0, "aten::outer": 1.0, "aten::mm": 1.0}
    assert profile.host_us["aten::outer"] == 0.0


def test_a_mark_inside_another_is_none_and_told(tmp_path: Path) -> None:
    trace = training(steps=3)
    for number in range(3):
        trace.step(90 + number, 10_800.0 + 1000 * number, 150.0)
    reading = read(trace, tmp_path)
    assert [step.label for step in reading.steps] == ["7", "8", "9"]
    assert warned(reading, "3 step marks inside or across others are left out")


def test_steps_stated_as_they_are_marked_change_nothing(tmp_path: Path) -> None:
    trace = training(steps=3)
    trace.launched("aten::mm", "sgemm", 100, 5000)
    assert read(trace, tmp_path, steps=3).profile.device_us == read(trace, tmp_path).profile.device_us
    two = read(trace, tmp_path, steps=3, leave_out_steps=("7",)).profile
    assert (two.steps, two.device_us["aten::cudnn_convolution"]) == (2, pytest.approx(100.0))


def test_marks_of_the_profiler_are_believed_whatever_came_before(tmp_path: Path) -> None:
    trace = training(steps=3)
    trace.launched("aten::mm", "sgemm", 100, 50_000)
    reading = read(trace, tmp_path)
    assert reading.profile.steps == 3
    assert warned(reading, "of the device time lies outside the steps")


def test_of_a_trace_that_is_cut_off_only_whole_steps_count(tmp_path: Path) -> None:
    trace = training(steps=5)
    host = [event for event in trace.events if event["cat"] not in {"kernel", "gpu_memcpy"}]
    kernels = [event for event in trace.events if event["cat"] in {"kernel", "gpu_memcpy"}]
    trace.events = host + kernels  # as the profiler writes them
    path = tmp_path / "cut.json"
    text = trace.text()
    path.write_text(text[: int(0.93 * len(text))])
    reading = read_file(path)
    assert 0 < reading.profile.steps < 5
    assert reading.profile.device_us["aten::cudnn_convolution"] == pytest.approx(100.0)
    assert reading.profile.device_us["aten::add_ [optimizer]"] == pytest.approx(20.0)
    path.write_text(text[: text.index('"cat": "kernel"') + 400])
    with pytest.raises(InputError, match="cut off before the kernels of its first step end"):
        read_file(path)


def test_traces_of_two_processes_in_one_file_are_refused(tmp_path: Path) -> None:
    trace = training()
    trace.events += [event | {"pid": 78} for event in trace.events if event["pid"] == 77]
    with pytest.raises(InputError, match="operations of several processes"):
        read(trace, tmp_path)


def test_operations_that_run_after_their_marks_are_refused(tmp_path: Path) -> None:
    trace = ChromeFile()
    for number in range(5):
        trace.step(number, 50 * number, 50)
        trace.host("aten::conv2d", 200 + 100 * number, 90, tid=2)
    with pytest.raises(InputError, match=r"80 % of the operations' time lies outside the marked steps"):
        read(trace, tmp_path)


def test_an_operation_named_idle_is_not_waiting(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.kernel("IDLE", 100, 300, 50)
    profile = read(trace, tmp_path).profile
    assert profile.device_us["IDLE"] == 700
    assert profile.device_total_us == 1000


def test_a_single_range_around_everything_does_not_beat_repeated_ones(tmp_path: Path) -> None:
    file = NsightFile().range(0, 6000, "Step 1")
    for number in range(6):
        file.range(1000 * number + 1, 1000 * number + 900, f"iteration {number}")
        file.kernel(1000 * number + 10, 1000 * number + 500, 1)
    assert nsight(file, tmp_path).profile.steps == 6


def test_rules_never_lose_time_nor_touch_waiting(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    profile = read(training(), tmp_path).profile
    path.write_text(profile.to_json())
    options = rules(
        tmp_path, '[[patterns]]\nfamily = "conv_backward_data"\npattern = "convolution_backward|idle"\n'
    )
    ruled = read_file(path, options).profile
    assert ruled.device_total_us == pytest.approx(profile.device_total_us)
    assert ruled.device_us["IDLE"] == profile.device_us["IDLE"]
    assert ruled.device_us["aten::convolution_backward [conv_backward_data]"] == pytest.approx(350)


def test_operations_that_cross_on_a_thread_are_told(tmp_path: Path) -> None:
    trace = ChromeFile()
    trace.step(1, 0, 1000)
    trace.host("aten::mm", 100, 200)
    trace.host("aten::relu", 200, 300)
    assert warned(read(trace, tmp_path), "1 operations cross others of their thread")
    trace.events[-1]["dur"] = 50
    assert not warned(read(trace, tmp_path), "cross others")


def test_events_that_stand_twice_are_told(tmp_path: Path) -> None:
    trace = training()
    assert not warned(read(trace, tmp_path), "stand twice")
    trace.events += [event for event in trace.events if event["cat"] == "kernel"]
    assert warned(read(trace, tmp_path), "12 of 27 device events stand twice")
