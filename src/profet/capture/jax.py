"""Captures a profile of a training loop in JAX.

.. code-block::

    with profet.capture.jax.StepProfiler("profile.json", batch_size=32, pixels=64) as profiler:
        for batch in batches:
            state = train_step(state, batch)
            profiler.step(state)
"""

from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, Unpack

import jax

from profet.capture.capturing import Capturing
from profet.capture.destination import Captured
from profet.capture.options import CaptureOptions
from profet.capture.session import Session
from profet.capture.xplane_stages import XplaneStages


class StepProfiler:
    """Captures a profile of a loop that calls ``step(result)`` where a training step ends.

    JAX runs ahead of its results, so each step waits for the one it is given, until the capture is over.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        self._session = Session(path, options)
        self._capturing: Capturing | None = None

    @property
    def captured(self) -> Captured | None:
        """The profile, once it is written."""
        return self._session.captured

    def __enter__(self) -> Self:
        if jax.process_index() == 0:
            profiled = self._session.plan.profiled
            self._capturing = self._session.capturing(lambda folder: XplaneStages(_Jax(), folder, profiled))
        return self

    def step(self, result: Any) -> None:
        """Say that a training step has ended.

        Args:
            result: arrays that the step computes, such as its weights, in any nesting.
        """
        if self._capturing is not None and not self._capturing.is_over:
            jax.block_until_ready(result)
            self._capturing.step()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        capturing, self._capturing = self._capturing, None
        if capturing is not None:
            (capturing.end if kind is None else capturing.abandon)()
        self._session.close()


class _Jax:
    """JAX's profiler."""

    framework = "jax"

    def __init__(self) -> None:
        self.version = str(jax.__version__)
        self.device = "cuda" if jax.default_backend() in {"gpu", "cuda", "rocm"} else "cpu"

    def start(self, folder: str) -> None:
        """Start to write a trace below a folder."""
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        jax.profiler.start_trace(folder, profiler_options=options)

    def stop(self) -> None:
        """Stop, and write."""
        jax.profiler.stop_trace()

    def step(self, number: int) -> AbstractContextManager[Any]:
        """Mark a training step in the trace."""
        mark: AbstractContextManager[Any] = jax.profiler.StepTraceAnnotation("profet", step_num=number)
        return mark

    def wait(self) -> None:
        """Nothing: every step is given its result to wait for."""
