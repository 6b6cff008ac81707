"""Operations with similar names form one feature, so that a rare name still counts (as published)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from profet.names import nearest
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.steps import PUBLISHED_STEPS

CLUSTER_DISTANCE = 6.0
"""Average Levenshtein distance below which two clusters of names are joined."""


@dataclass(frozen=True)
class Unseen:
    """Operations of one side ("device" or "host") that were never seen.

    Args:
        side: "device" or "host".
        taken_for: the known name that each was taken for.
        share: of the side's time.
    """

    side: str
    taken_for: dict[str, str]
    share: float


@dataclass(frozen=True)
class OpClusters:
    """The published features: every host operation, and sums over clusters of device operations.

    Args:
        host_ops: names of the host columns, in feature order.
        clusters: names of the device operations of each cluster, in feature order after the host columns.
    """

    host_ops: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]

    @classmethod
    def fit(cls, profiles: ProfileArrays) -> Self:
        """Cluster the device operations that take any time in these profiles."""
        seen = profiles.seen_only()
        return cls(tuple(sorted(seen.host_ops)), cluster_names(sorted(seen.device_ops)))

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature, as in the published data, cluster members joined by ``&``."""
        return [f"Host_{name}" for name in self.host_ops] + [
            "&".join(f"Device_{name}" for name in names) for names in self.clusters
        ]

    def transform(self, profiles: ProfileArrays) -> FloatArray:
        """Return features of shape (n, features): µs in a capture of two steps, unscaled, as published.

        An operation never seen in training goes where the nearest known name goes; none is dropped.
        """
        features = np.zeros((len(profiles), len(self.host_ops) + len(self.clusters)))
        host = {name: index for index, name in enumerate(self.host_ops)}
        device = {name: len(host) + k for k, names in enumerate(self.clusters) for name in names}
        for names, times, columns in (
            (profiles.host_ops, profiles.host_us, host),
            (profiles.device_ops, profiles.device_us, device),
        ):
            if columns:
                places = [columns[name] for name in taken_for(names, list(columns))]
                np.add.at(features.T, np.array(places, np.intp), times.T * PUBLISHED_STEPS)
        return features

    def unseen(self, profiles: ProfileArrays) -> list[Unseen]:
        """Return the operations that take time but were never seen, device first."""
        device = [name for names in self.clusters for name in names]
        found = []
        for side, names, times_us, known in (
            ("device", profiles.device_ops, profiles.device_us, device),
            ("host", profiles.host_ops, profiles.host_us, self.host_ops),
        ):
            totals_us = times_us.sum(axis=0)
            used = [name for name, time_us in zip(names, totals_us, strict=True) if time_us > 0]
            pairs = zip(used, taken_for(used, known), strict=True) if known else ()
            relatives = {name: other for name, other in pairs if name != other}
            unseen_us = sum(totals_us[names.index(name)] for name in relatives)
            if relatives:
                found.append(Unseen(side, relatives, float(unseen_us / totals_us.sum())))
        return found


def taken_for(names: Sequence[str], known: Sequence[str]) -> list[str]:
    """Return each name where it is known, else the known name nearest to it."""
    strangers = sorted(set(names) - set(known))
    relatives = dict(zip(strangers, nearest(strangers, known), strict=True))
    return [relatives.get(name, name) for name in names]


def cluster_names(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Cluster names by average linkage on their Levenshtein distances, cut at CLUSTER_DISTANCE."""
    from rapidfuzz import process
    from rapidfuzz.distance import Levenshtein
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(names) < 2:
        return tuple((name,) for name in names)
    distances = process.cdist(names, names, scorer=Levenshtein.distance, dtype=np.float64)
    labels = fcluster(linkage(squareform(distances), "average"), CLUSTER_DISTANCE, criterion="distance")
    return tuple(
        tuple(name for name, own in zip(names, labels, strict=True) if own == label) for label in np.unique(labels)
    )
