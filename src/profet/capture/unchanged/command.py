"""Runs a command with its own streams, exit code and signals; makes a profile of what it recorded on the way."""

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from profet.capture.destination import Captured, Destination
from profet.capture.plan import CapturePlan
from profet.capture.recording import PROBLEM_FILE, RECORDING_FILE
from profet.capture.unchanged.signals import signals_passed_on
from profet.errors import InputError, ProfetError
from profet.names import suggest

_LOOK_S = 1.0
_SIGNALLED = 128
_MOST_PROBLEM_CHARACTERS = 2_000
_NOTHING_SEEN = (
    "no step of a PyTorch optimizer was seen: the command must train with torch.optim in a Python that reads"
    " PYTHONPATH (not python -I or -E); for other loops see profet.capture"
)


@dataclass(frozen=True)
class Ended:
    """A command that has ended.

    Args:
        exit_code: its own; 128 and the signal's number where a signal ended it, as shells have it.
        captured: the profile that was written; None where there is none.
        problem: why there is none.
    """

    exit_code: int
    captured: Captured | None
    problem: str | None


def run_captured(command: Sequence[str], plan: CapturePlan, destination: Destination) -> Ended:
    """Run a command that trains with PyTorch; write the profile as soon as it is captured.

    Args:
        command: and its arguments.
        plan: which steps go to what.
        destination: where the profile goes.

    Raises:
        InputError: there is no such command.
    """
    program = shutil.which(command[0])
    if program is None:
        raise InputError(f"{command[0]}: no such command; {suggest(command[0], ('python', 'python3', 'torchrun'))}")
    with TemporaryDirectory(prefix="profet-") as folder:
        try:
            with signals_passed_on() as passed_on:
                environment = _environment(os.environ, Path(folder), plan)
                child = subprocess.Popen([program, *command[1:]], env=environment)  # noqa: S603 - what the user asked for
                passed_on.to(child)
                with _Waiting(Path(folder), destination) as waiting:
                    code = child.wait()
        except OSError as error:
            raise InputError(f"{command[0]}: cannot be run ({error.strerror or error})") from None
    return Ended(code if code >= 0 else _SIGNALLED - code, waiting.captured, waiting.problem)


class _Waiting:
    """Looks for the recording while the command runs, and once more when it has ended."""

    def __init__(self, folder: Path, destination: Destination) -> None:
        self.captured: Captured | None = None
        self.problem: str | None = None
        self._folder, self._destination = folder, destination
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="profet-capture", daemon=True)

    def __enter__(self) -> "_Waiting":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(_LOOK_S):
            if (self._folder / RECORDING_FILE).exists():
                break
        try:
            self._save()
        except ProfetError as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = f"{type(error).__name__}: {error}"

    def _save(self) -> None:
        from profet.capture.composing import read_recording

        if (self._folder / RECORDING_FILE).exists():
            self.captured = self._destination.save(read_recording(self._folder), self._folder)
            return
        try:
            text = (self._folder / PROBLEM_FILE).read_text("utf-8", errors="replace")
        except OSError:
            text = _NOTHING_SEEN
        self.problem = text[:_MOST_PROBLEM_CHARACTERS]


def _environment(around: Mapping[str, str], folder: Path, plan: CapturePlan) -> dict[str, str]:
    """Return the environment in which a capture begins by itself."""
    package = Path(__file__).resolve().parents[2]
    capture = {
        "folder": str(folder),
        "package": str(package),
        "warm_up": plan.warm_up,
        "timed": plan.timed,
        "profiled": plan.profiled,
    }
    ahead = str(package / "capture" / "unchanged" / "bootstrap")
    behind = around.get("PYTHONPATH")
    return {
        "KINETO_LOG_LEVEL": "99",
        "TORCHINDUCTOR_CPP_ENABLE_KERNEL_PROFILE": "1",
        **around,
        "PYTHONPATH": ahead if not behind else f"{ahead}{os.pathsep}{behind}",
        "PROFET_CAPTURE": json.dumps(capture),
    }
