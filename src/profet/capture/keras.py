"""Captures a profile of a training with Keras on TensorFlow.

.. code-block::

    model.fit(images, labels, callbacks=[profet.capture.keras.StepProfiler("profile.json", batch_size=32)])
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Unpack

import keras

from profet.capture.capturing import Capturing
from profet.capture.destination import Captured
from profet.capture.options import CaptureOptions
from profet.capture.session import Session
from profet.capture.xplane_stages import Facts, XplaneStages
from profet.errors import InputError

_WITHOUT_XLA = (
    "jit_compile is off while this is captured, since XLA hides operations: the latency is without it, too"
)
_OTHERS = {"torch": "profet.capture.torch", "jax": "profet.capture.jax"}


class StepProfiler(keras.callbacks.Callback):  # type: ignore[misc]
    """A callback that captures a profile while a model is fitted, once.

    What jit_compile=True (or "auto") would have XLA fuse is captured as single operations: the training goes on
    without XLA until the capture is over. Keras does not tell its callbacks the batch size; say it.

    Args:
        path: where the profile goes.
        options: see :class:`profet.capture.options.CaptureOptions`.

    Raises:
        OutputError: the profile could not be written there.
        InputError: a number that cannot be, or Keras trains with something else than TensorFlow.
    """

    def __init__(self, path: str | Path, **options: Unpack[CaptureOptions]) -> None:
        super().__init__()
        backend = keras.backend.backend()
        if backend != "tensorflow":
            other = _OTHERS.get(backend, "profet profile")
            raise InputError(f"Keras trains with {backend}: capture with {other}, or with the backend tensorflow")
        self._session = Session(path, options)
        self._capturing: Capturing | None = None
        self._had_xla = False

    @property
    def captured(self) -> Captured | None:
        """The profile, once it is written."""
        return self._session.captured

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002 - the signature of callbacks
        """Begin."""
        if self.captured is not None:
            return
        if getattr(self.model, "steps_per_execution", 1) not in {1, None}:
            self._session.fail("several steps run at once; compile the model with steps_per_execution=1")
            return
        self._had_xla = bool(self.model.jit_compile)
        self._set_xla(False)
        facts = Facts(_pixels(self.model), (_WITHOUT_XLA,) if self._had_xla else ())
        profiled = self._session.plan.profiled
        self._capturing = self._session.capturing(
            lambda folder: XplaneStages(_TensorFlow(), folder, profiled, facts)
        )

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
        """Count a step."""
        if self._capturing is not None:
            self._capturing.step()
            if self._capturing.is_over:
                self._close()

    def on_train_end(self, logs: Any = None) -> None:  # noqa: ARG002
        """End, and say so where there were too few steps."""
        if self._capturing is not None:
            self._capturing.end()
            self._close()

    def _close(self) -> None:
        self._capturing = None
        self._session.close()
        self._set_xla(self._had_xla)

    def _set_xla(self, wanted: bool) -> None:
        """Have the model compiled by XLA or not, from its next step on."""
        if bool(self.model.jit_compile) != wanted:
            self.model.jit_compile = wanted
            self.model.make_train_function(force=True)


class _TensorFlow:
    """TensorFlow's profiler."""

    framework = "tensorflow"

    def __init__(self) -> None:
        import tensorflow

        self._tensorflow = tensorflow
        self.version = str(tensorflow.__version__)
        self.device = "cuda" if tensorflow.config.list_physical_devices("GPU") else "cpu"

    def start(self, folder: str) -> None:
        """Start to write a trace below a folder."""
        profiler = self._tensorflow.profiler.experimental
        profiler.start(folder, options=profiler.ProfilerOptions(host_tracer_level=2, python_tracer_level=0))

    def stop(self) -> None:
        """Stop, and write."""
        self._tensorflow.profiler.experimental.stop()

    def step(self, number: int) -> AbstractContextManager[Any]:
        """Mark a training step in the trace."""
        mark: AbstractContextManager[Any] = self._tensorflow.profiler.experimental.Trace(
            "profet", step_num=number, _r=1
        )
        return mark

    def wait(self) -> None:
        """Wait for whatever the device still does."""
        self._tensorflow.test.experimental.sync_devices()


def _pixels(model: Any) -> int | None:
    """Return width and height of a model's images; None where they differ or are not fixed."""
    shape = getattr(model, "input_shape", None)
    if not isinstance(shape, tuple) or len(shape) != 4:
        return None
    height, width = shape[1:3] if keras.config.image_data_format() == "channels_last" else shape[2:4]
    return height if height == width and isinstance(height, int) else None
