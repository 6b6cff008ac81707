"""The training workloads as places: what is near a step, and how near."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from profet.predictors.components import Components
from profet.predictors.context import context
from profet.predictors.gaussian_process import Proximity, Standardiser
from profet.profiles.arrays import FloatArray


@dataclass(frozen=True)
class Neighbourhood:
    """The m training workloads in the space of their standardised context.

    Args:
        parts: components of the workloads on the anchor.
        scaler: of the context's features.
        known: their standardised features, shape (m, features).
    """

    parts: Components
    scaler: Standardiser
    known: FloatArray

    @classmethod
    def of(cls, parts: Components) -> Self:
        """Place training workloads."""
        features = context(parts)
        scaler = Standardiser.fit(features)
        return cls(parts, scaler, scaler.transform(features))

    def near(self, asked: Components) -> Proximity:
        """Return how near n steps are to the training workloads, shape (n, m)."""
        return Proximity.between(self.scaler.transform(context(asked)), self.known)

    def among(self) -> Proximity:
        """Return how near the training workloads are to each other, shape (m, m)."""
        return Proximity.between(self.known, self.known)


def nearest(near: Proximity, row: int, count: int) -> list[int]:
    """Return the indices of the workloads nearest to one row, nearest first."""
    return [int(place) for place in np.argsort(near.squared[row], kind="stable")[:count]]
