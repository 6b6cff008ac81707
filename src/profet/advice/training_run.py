"""A whole training run: how many steps it takes, and what it costs besides steps."""

import math
from dataclasses import dataclass
from typing import overload

from profet.errors import InputError
from profet.profiles.arrays import FloatArray
from profet.quantities import MS_PER_HOUR, S_PER_HOUR

STARTUP_S = 300.0
FIRST_EPOCH_S = 60.0
VALIDATION_SHARE = 0.02


@dataclass(frozen=True)
class TrainingRun:
    """What is to be trained, and the assumptions about everything that is no training step.

    Args:
        samples: in one epoch.
        epochs: passes over the samples.
        batch_size: samples a step takes on one GPU.
        startup_s: from the first paid second to the first step: booting, fetching data and code.
        first_epoch_s: what the first epoch takes longer than the others: compiling, filling caches.
        validation_share: time of validation, as a share of the time of training steps.

    Raises:
        InputError: a number that is none, or fewer samples than a batch.
    """

    samples: int
    epochs: int
    batch_size: int
    startup_s: float = STARTUP_S
    first_epoch_s: float = FIRST_EPOCH_S
    validation_share: float = VALIDATION_SHARE

    def __post_init__(self) -> None:
        for name in ("samples", "epochs", "batch_size"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} of {getattr(self, name)}: must be 1 or more")
        for name in ("startup_s", "first_epoch_s", "validation_share"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} of {getattr(self, name)}: must be 0 or more, and finite")
        if self.samples < self.batch_size:
            raise InputError(
                f"{self.samples} samples are fewer than one batch of {self.batch_size}; give the samples of a whole"
                " epoch, such as 1.28M"
            )

    def steps(self, gpus: int = 1) -> int:
        """Return the steps of the whole run when every GPU takes a batch at a time; a last part is a step too."""
        return self.epochs * math.ceil(self.samples / (self.batch_size * gpus))

    @overload
    def hours(self, latency_ms: float, gpus: int = 1) -> float: ...
    @overload
    def hours(self, latency_ms: FloatArray, gpus: int = 1) -> FloatArray: ...
    def hours(self, latency_ms: float | FloatArray, gpus: int = 1) -> float | FloatArray:
        """Return how long the run takes when a step takes so many ms, start-up and validation included."""
        stepping = self.steps(gpus) * latency_ms / MS_PER_HOUR
        return stepping * (1 + self.validation_share) + (self.startup_s + self.first_epoch_s) / S_PER_HOUR
