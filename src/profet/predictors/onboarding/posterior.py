"""What measured workloads tell of a new target: the prior's log ratios, conditioned on latencies and profiles.

One exact Bayesian linear model (Rasmussen and Williams, 2006, section 2.2), so that one workload is enough. A
profile tells the log ratio of every family that takes time; a latency tells a sum of them, nearly linear: it is
linearised again around the answer, as Gauss and Newton do.
"""

import numpy as np
import numpy.typing as npt

from profet.predictors.onboarding import prior
from profet.predictors.onboarding.prior import Sums
from profet.profiles.arrays import FloatArray

LATENCY_NOISE = 0.05
"""Standard deviation of a measured log latency beside what the model can tell."""

_FAMILY_NOISE = 0.05
_LEAST_SHARE, _LEAST_US = 0.002, 5.0
_ITERATIONS = 5


def condition(
    places: Sums, anchor_us: FloatArray, target_us: FloatArray, families_us: FloatArray
) -> tuple[Sums, FloatArray]:
    """Return what k measured workloads teach, as sums whose covariances add up to an answer, and their ratios.

    Args:
        places: where the workloads are; its weights do not matter.
        anchor_us: time on the anchor by family and gap, shape (k, families + 1).
        target_us: step latency on the target, shape (k,).
        families_us: time there by family and gap, shape (k, families + 1); NaN in rows without a profile.
    """
    mean = places.mean
    profiled = ~np.isnan(families_us).any(axis=1, keepdims=True)
    timed = np.flatnonzero(~profiled)
    rows, columns = np.nonzero(np.asarray(_told(anchor_us) & profiled))
    share = (anchor_us / anchor_us.sum(axis=1, keepdims=True))[rows, columns]
    noise = np.concatenate([_FAMILY_NOISE**2 / (share + 0.02), np.full(len(timed), LATENCY_NOISE**2)])
    seen = prior.log_ratios(np.nan_to_num(families_us), anchor_us)[rows, columns] - mean[rows, columns]
    ratios = mean
    for _ in range(_ITERATIONS if len(timed) else 1):
        slope = prior.shares(ratios, anchor_us)[timed]
        now_us = prior.target_us(ratios, anchor_us)[timed].sum(axis=1)
        told = np.log(target_us[timed] / now_us) + (slope * (ratios - mean)[timed]).sum(axis=1)
        weights = np.vstack([np.eye(anchor_us.shape[1])[columns], slope])
        sums = places.take(np.concatenate([rows, timed]), weights)
        gains = np.linalg.solve(prior.covariance(sums, sums) + np.diag(noise), np.concatenate([seen, told]))
        added = np.zeros_like(anchor_us)
        np.add.at(added, np.concatenate([rows, timed]), gains[:, None] * weights)
        learnt = places.take(np.arange(len(anchor_us)), added)
        ratios = log_ratios_of(places, learnt)
    return learnt, ratios


def log_ratios_of(places: Sums, learnt: Sums) -> FloatArray:
    """Return the log ratio of every family and the gap, shape (n, families + 1), given what was learnt."""
    added = prior.covariance(places.of_every_family(), learnt).sum(axis=1)
    ratios: FloatArray = places.mean + added.reshape(len(places), -1)
    return ratios


def spread(sums: Sums, measured: Sums) -> FloatArray:
    """Return the standard deviation of log latencies, shape (n,), given those of the measured workloads."""
    noise = np.diag(np.full(len(measured), LATENCY_NOISE**2))
    across = prior.covariance(sums, measured)
    explained = (across * np.linalg.solve(prior.covariance(measured, measured) + noise, across.T).T).sum(axis=1)
    left: FloatArray = np.sqrt(np.maximum(prior.variance(sums) - explained, 0.0))
    return left


def _told(anchor_us: FloatArray) -> npt.NDArray[np.bool_]:
    """Return which families' ratios a profile tells: those with time enough, and the gap."""
    least_us = np.maximum(_LEAST_US, _LEAST_SHARE * anchor_us.sum(axis=1, keepdims=True))
    told: npt.NDArray[np.bool_] = np.asarray(anchor_us > least_us)
    told[:, -1] = True
    return told
