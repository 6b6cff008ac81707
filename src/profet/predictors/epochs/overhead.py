"""What an epoch takes beside its steps, learnt where both were timed, so that either can be told from the other."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from profet.profiles.arrays import FloatArray


@dataclass(frozen=True)
class EpochOverhead:
    """An epoch of n steps takes n × (slowdown × step + per_step_ms) + per_epoch_ms + extra_steps × step.

    Args:
        slowdown: how many times as long a step takes in an epoch as when it is timed alone.
        per_step_ms: what comes to each step, such as fetching its samples.
        per_epoch_ms: what comes to each epoch, such as starting it.
        extra_steps: what comes to each epoch and grows with its steps, such as the first ones, which tune kernels.
    """

    slowdown: float
    per_step_ms: float
    per_epoch_ms: float
    extra_steps: float

    @classmethod
    def fit(cls, step_ms: FloatArray, steps: FloatArray, epoch_ms: FloatArray) -> Self:
        """Learn from n runs that were timed both ways: non-negative least squares of relative errors.

        Args:
            step_ms: latency of a step, shape (n,).
            steps: in an epoch, shape (n,).
            epoch_ms: time of an epoch, shape (n,).
        """
        from scipy.optimize import nnls

        terms = np.column_stack([steps * step_ms, steps, np.ones(len(steps)), step_ms])
        found = nnls(terms / epoch_ms[:, None], np.ones(len(steps)))[0]
        return cls(*(float(each) for each in found))

    def epoch_ms(self, step_ms: FloatArray, steps: FloatArray) -> FloatArray:
        """Return the time of n epochs from the latencies of their steps, shape (n,)."""
        return step_ms * self.step_equivalents(steps) + self.beside_ms(steps)

    def step_equivalents(self, steps: FloatArray) -> FloatArray:
        """Return how many times as long as a step the part of an epoch is that grows with it, shape (n,)."""
        return self.slowdown * steps + self.extra_steps

    def beside_ms(self, steps: FloatArray) -> FloatArray:
        """Return the part of an epoch that does not depend on how long its steps are, shape (n,)."""
        return self.per_step_ms * steps + self.per_epoch_ms
