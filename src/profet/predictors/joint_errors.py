"""How the errors of one anchor's predictions go together over targets, so that two predictions can be compared.

A predictor that is wrong about a model on one target is often wrong the same way on the next: whether one is truly
cheaper depends on the errors' difference. The scores of the same held-out runs on several targets hold that; they
are drawn from as they are, each with both signs, so that every target's spread is that of its conformal intervals.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from profet.profiles.arrays import FloatArray

MOST_RUNS = 1000
"""Held-out runs that are kept; more would change no chance by what could be measured."""


@dataclass(frozen=True)
class JointErrors:
    """Signed conformal scores of n held-out runs of one anchor.

    Args:
        targets: the columns; the anchor itself may be among them, with the spread of its own repeats.
        scores: log(true / predicted) over the expected absolute log error, shape (n, targets); for the anchor
            itself log(run / median of its repeats).
    """

    targets: tuple[str, ...]
    scores: FloatArray

    def __post_init__(self) -> None:
        fits = self.scores.ndim == 2 and self.scores.shape[1] == len(self.targets) and len(self.scores) > 0
        if not fits or len(set(self.targets)) < len(self.targets) or not np.isfinite(self.scores).all():
            raise ValueError("joint errors that are none")

    @classmethod
    def of(cls, targets: Sequence[str], scores: FloatArray) -> Self:
        """Keep at most MOST_RUNS of n runs, evenly spaced in their order."""
        kept = np.unique(np.linspace(0, len(scores) - 1, min(len(scores), MOST_RUNS)).astype(np.intp))
        return cls(tuple(targets), scores[kept].astype(np.float32).astype(float))

    def factors(self, expected_log_error: Mapping[str, float]) -> dict[str, FloatArray]:
        """Draw what the truth may be over the prediction, for some targets at once.

        Args:
            expected_log_error: of each prediction, by target; targets that are no column are left out.

        Returns:
            By target 2n factors, of which the i-th of all targets belong together.
        """
        columns = {name: place for place, name in enumerate(self.targets)}
        drawn = {}
        for name, size in expected_log_error.items():
            if name in columns:
                logs = np.minimum(self.scores[:, columns[name]] * size, 50.0)
                drawn[name] = np.exp(np.concatenate([logs, np.maximum(-logs, -50.0)]))
        return drawn
