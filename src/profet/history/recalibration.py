"""Fits the intervals of a bundle to what was recorded, so that they hold on its user's own runs.

Split conformal prediction (Papadopoulos et al., 2008; Lei et al., 2018) with the records as its held-out runs: the
interval at a level is the ceil((n + 1) * level)-th smallest score of n records, times the size of error expected.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from profet.errors import InputError
from profet.history.measurement import Measurement
from profet.predictors.bundle import Bundle
from profet.predictors.intervals import LEVELS
from profet.predictors.manifest import Recalibration

_FEW_PROFILES = 5


@dataclass(frozen=True)
class Recalibrated:
    """Which intervals change, and what their user must know."""

    factors: tuple[Recalibration, ...]
    warnings: tuple[str, ...]


def fewest_records(level: float) -> int:
    """Return how many records an interval at a level needs: as many as its highest score is to hold among.

    >>> fewest_records(0.9), fewest_records(0.5)
    (9, 1)
    """
    return math.ceil(level / (1 - level) - 1e-9)


def conformal_score(scores: Sequence[float], level: float) -> float:
    """Return the ceil((n + 1) * level)-th smallest of n scores.

    Raises:
        ValueError: fewer than the level needs.
    """
    rank = math.ceil((len(scores) + 1) * level - 1e-9)
    if rank > len(scores):
        raise ValueError(f"{len(scores)} scores for a level of {level:g}, which needs {fewest_records(level)}")
    return sorted(scores)[rank - 1]


def recalibrate(measurements: Iterable[Measurement], bundle: Bundle, level: float) -> Recalibrated:
    """Find how much wider or narrower each pair's intervals must be to hold at a level in what was recorded.

    Raises:
        InputError: no pair has enough records that this bundle predicted.
    """
    groups, warnings = _of_this_bundle(measurements, bundle)
    needed, factors = fewest_records(level), []
    held = {(pair.anchor, pair.target) for pair in bundle.pairs}
    for (anchor, target, known), found in sorted(groups.items()):
        name = f"{anchor} → {target}, its anchor's latency {'known' if known else 'unknown'}"
        calibration = bundle.calibration(anchor, target, known) if (anchor, target) in held else None
        now = 0.0 if calibration is None else float(np.interp(level, LEVELS, calibration.quantiles))
        if len(found) < needed:
            warnings.append(f"{name}: {len(found)} records, and {level:g} needs {needed}; its intervals stay")
        elif now <= 0:
            warnings.append(f"{name}: the bundle has no interval to recalibrate")
        else:
            score = conformal_score([each.score for each in found if each.score is not None], level)
            factors.append(Recalibration(anchor, target, known, level, len(found), max(score, 1e-9) / now))
            profiles = len({each.profile_sha256 or each.id for each in found})
            if profiles < _FEW_PROFILES:
                of = "one profile" if profiles == 1 else f"{profiles} profiles"
                warnings.append(f"{name}: its records are of {of}; they may say little of others")
    if not factors:
        most = max((len(found) for found in groups.values()), default=0)
        raise InputError(
            f"no pair has the {needed} records of this bundle's predictions that {level:g} needs (the most is"
            f" {most}); record more runs, or give a lower --interval"
        )
    return Recalibrated(tuple(factors), tuple(warnings))


def _of_this_bundle(
    measurements: Iterable[Measurement], bundle: Bundle
) -> tuple[dict[tuple[str, str, bool], list[Measurement]], list[str]]:
    """Return records with a score by pair and whether the anchor's latency was known, and what was left out."""
    groups: dict[tuple[str, str, bool], list[Measurement]] = {}
    others = without = 0
    origin = (bundle.method, bundle.provenance.dataset, bundle.provenance.created_with)
    for each in measurements:
        if each.score is None:
            without += 1
        elif (each.method, each.bundle_dataset, each.bundle_version) != origin:
            others += 1
        else:
            key = (each.anchor, each.target, each.anchor_latency_ms is not None)
            groups.setdefault(key, []).append(each)
    warnings = []
    if others:
        warnings.append(f"{others} records were predicted by another bundle, or one that is not known; left out")
    if without:
        warnings.append(
            f"{without} records have no prediction with an interval, or one for a size not profiled; left out"
        )
    return groups, warnings
