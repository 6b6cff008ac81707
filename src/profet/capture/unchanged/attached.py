"""The capture inside a script's own process: it leaves a recording for the process that started the script."""

import atexit
import os
from pathlib import Path

from profet.capture.capturing import Capturing
from profet.capture.plan import CapturePlan
from profet.capture.recording import PROBLEM_FILE, Recording, write_problem, write_recording
from profet.capture.torch.optimizer_steps import OptimizerSteps
from profet.capture.torch.stages import TorchStages

_CLAIM_FILE = "process.txt"


def attach(folder: str, warm_up: int, timed: int, profiled: int) -> None:
    """Begin to watch this process's optimizers, unless another process captures already.

    Args:
        folder: where the recording goes.
        warm_up: steps that pass before.
        timed: steps that are timed.
        profiled: steps that are profiled.
    """
    if not (Path(folder) / _CLAIM_FILE).exists():
        _Attached(Path(folder), CapturePlan(warm_up, timed, profiled))


class _Attached:
    """A capture of the first training that is warmed up, in whichever of the script's processes."""

    def __init__(self, folder: Path, plan: CapturePlan) -> None:
        self._folder, self._plan = folder, plan
        self._steps = OptimizerSteps(plan.warm_up, self._begin, self._fail)
        atexit.register(self._end)

    def _begin(self, optimizers: int, notes: tuple[str, ...]) -> Capturing:
        stages = TorchStages(self._folder, optimizers, notes)
        capturing = Capturing(self._plan, stages, self._finish, self._fail, warmed_up=True)
        if not self._claim():
            capturing.abandon()
        return capturing

    def _claim(self) -> bool:
        """Whether this process is the one that captures."""
        claim = self._folder / _CLAIM_FILE
        try:
            with claim.open("x", encoding="ascii") as file:
                file.write(str(os.getpid()))
        except FileExistsError:
            return claim.read_text("ascii") == str(os.getpid())
        return True

    def _finish(self, recording: Recording) -> None:
        write_recording(recording, self._folder)

    def _fail(self, problem: str) -> None:
        write_problem(problem, self._folder)

    def _end(self) -> None:
        """Say at the end of the script that it took too few steps."""
        over = self._steps.is_over or not self._steps.steps_seen
        self._steps.close()
        if not over and self._folder.is_dir() and not (self._folder / PROBLEM_FILE).exists():
            self._fail(self._plan.too_few(self._steps.steps_seen))
