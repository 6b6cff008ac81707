"""How profiles grow: what they would be at other sizes, and what makes one doubt it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from profet.predictors.components import Components
from profet.predictors.sizes.features import groups_of_families
from profet.predictors.sizes.growth import growth_terms
from profet.predictors.sizes.sizes import Sizes
from profet.predictors.sizes.surface import surface_nodes
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import IDLE_FAMILY, INPUT_FAMILY, op_families
from profet.quantities import US_PER_MS

MOVE_DOUBTS = 5
"""Reasons to doubt a move; see move_doubts."""

_FLOOR_US = 300.0
"""Added to the gap, idle and input time while they grow: below it they are what the clock's jitter is."""


@dataclass(frozen=True)
class Growth:
    """How n profiles grow.

    Args:
        profiles: at their own sizes.
        parts: what their steps consist of.
        times_us: by group of families, then gap, idle and input time, each of these with a floor, shape (n, k).
        shares: of each of those times, how it grows, shape (n, k, 4).
        novelty: distance to the nearest training workload, shape (n,).
    """

    profiles: ProfileArrays
    parts: Components
    times_us: FloatArray
    shares: FloatArray
    novelty: FloatArray

    def step_ms(self, rows: npt.NDArray[np.intp], terms: FloatArray) -> FloatArray:
        """Return the latency of a step after m moves of some rows, with their growth_terms, shape (m,)."""
        grown = self._grown(rows, terms)
        gap_us = self.parts.gap_us[rows] * grown[:, -3]
        step_us: FloatArray = (self.times_us[rows, :-3] * grown[:, :-3]).sum(axis=1) + gap_us
        return step_us / US_PER_MS

    def moved(self, rows: npt.NDArray[np.intp], terms: FloatArray) -> ProfileArrays:
        """Return the m profiles after moves of some rows; a latency that was unknown stays so."""
        grown = self._grown(rows, terms)
        place = {family: group for group, names in enumerate(groups_of_families()) for family in names}
        own = self.profiles.take(rows)
        device = [
            -2 if name == IDLE_FAMILY else place.get(name, place["elementwise"]) for name in _of(own.device_ops)
        ]
        host_us = own.host_us.copy()
        from_input = np.array([name == INPUT_FAMILY for name in _of(own.host_ops)], bool)
        host_us[:, from_input] *= grown[:, [-1]]
        known = ~np.isnan(own.step_latency_ms)
        latency_ms = np.where(known, self.step_ms(rows, terms), np.nan)
        return ProfileArrays(own.host_ops, own.device_ops, host_us, own.device_us * grown[:, device], latency_ms)

    def _grown(self, rows: npt.NDArray[np.intp], terms: FloatArray) -> FloatArray:
        """Return by how much each time grows, shape (m, k); the floors of the last three do not."""
        grown: FloatArray = np.einsum("nkt,nt->nk", self.shares[rows], terms)
        floored = self.times_us[rows, -3:]
        bare = np.maximum(floored - _FLOOR_US, 1e-9)
        grown[:, -3:] = np.maximum(floored * grown[:, -3:] - _FLOOR_US, 0.0) / bare
        gap_us, idle_us = (np.maximum(times, 1e-9) for times in (bare[:, 0], bare[:, 1]))
        filled = np.minimum(1.0, idle_us / gap_us) * gap_us * grown[:, -3] / idle_us
        grown[:, -2] = np.maximum(grown[:, -2], filled)  # idle time fills the gap as before: nothing looks cut off
        return grown


def _of(operations: tuple[str, ...]) -> Sequence[str]:
    return op_families().families(operations)


def times_us_of(parts: Components) -> FloatArray:
    """Return the times that grow each in their own way, shape (n, groups + 3)."""
    device = op_families().device
    grouped = [
        parts.families_us[:, [device.index(name) for name in names]].sum(axis=1) for names in groups_of_families()
    ]
    return np.column_stack(
        [*grouped, *(getattr(parts, name) + _FLOOR_US for name in ("gap_us", "idle_us", "input_us"))]
    )


def move_doubts(growth: Growth, start: Sizes, end: Sizes, rows: npt.NDArray[np.intp]) -> FloatArray:
    """Return the reasons to doubt m moves of some rows, shape (m, 5).

    One; how far the nearest training workload is; the share of the gap; how far batch and input area move, in logs.
    """
    batch, area = start.ratios_to(end)
    gap = (growth.parts.gap_us / growth.parts.step_us)[rows]
    return np.column_stack(
        [np.ones(len(rows)), growth.novelty[rows], gap, np.abs(np.log(batch)), np.abs(np.log(area))]
    )


def surface_profiles(growth: Growth, row: int) -> ProfileArrays:
    """Return one profile at every node of the surface of sizes."""
    terms = growth_terms(*surface_nodes())
    return growth.moved(np.full(len(terms), row), terms)
