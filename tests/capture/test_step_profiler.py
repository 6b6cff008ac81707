"""A loop that says itself where a step ends."""

import statistics
from pathlib import Path

import pytest
import torch
from torch.optim import optimizer as optimizers

from profet import read_profile
from profet.capture.torch import OptimizerStepProfiler, StepProfiler
from profet.errors import InputError, OutputError
from profet.profiles.families import op_families
from tests.capture.conftest import SHORT, SHORT_STEPS
from tests.capture.loops import BATCH, PIXELS, batches, small_cnn, train

WORK = {"conv_forward", "conv_backward_filter", "norm_forward", "norm_backward", "pool_forward", "matmul", "loss"}


def test_two_lines_write_a_profile_that_every_command_reads(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.json"
    with StepProfiler(path, instance="c5.large", **SHORT) as profiler:
        train(SHORT_STEPS, profiler.step)
    profile = read_profile(path)
    assert (profile.instance, profile.framework) == ("c5.large", "pytorch")
    assert profile.steps in {2, 3}  # one that a busy machine held up is left out
    assert profile.framework_version == torch.__version__
    assert (profile.batch_size, profile.pixels) == (BATCH, PIXELS)
    assert len(profile.latency_samples_ms) == 8
    assert profile.step_latency_ms == statistics.median(profile.latency_samples_ms)
    families = set(op_families().families(list(profile.device_us)))
    assert {*WORK, "optimizer", "idle"} <= families
    told = capfd.readouterr().err.splitlines()
    assert told[0].startswith(f"profet: wrote {path}: ")
    assert told[0].endswith(f"batch {BATCH}, {PIXELS} pixels")
    assert all(line.startswith("profet: warning: ") for line in told[1:])


def test_the_families_of_a_step_add_up_to_it(tmp_path: Path) -> None:
    off = []
    for attempt in range(3):  # where a machine takes the processor away in an operation, it spoils one capture
        with StepProfiler(tmp_path / f"{attempt}.json", **SHORT) as profiler:
            train(SHORT_STEPS, profiler.step)
        assert profiler.captured is not None
        reading = profiler.captured.reading
        step_us = statistics.fmean(step.length_us for step in reading.steps)
        off.append(abs(sum(share.us for share in reading.families()) / step_us - 1))
    assert min(off) < 0.03


def test_a_loop_that_is_not_touched_gives_the_same_operations(tmp_path: Path) -> None:
    with StepProfiler(tmp_path / "touched.json", **SHORT) as profiler:
        train(SHORT_STEPS, profiler.step)
    with OptimizerStepProfiler(tmp_path / "not.json", **SHORT):
        train(SHORT_STEPS)
    touched, untouched = read_profile(tmp_path / "touched.json"), read_profile(tmp_path / "not.json")
    assert touched.device_calls == untouched.device_calls


def test_after_the_capture_nothing_of_it_is_left_in_the_loop(tmp_path: Path) -> None:
    hooks = dict(optimizers._global_optimizer_post_hooks)
    path = tmp_path / "p.json"
    with OptimizerStepProfiler(path, **SHORT):
        train(SHORT_STEPS)
        written = path.stat().st_mtime_ns
        train(SHORT_STEPS)
    assert path.stat().st_mtime_ns == written
    assert dict(optimizers._global_optimizer_post_hooks) == hooks
    assert list(tmp_path.iterdir()) == [path]


def test_the_profile_is_there_before_the_training_ends(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    with StepProfiler(path, **SHORT) as profiler:
        train(SHORT_STEPS, profiler.step)
        assert read_profile(path).device_us


def test_a_loop_that_ends_early_is_told_in_one_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for kind in (StepProfiler, OptimizerStepProfiler):
        with kind(tmp_path / "p.json", **SHORT) as profiler:
            train(5, getattr(profiler, "step", lambda: None))
        (line,) = capfd.readouterr().err.splitlines()
        assert "not written: the training took 5 steps, a capture needs 15 (3 to warm up, 8 timed" in line
    assert not list(tmp_path.iterdir())


def test_an_error_of_the_loop_comes_out_as_it_is(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def fail_after(steps: int) -> None:
        with StepProfiler(tmp_path / "p.json", **SHORT) as profiler:
            train(steps, profiler.step)
            raise ZeroDivisionError

    for steps in (2, 6, 13):  # while warming up, timing, profiling
        with pytest.raises(ZeroDivisionError):
            fail_after(steps)
    assert capfd.readouterr().err == ""
    assert not list(tmp_path.iterdir())
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
        train(1)  # the profiler that was abandoned is off


def test_an_error_of_the_capture_does_not_reach_the_loop(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ended = []
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):  # there can be only one
        with StepProfiler(tmp_path / "p.json", **SHORT) as profiler:
            train(SHORT_STEPS, profiler.step)
        ended.append(True)
    assert ended
    assert "not written: the training runs torch.profiler itself" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_written_is_refused_before_the_training(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        StepProfiler(tmp_path / "p.json")
    with pytest.raises(OutputError, match="folder"):
        OptimizerStepProfiler(tmp_path / "no" / "p.json")
    with pytest.raises(InputError, match="2 timed steps: must be from 3"):
        StepProfiler(tmp_path / "new.json", timed=2)
    with pytest.raises(InputError, match="batch size of 0"):
        StepProfiler(tmp_path / "new.json", batch_size=0)


def test_names_that_the_user_gave_stay_out_of_the_profile(tmp_path: Path) -> None:
    class SecretOptimizer(torch.optim.SGD):
        pass

    class SecretFunction(torch.autograd.Function):
        @staticmethod
        def forward(context, images):
            return images * 2

        @staticmethod
        def backward(context, gradient):
            return gradient * 2

    class SecretNet(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = small_cnn()

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            with torch.profiler.record_function("secret range"):
                return SecretFunction.apply(self.inner(images))

    path = tmp_path / "p.json"
    net = SecretNet()
    with StepProfiler(path, **SHORT) as profiler:
        train(SHORT_STEPS, profiler.step, net, SecretOptimizer(net.parameters(), lr=0.01))
    assert "secret" not in path.read_text().lower()
    profile = read_profile(path)
    assert {"Optimizer.step#(other optimizers)", "(other ranges)"} <= set(profile.host_us)
    assert "optimizer" in op_families().families(list(profile.device_us))


def test_a_validation_among_the_profiled_steps_is_left_out(tmp_path: Path) -> None:
    seen = []

    def after_step(net: torch.nn.Module, step) -> None:
        seen.append(1)
        if len(seen) == 3 + 8 + 1 + 2:
            with torch.no_grad():
                for images, _ in batches(60, 40):
                    net(images)
        step()

    net = small_cnn()
    with StepProfiler(tmp_path / "p.json", **{**SHORT, "profiled": 5}) as profiler:
        train(SHORT_STEPS + 2, lambda: after_step(net, profiler.step), net)
    profile = read_profile(tmp_path / "p.json")
    assert profile.steps < 5
    assert any(
        "are left out: did a validation or a checkpoint fall into them?" in each for each in profile.warnings
    )
    assert profile.device_calls["aten::conv2d"] == 2


def test_hardware_metrics_lie_beside_the_times(tmp_path: Path) -> None:
    with StepProfiler(tmp_path / "p.json", **SHORT) as profiler:
        train(SHORT_STEPS, profiler.step)
    hardware = read_profile(tmp_path / "p.json").hardware
    assert hardware is not None
    for name in ("utilization_cpu", "memory_host_usedMiB", "memory_host_processMiB"):
        assert {f"{name}_{each}" for each in ("mean", "std", "min", "25", "50", "75", "max")} <= set(hardware)
    assert 0 < hardware["memory_host_usedMiB_mean"] < hardware["memory_host_totalMiB_mean"]
