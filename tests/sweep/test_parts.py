"""The pieces of a sweep: its order, what it costs, what counts as noise."""

import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from profet.capture.plan import CapturePlan
from profet.cli.sweep_printing import Printing
from profet.errors import InputError, OutputError
from profet.profiles.profile import Profile
from profet.sweep.campaign import Campaign
from profet.sweep.company import Company
from profet.sweep.costs import Costs
from profet.sweep.machines import parse_machine
from profet.sweep.measuring import _killed, _noise, measure
from profet.sweep.outcomes import FAILED, MEASURED, MEMORY, NOISY, Outcome
from profet.sweep.parts import Parts
from profet.sweep.request import Limits, Machine, Request
from profet.sweep.training import TrainingTask, _refused
from profet.sweep.workloads import Workload, workloads_of
from profet.zoo import NAMES

WORKLOADS = tuple(Workload("LeNet5", 32, batch) for batch in (64, 16))
LONGER = "the same command with --again and a larger --max-minutes gives it longer"
REQUEST = Request(WORKLOADS, (Machine("a"), Machine("b")), 2)


def test_a_part_of_a_sweep_is_balanced() -> None:
    order = [(run.experiment, run.workload.batch_size, run.instance) for run in REQUEST.runs()]
    assert order[:4] == [("exp01", 64, "a"), ("exp01", 64, "b"), ("exp01", 16, "a"), ("exp01", 16, "b")]
    assert [run[0] for run in order[4:]] == ["exp02"] * 4


def test_time_left_follows_what_was_measured() -> None:
    costs, runs = Costs(REQUEST), list(REQUEST.runs())
    guess = costs.seconds(runs)
    assert costs.is_guess
    for run in runs[:2]:
        costs.learn(run, 1000.0)
    assert not costs.is_guess
    steps = CapturePlan().steps
    assert costs.seconds(runs[:1]) == pytest.approx(5.5 + steps)
    assert costs.seconds(runs) > guess


def test_every_network_has_a_cost() -> None:
    models, _ = workloads_of(["all"], [16], [96], ["SGD"])
    assert [each.model for each in models] == list(NAMES)
    request = Request(tuple(models), (Machine("a"),), 1)
    assert Costs(request).seconds(request.runs()) > 0


def profile(samples: list[float], waited: float) -> Profile:
    hardware = {"run_queue_waited_share": waited}
    return Profile(latency_samples_ms=samples, hardware=hardware, device_us={"aten::mm": 1.0})


@pytest.mark.parametrize(
    ("samples", "waited", "told"),
    [
        ([10.0] * 30, 0.0, ""),
        ([10.0] * 30, 0.21, "other processes held the core for 21 % of the time"),
        ([10.0] * 20 + [15.0] * 10, 0.0, "the timed steps were 50 % apart"),
        ([10.0] * 29 + [99.0], 0.1, ""),
    ],
)
def test_a_busy_machine_is_seen(samples: list[float], waited: float, told: str) -> None:
    assert _noise(profile(samples, waited), Limits()) == told


def test_work_on_other_cores_is_seen() -> None:
    company = Company()
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        beside = company.cores()
        other.communicate(b"\n")
    assert beside > 0.2
    steady = profile([10.0] * 8, 0.0)
    assert _noise(steady, Limits(), beside) == ""
    assert _noise(steady, Limits(company=0.1), 0.94) == "other processes kept 0.94 cores busy"


@pytest.mark.parametrize(
    ("busy_us", "told"),
    [(12_900.0, ""), (18_200.0, "the profiled steps were 82 % longer than the timed ones"), (3_000.0, "")],
)
def test_work_beside_the_profiled_steps_is_seen(busy_us: float, told: str) -> None:
    times = {"aten::mm": busy_us, "IDLE": 50_000.0}
    assert _noise(Profile(step_latency_ms=10.0, latency_samples_ms=[10.0] * 8, device_us=times), Limits()) == told


@pytest.mark.parametrize(
    ("code", "line", "kind", "told"),
    [
        (-signal.SIGKILL, "", MEMORY, "was killed, as a system does when memory runs out"),
        (-signal.SIGSEGV, "at once", FAILED, "crashed (SIGSEGV): at once"),
        (None, "", FAILED, f"took over 60 min and was ended; {LONGER}"),
        (1, "ImportError: x", FAILED, "ImportError: x"),
    ],
)
def test_what_ended_a_process_is_told(code: int | None, line: str, kind: str, told: str) -> None:
    outcome = _killed(code, line, Limits())
    assert (outcome.kind, outcome.note) == (kind, told)


def test_two_sweeps_do_not_write_to_the_same_folder(tmp_path: Path) -> None:
    first, second = (Parts.beside(tmp_path / "own", REQUEST) for _ in range(2))
    with first.opened(), pytest.raises(OutputError, match="another sweep is writing there"), second.opened():
        pass
    with second.opened():
        pass


