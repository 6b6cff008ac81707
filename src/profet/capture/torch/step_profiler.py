"""Profiles of a PyTorch training loop, in the process that trains."""

from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

from profet.capture.capturing import Capturing
from profet.capture.destination import Captured
from profet.capture.loop_profiler import LoopProfiler
from profet.capture.options import CaptureOptions
from profet.capture.session import Session
from profet.capture.torch.distributed import is_first_rank
from profet.capture.torch.optimizer_steps import OptimizerSteps
from profet.capture.torch.stages import TorchStages, prepare


class StepProfiler(LoopProfiler):
    """Captures a profile of a loop that calls ``step()`` where a training step ends.

    Some steps pass, some are timed, a few are profiled; then the profile is written and ``step()`` does nothing
    more. In a distributed training the process with rank 0 captures. Nothing that goes wrong reaches the loop: it
    is told in one line on standard error.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        super().__init__(path, **options)
        prepare()

    def _begin(self) -> Capturing | None:
        return self._session.capturing(TorchStages) if is_first_rank() else None

    def step(self) -> None:
        """Say that a training step has ended."""
        if self._capturing is not None:
            self._capturing.step()


class OptimizerStepProfiler:
    """Captures a profile of a loop that is not touched: a step ends where the optimizer's does.

    Gradients that add up over several batches make one step. Of several optimizers the one that steps least often,
    or last in a round, ends the step. Everything else is as in StepProfiler.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        self._session = Session(path, options)
        self._steps: OptimizerSteps | None = None
        prepare()

    @property
    def captured(self) -> Captured | None:
        """The profile, once it is written."""
        return self._session.captured

    def __enter__(self) -> Self:
        self._steps = OptimizerSteps(self._session.plan.warm_up, self._begin, self._session.fail)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        steps, self._steps = self._steps, None
        if steps is not None:
            over = steps.is_over
            steps.close()
            if kind is None and not over and is_first_rank():
                self._session.fail(self._session.plan.too_few(steps.steps_seen))
        self._session.close()

    def _begin(self, optimizers: int, notes: tuple[str, ...]) -> Capturing:
        return self._session.capturing(lambda folder: TorchStages(folder, optimizers, notes), warmed_up=True)
