"""The published random forest: trained by scikit-learn, kept and read as plain arrays."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]

_LEAF = -1
_MAX_DEPTH = 100_000


@dataclass(frozen=True)
class Forest:
    """Regression trees, one after another in depth-first order, so that a left child is the next node.

    Args:
        roots: index of every tree's first node, shape (trees,).
        feature: column that a node asks about, -1 at a leaf, shape (nodes,).
        value: threshold (go left when the feature is at most this) or, at a leaf, the answer, shape (nodes,).
        right: how many nodes further the right child is, 0 at a leaf, shape (nodes,).
        depth: of the deepest leaf.
    """

    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int16]
    value: Float32
    right: npt.NDArray[np.int32]
    depth: int

    def __post_init__(self) -> None:
        nodes = np.arange(len(self.value))
        if not 0 <= self.depth <= _MAX_DEPTH or not len(self.feature) == len(self.right) == len(nodes) > 0:
            raise ValueError("a forest whose arrays do not fit together")
        inner = self.feature != _LEAF
        step = np.where(inner, np.maximum(self.right, 1), 0)
        if (self.feature < _LEAF).any() or (self.right < 0).any() or (nodes + step >= len(nodes)).any():
            raise ValueError("a forest with a branch that leads nowhere")
        if (self.roots < 0).any() or (self.roots >= len(nodes)).any() or not np.isfinite(self.value).all():
            raise ValueError("a forest with a root or answer that is none")

    @classmethod
    def fit(cls, X: Float64, y: Float64, n_trees: int, seed: int) -> Self:
        """Grow trees on features of shape (rows, features) and answers of shape (rows,)."""
        from sklearn.ensemble import RandomForestRegressor

        grown = RandomForestRegressor(n_estimators=n_trees, random_state=seed, n_jobs=1).fit(X, y)
        trees = [estimator.tree_ for estimator in grown.estimators_]
        counts = np.array([tree.node_count for tree in trees])
        leaf = np.concatenate([tree.children_left for tree in trees]) == -1
        position = np.concatenate([np.arange(count) for count in counts])
        left = np.concatenate([tree.children_left for tree in trees])
        if not np.array_equal(left[~leaf], position[~leaf] + 1):
            raise RuntimeError("scikit-learn no longer numbers its trees depth first")
        right = np.concatenate([tree.children_right for tree in trees])
        answers = np.concatenate([tree.value[:, 0, 0] for tree in trees])
        thresholds = _round_down(np.concatenate([tree.threshold for tree in trees]))
        return cls(
            roots=np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int32),
            feature=np.where(leaf, _LEAF, np.concatenate([tree.feature for tree in trees])).astype(np.int16),
            value=np.where(leaf, answers.astype(np.float32), thresholds),
            right=np.where(leaf, 0, right - position).astype(np.int32),
            depth=max(tree.max_depth for tree in trees),
        )

    def predict(self, X: Float64) -> Float64:
        """Return the mean answer of all trees, shape (rows,), for features of shape (rows, features)."""
        X32 = X.astype(np.float32)
        rows = np.arange(len(X32))[:, None]
        node = np.broadcast_to(self.roots, (len(X32), len(self.roots))).astype(np.intp)
        for _ in range(self.depth):
            feature = self.feature[node]
            goes_right = X32[rows, feature] > self.value[node]
            node += np.where(feature == _LEAF, 0, np.where(goes_right, self.right[node], 1))
        answers: Float64 = self.value[node].mean(axis=1, dtype=np.float64)
        return answers


def _round_down(thresholds: Float64) -> Float32:
    """Round to the next float32 below: scikit-learn compares float32 features, so no decision changes."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded)
