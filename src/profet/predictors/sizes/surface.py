"""Latencies over all sizes that a profile can be asked about, made to rise with both: more never takes less."""

from functools import lru_cache

import numpy as np

from profet.predictors.sizes.sizes import MOST_WORK
from profet.profiles.arrays import FloatArray

_REACH = round(np.log2(MOST_WORK))
_PLACES = np.arange(-_REACH, _REACH + 1)


@lru_cache(maxsize=1)
def surface_nodes() -> tuple[FloatArray, FloatArray]:
    """Return batch and input area over the profile's own at every node of the surface, shape (nodes,) each.

    The nodes are an octave apart, as far as a what-if reaches and one cell beyond it.
    """
    batch, area = (axis.ravel() for axis in np.meshgrid(_PLACES, _PLACES, indexing="ij"))
    inside = np.abs(batch + area) <= _REACH + 2
    return 2.0 ** batch[inside], 2.0 ** area[inside]


def read_surface(
    latency_ms: FloatArray, own_ms: float, batch_ratio: FloatArray, area_ratio: FloatArray
) -> FloatArray:
    """Return latencies at m sizes, shape (m,), from those at the nodes: linear in logs between them.

    At every node the latency is the geometric mean of the largest at any smaller size and the smallest at any
    larger one, which rises with both sizes and is the latency itself where that rises already; sizes above the
    profile's own take at least own_ms, sizes below it at most that. Interpolation keeps both.

    Args:
        latency_ms: as predicted at each of surface_nodes, shape (nodes,).
        own_ms: latency at the profile's own size.
        batch_ratio: batch over the profile's own, shape (m,).
        area_ratio: input area over the profile's own, shape (m,).
    """
    batch, area = (np.log2(each).round().astype(int) for each in surface_nodes())
    logs = np.log(latency_ms)
    below = (batch[None, :] <= batch[:, None]) & (area[None, :] <= area[:, None])
    highest = np.where(below, logs[None, :], -np.inf).max(axis=1)
    lowest = np.where(below.T, logs[None, :], np.inf).min(axis=1)
    rising = (highest + lowest) / 2
    own = np.log(own_ms)
    rising = np.where((batch >= 0) & (area >= 0), np.maximum(rising, own), rising)
    rising = np.where((batch <= 0) & (area <= 0), np.minimum(rising, own), rising)
    grid = np.full((len(_PLACES), len(_PLACES)), np.nan)
    grid[batch + _REACH, area + _REACH] = rising
    return np.exp(_between(grid, np.log2(batch_ratio) + _REACH, np.log2(area_ratio) + _REACH))


def _between(grid: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Interpolate a grid bilinearly at places (x, y), each of shape (m,)."""
    last = len(grid) - 2
    left, low = (np.clip(np.floor(each), 0, last).astype(int) for each in (x, y))
    right, high = x - left, y - low
    found: FloatArray = (
        grid[left, low] * (1 - right) * (1 - high)
        + np.where(right > 0, grid[left + 1, low], 0.0) * right * (1 - high)
        + np.where(high > 0, grid[left, low + 1], 0.0) * (1 - right) * high
        + np.where((right > 0) & (high > 0), grid[left + 1, low + 1], 0.0) * right * high
    )
    return found