def test_what_another_machine_measured_is_not_mixed(tmp_path: Path) -> None:
    parts, run = Parts.beside(tmp_path / "own", REQUEST), next(REQUEST.runs())
    with parts.opened():
        parts.keep(run, Outcome(FAILED, note="x", machine="CPU 1, PyTorch 2.13"))
        with pytest.raises(InputError, match=r"instance a was measured on CPU 1.* and this is CPU 2"):
            parts.keep(run, Outcome(MEASURED, "{}", machine="CPU 2, PyTorch 2.13"))
    assert not parts.has(run)


def test_what_a_killed_sweep_left_half_written_does_not_stop_the_next(tmp_path: Path) -> None:
    parts = Parts.beside(tmp_path / "own", REQUEST)
    parts.folder.mkdir()
    (parts.folder / ".request.json.x1.part").write_text("{")
    with Parts.beside(tmp_path / "own", REQUEST).opened():
        assert not list(parts.folder.glob("*.part"))


def test_a_part_that_was_changed_by_hand_is_named(tmp_path: Path) -> None:
    parts, run = Parts.beside(tmp_path / "own", REQUEST), next(REQUEST.runs())
    with parts.opened():
        parts.keep(run, Outcome(MEASURED, profile([1.0], 0.0).to_json()))
    path = tmp_path / "own.parts" / "exp01_a_LeNet5_32px_64_SGD.json"
    with pytest.raises(InputError, match=r"exp01_a_LeNet5_32px_64_SGD.json: is not of this run; remove it"):
        parts.profile(run)
    for text in (path.read_text()[:100], "", "[]"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"exp01_a_LeNet5_32px_64_SGD.json: .*; remove it, and the same"):
            parts.profile(run)


def test_what_was_refused_for_noise_is_left_to_do_and_what_failed_is_not(tmp_path: Path) -> None:
    parts, runs = Parts.beside(tmp_path / "own", REQUEST), list(REQUEST.runs())
    with parts.opened():
        parts.keep(runs[0], Outcome(NOISY, note="busy"))
        parts.keep(runs[1], Outcome(FAILED, note="broken"))
    broken = {run for run in runs if (run.instance, run.workload) == (runs[1].instance, runs[1].workload)}
    assert Campaign(REQUEST, parts).missing() == [run for run in runs if run not in broken]


def test_a_training_ends_when_the_sweep_that_started_it_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "of the run"
    folder.mkdir()
    endless = msgspec.json.encode(training(str(folder), timed=100_000)).decode()
    command = [sys.executable, "-m", "profet.sweep.training", endless]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert ended.returncode == 1
    assert not list(tmp_path.iterdir())


def training(folder: str, timed: int = 3, precision: str = "fp32") -> TrainingTask:
    return TrainingTask(folder, "LeNet5", 32, 2, "SGD", "a", "cpu", precision, None, 1, timed, 1)


def test_arithmetic_that_a_processor_does_not_have_is_refused() -> None:
    asked = training("", precision="tf32")
    assert _refused(asked, "cuda", "AVX2", has_tf32=True) == ""
    assert "only NVIDIA GPUs since Ampere have it" in _refused(asked, "cuda", "AVX2", has_tf32=False)
    assert "only NVIDIA GPUs since Ampere have it" in _refused(asked, "cpu", "AVX2", has_tf32=False)


def test_a_full_disk_stops_the_sweep_and_is_no_failure_of_a_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    request = Request(WORKLOADS, (Machine("a", environment={"PYTHONHOME": "/nowhere"}),), 1)
    task = request.task(next(request.runs()))
    assert measure(task).kind == FAILED
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(OutputError, match=r"is full .*; make room, and the same command goes on"):
        measure(task)


def test_settings_make_several_machines_of_one() -> None:
    machine = parse_machine("gpu:device=cuda,precision=bf16,resource=t4,NVIDIA_TF32_OVERRIDE=0")
    assert (machine.device, machine.precision, machine.needed) == ("cuda", "bf16", "t4")
    assert machine.environment == {"NVIDIA_TF32_OVERRIDE": "0"}


def test_where_no_terminal_is_a_line_tells_now_and_then_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    now_s = 0.0
    with Printing(lambda: now_s) as printing:
        for done in range(10):
            printing.proceeds(done, 10, 60.0 * (10 - done), "exp01_a_LeNet5_32px_64_SGD")
            now_s += 25.0
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "0 of 10 runs, about 10.0 min left",
        "3 of 10 runs, about 7.00 min left",
        "6 of 10 runs, about 4.00 min left",
        "9 of 10 runs, about 1.00 min left",
    ]
    assert out == ""
