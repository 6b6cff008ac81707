"""What becomes of a trace that was captured on CUDA, made up here: no GPU is needed."""

from pathlib import Path

import pytest

from profet.capture.composing import compose
from profet.capture.destination import Captured
from profet.capture.recording import TORCH_TRACE, HardwareSamples, Recording
from profet.capture.step_marks import STEP_END
from profet.errors import InputError
from profet.profiles.profile import IDLE
from tests.profiles.chrome_files import ChromeFile

STEP_US = 1000.0


def cuda_trace(folder: Path, steps: int = 3, early: bool = False) -> None:
    """Write steps of 1 ms: a convolution of 300 µs, 100 µs of it beside a copy of 200 µs on another stream."""
    file = ChromeFile()
    if early:  # the step in which the profiler started
        file.kernel("sgemm", -50.0, 40.0, -95.0, file.host("aten::mm", -100.0, 20.0))
    file.host(STEP_END, -1.0, 1.0, kind="range")
    for number in range(steps):
        start = 10.0 + number * STEP_US
        convolution = file.host("aten::cudnn_convolution", start, 20.0)
        file.kernel("cudnn::gemm_kernel", start + 100, 300.0, start + 5, convolution)
        copy = file.host("aten::copy_", start + 30, 20.0)
        file.kernel("Memcpy HtoD (Pinned -> Device)", start + 300, 200.0, start + 35, copy, kind="memcpy")
        file.host("Optimizer.step#SGD.step", start + 900, 85.0, kind="range")
        file.host(STEP_END, start + STEP_US - 11, 1.0, kind="range")
    file.write(folder / TORCH_TRACE)


def composed(folder: Path, **facts: object) -> Captured:
    recording = Recording("pytorch", "2.5.1", "cuda", TORCH_TRACE, [0.99, 1.0, 1.01], **facts)  # type: ignore[arg-type]
    return compose(recording, folder, "g4dn.xlarge", None, None)


def test_idle_is_the_step_less_the_union_of_busy_times_over_streams(tmp_path: Path) -> None:
    cuda_trace(tmp_path)
    profile = composed(tmp_path).reading.profile
    assert profile.device_us["aten::cudnn_convolution"] == pytest.approx(300.0)
    assert profile.device_us["Memcpy HtoD (Pinned -> Device)"] == pytest.approx(200.0)
    assert profile.device_us[IDLE] == pytest.approx(STEP_US - 400.0)
    assert (profile.step_latency_ms, profile.steps) == (1.0, 3)
    assert not profile.warnings


def test_what_ran_before_the_first_mark_counts_for_nothing(tmp_path: Path) -> None:
    cuda_trace(tmp_path, early=True)
    profile = composed(tmp_path).reading.profile
    assert "aten::mm" not in profile.device_us
    assert not profile.warnings


def test_the_capture_is_doubtful_where_steps_differ(tmp_path: Path) -> None:
    cuda_trace(tmp_path)
    recording = Recording(
        "pytorch", "2.5.1", "cuda", TORCH_TRACE, [0.4, 0.5, 0.6], HardwareSamples(waited=0.5), notes=["as told"]
    )
    captured = compose(recording, tmp_path, None, None, None)
    assert captured.overhead == pytest.approx(1.0)
    assert captured.reading.profile.warnings == [
        "as told",
        "the timed steps differ by 40 %: is the machine busy? run again",
        "for 50 % of the time other processes held the cores: run again when they are done",
        "the profiled steps took 100 % longer than the timed ones: shares of the step are less sure",
    ]


def test_a_trace_without_marks_is_refused(tmp_path: Path) -> None:
    ChromeFile().write(tmp_path / TORCH_TRACE)
    with pytest.raises(InputError):
        composed(tmp_path)
    file = ChromeFile()
    file.host("aten::mm", 0.0, 10.0)
    file.write(tmp_path / TORCH_TRACE)
    with pytest.raises(InputError, match="does not hold the steps that were marked"):
        composed(tmp_path)


def test_kernels_that_triton_compiled_go_to_the_families_of_the_operations_that_they_fuse(tmp_path: Path) -> None:
    compiled = {
        "triton_poi_fused_convolution_relu_0": ("activation_forward", 40.0),
        "triton_per_fused_native_batch_norm_backward_threshold_backward_1": ("norm_backward", 70.0),
        "triton_red_fused_convolution_backward_sum_2": ("bias_backward", 30.0),
        "triton_poi_fused_convolution_3": ("data_movement", 20.0),
    }
    file = ChromeFile()
    file.host(STEP_END, -1.0, 1.0, kind="range")
    for number in range(3):
        start = 10.0 + number * STEP_US
        file.host("## Call CompiledFxGraph fabc ##", start, 800.0, kind="range")
        for place, (name, (_, length_us)) in enumerate(compiled.items()):
            at = start + 200.0 * place
            by = file.host(name, at, 10.0)  # PyTorch marks the launch under the kernel's own name
            file.kernel(name, at + 20, length_us, at + 5, by)
        file.host("Optimizer.step#SGD.step", start + 900, 85.0, kind="range")
        file.host(STEP_END, start + STEP_US - 11, 1.0, kind="range")
    file.write(tmp_path / TORCH_TRACE)
    reading = composed(tmp_path).reading
    idle = STEP_US - sum(length_us for _, length_us in compiled.values())
    families = {share.family: share.us for share in reading.families()}
    assert families == pytest.approx({**dict(compiled.values()), "idle": idle})
    assert not reading.unmapped()
