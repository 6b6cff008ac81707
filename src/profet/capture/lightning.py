"""Captures a profile of a training with Lightning.

.. code-block::

    trainer = lightning.Trainer(callbacks=[profet.capture.lightning.StepProfiler("profile.json")])
"""

from pathlib import Path
from typing import Any, Unpack

from profet.capture.destination import Captured
from profet.capture.options import CaptureOptions
from profet.capture.torch.step_profiler import OptimizerStepProfiler

try:
    from lightning.pytorch.callbacks import Callback
except ModuleNotFoundError:  # the package's older name
    from pytorch_lightning.callbacks import Callback


class StepProfiler(Callback):  # type: ignore[misc]
    """A callback that captures a profile; a step ends where the optimizer's does, whatever accumulates before.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        super().__init__()
        self._profiler = OptimizerStepProfiler(path, **options)
        self._runs = False

    @property
    def captured(self) -> Captured | None:
        """The profile, once it is written."""
        return self._profiler.captured

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002 - the signature of callbacks
        """Begin."""
        self._profiler.__enter__()
        self._runs = True

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ARG002
        """End, and say so where there were too few steps."""
        self._end(None)

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        """End without a word."""
        self._end(exception)

    def _end(self, error: BaseException | None) -> None:
        if self._runs:
            self._runs = False
            self._profiler.__exit__(None if error is None else type(error), error, None)
