"""Captures a profile of a training loop in JAX.

.. code-block::

    with profet.capture.jax.StepProfiler("profile.json", batch_size=32, pixels=64) as profiler:
        for batch in batches:
            state = train_step(state, batch)
            profiler.step(state)
"""

from contextlib import AbstractContextManager
from typing import Any

import jax

from profet.capture.capturing import Capturing
from profet.capture.loop_profiler import LoopProfiler
from profet.capture.xplane_stages import XplaneStages


class StepProfiler(LoopProfiler):
    """Captures a profile of a loop that calls ``step(result)`` where a training step ends.

    JAX runs ahead of its results, so each step waits for the one it is given, until the capture is over.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be.
    """

    def _begin(self) -> Capturing | None:
        profiled = self._session.plan.profiled
        is_first = jax.process_index() == 0
        return self._session.capturing(lambda folder: XplaneStages(_Jax(), folder, profiled)) if is_first else None

    def step(self, result: Any) -> None:
        """Say that a training step has ended.

        Args:
            result: arrays that the step computes, such as its weights, in any nesting.
        """
        if self._capturing is not None and not self._capturing.is_over:
            jax.block_until_ready(result)
            self._capturing.step()


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
