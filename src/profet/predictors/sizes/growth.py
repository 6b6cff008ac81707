"""How a time grows with batch and input size: four shares of it, each of which grows in its own way.

    time(b', p') / time(b, p) = s₀ + s₁ β + s₂ α + s₃ α β      with β = b' / b and α = (p' / p)²

A part of a time is fixed (launches, waiting), one grows with the batch (a layer behind global pooling), one with
the area of the input (the weights of a layer behind none), and one with both (convolutions). The shares are above
zero and add up to one: at its own size a time is what it was, and it never falls where a size grows.
"""

import numpy as np
import numpy.typing as npt

from profet.profiles.arrays import FloatArray

TERMS = 4
FREE = TERMS - 1
"""Log odds that say as much as the shares: of each term but the first against the first."""

_FIRST_GUESS = (-1.0, -1.0, 1.0)
_ITERATIONS = 15
_LONGEST_STEP = 1.0
_DRAW = 0.01
"""Variance of a measured log ratio (about 7 % of error) over that of log odds around their mean (0.7²)."""


def growth_terms(batch_ratio: FloatArray, area_ratio: FloatArray) -> FloatArray:
    """Return by how much each kind of time grows, shape (n, 4), from ratios of batches and of input areas, (n,)."""
    ones = np.ones(np.shape(batch_ratio))
    return np.stack([ones, batch_ratio * ones, area_ratio * ones, batch_ratio * area_ratio], axis=-1)


def shares_of(log_odds: FloatArray) -> FloatArray:
    """Return the four shares behind log odds of shape (..., 3), shape (..., 4)."""
    logits = np.concatenate([np.zeros((*log_odds.shape[:-1], 1)), log_odds], axis=-1)
    odds = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: FloatArray = odds / odds.sum(axis=-1, keepdims=True)
    return shares


def fit_log_odds(
    source: npt.NDArray[np.intp], count: int, terms: FloatArray, ratios: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the log odds of each source, shape (count, 3), that fit its measured ratios best.

    Gauss-Newton on squared log errors. What few moves leave open is drawn to the mean over sources.

    Args:
        source: which of the sources each of n moves starts from, shape (n,).
        count: how many sources there are.
        terms: of each move, as growth_terms returns them.
        ratios: time after the move over time before it, shape (n,).
        weight: of each move, around one, shape (n,).
    """
    log_odds = np.tile(np.array(_FIRST_GUESS), (count, 1))
    moved = np.bincount(source, minlength=count) > 0
    mean = log_odds[0]
    for _ in range(_ITERATIONS):
        shares = shares_of(log_odds)[source]
        fitted = (shares * terms).sum(axis=1)
        error = np.log(fitted / ratios)
        slope = (shares * (terms - fitted[:, None]) / fitted[:, None])[:, 1:]
        curvature, gradient = np.zeros((count, FREE, FREE)), np.zeros((count, FREE))
        np.add.at(curvature, source, weight[:, None, None] * slope[:, :, None] * slope[:, None, :])
        np.add.at(gradient, source, (weight * error)[:, None] * slope)
        curvature += _DRAW * np.eye(FREE)
        gradient += _DRAW * (log_odds - mean)
        step = np.linalg.solve(curvature, gradient[:, :, None])[:, :, 0]
        log_odds = log_odds - np.clip(step, -_LONGEST_STEP, _LONGEST_STEP)
        mean = log_odds[moved].mean(axis=0)
    return log_odds
