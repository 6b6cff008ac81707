"""Captures one run in a process of its own, again where the machine was busy; the same here and on another node."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import msgspec

from profet.capture.stability import spread
from profet.errors import OutputError
from profet.profiles.formats.json_documents import parse
from profet.profiles.profile import IDLE, Profile
from profet.quantities import US_PER_MS
from profet.sweep.company import Company
from profet.sweep.outcomes import FAILED, MEASURED, MEMORY, NOISY, Outcome
from profet.sweep.request import Limits, Task
from profet.sweep.training import PROFILE_FILE, REPORT_FILE, Report, TrainingTask

_PAUSE_S = 2.0
_LOG = "log.txt"
_BYTES_FREE = 16 * 2**20
_MOST_LOG_BYTES = 64 * 1024
_MOST_LINE = 300
_THREAD_LIMITS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_WAITED = "run_queue_waited_share"
_LONGER = "the same command with --again and a larger --max-minutes gives it longer"


def measure(task: Task, environment: Mapping[str, str] | None = None) -> Outcome:
    """Capture a run; where other work disturbed it, again after a pause, as often as its limits say.

    Args:
        task: which run.
        environment: variables of the process, which the machine's own are put on; this one's unless given.

    Raises:
        OutputError: the disk for temporary files is full, so that it could not be captured.
    """
    outcome = Outcome(FAILED, note="not tried")
    for attempt in range(task.limits.tries):
        if attempt:
            time.sleep(_PAUSE_S * attempt)
        outcome = _attempt(task, os.environ if environment is None else environment)
        if outcome.kind != NOISY:
            break
    if outcome.kind == FAILED and shutil.disk_usage(gettempdir()).free < _BYTES_FREE:
        raise OutputError(f"{gettempdir()}: is full ({outcome.note}); make room, and the same command goes on")
    return outcome


def _attempt(task: Task, around: Mapping[str, str]) -> Outcome:
    with TemporaryDirectory(prefix="profet-sweep-") as name:
        folder, company = Path(name), Company()
        code = _run(_document(task, name), folder, _environment(task, around, name), task.limits.minutes * 60)
        beside = company.cores()
        try:
            report = msgspec.json.decode((folder / REPORT_FILE).read_bytes(), type=Report)
        except (OSError, msgspec.DecodeError):
            return _killed(code, _last_line(folder / _LOG), task.limits)
        if report.problem:
            return Outcome(MEMORY if report.out_of_memory else FAILED, note=report.problem, machine=report.machine)
        try:
            content = (folder / PROFILE_FILE).read_bytes()
        except OSError:
            why = _last_line(folder / _LOG).rpartition("not written: ")[2] or "the capture wrote no profile"
            return Outcome(FAILED, note=why, machine=report.machine)
    noise = _noise(Profile.from_document(_object(content), "the captured profile"), task.limits, beside)
    if noise:
        return Outcome(NOISY, note=noise, machine=report.machine)
    return Outcome(MEASURED, content.decode(), machine=report.machine)


def _object(content: bytes) -> dict[str, object]:
    document = parse(content, "the captured profile")
    return document if isinstance(document, dict) else {}


def _document(task: Task, folder: str) -> str:
    workload, machine = task.run.workload, task.machine
    training = TrainingTask(
        folder,
        workload.model,
        workload.pixels,
        workload.batch_size,
        workload.optimizer,
        machine.name,
        machine.device,
        machine.precision,
        task.core,
        task.plan.warm_up,
        task.plan.timed,
        task.plan.profiled,
    )
    return msgspec.json.encode(training).decode()


def _environment(task: Task, around: Mapping[str, str], folder: str) -> dict[str, str]:
    own = {} if task.core is None else dict.fromkeys(_THREAD_LIMITS, "1")
    return {**around, **own, **task.machine.environment, "TMPDIR": folder}  # what it leaves goes with the folder


def _run(document: str, folder: Path, environment: dict[str, str], limit_s: float) -> int | None:
    """Run the training; return its exit code, None where it took too long. Whatever happens, it has ended then."""
    command = [sys.executable, "-m", "profet.sweep.training", document]
    with (folder / _LOG).open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - our own module, by the Python that runs this
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the sweep, which ends it
        )
        try:
            return child.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(OSError):
                child.kill()
            child.wait()
            if child.stdin is not None:
                child.stdin.close()


def _killed(code: int | None, line: str, limits: Limits) -> Outcome:
    """Say what ended a process that could not report itself."""
    if code is None:
        return Outcome(FAILED, note=f"took over {limits.minutes:g} min and was ended; {_LONGER}")
    if code == -signal.SIGKILL:
        return Outcome(MEMORY, note="was killed, as a system does when memory runs out")
    if code < 0:
        return Outcome(FAILED, note=f"crashed ({signal.Signals(-code).name}){line and ': '}{line}")
    return Outcome(FAILED, note=line or f"ended with exit code {code} and said nothing")


def _last_line(path: Path) -> str:
    """Return the last line of what a process printed."""
    with contextlib.suppress(OSError), path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - _MOST_LOG_BYTES))
        lines = [line for line in stream.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return lines[-1].strip()[:_MOST_LINE] if lines else ""
    return ""


def _noise(profile: Profile, limits: Limits, beside: float = 0.0) -> str:
    """Say why a capture is no measurement; nothing where it is one."""
    waited = (profile.hardware or {}).get(_WAITED)
    if waited is not None and waited > limits.waited:
        return f"other processes held the core for {100 * waited:.0f} % of the time"
    if beside > limits.company:
        return f"other processes kept {beside:.2f} cores busy"
    apart = spread(profile.latency_samples_ms)
    if apart > limits.spread:
        return f"the timed steps were {100 * apart:.0f} % apart"
    busy_ms = sum(us for name, us in profile.device_us.items() if name != IDLE) / US_PER_MS
    longer = busy_ms / (profile.step_latency_ms or busy_ms or 1.0) - 1.0
    if longer > limits.spread:
        return f"the profiled steps were {100 * longer:.0f} % longer than the timed ones"
    return ""
