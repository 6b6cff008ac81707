"""PROFET as published: a line, a forest and a network from one profile, and the median of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import numpy as np

from profet.predictors.answer import Answer, Caution
from profet.predictors.forest import Forest
from profet.predictors.network import Network
from profet.predictors.op_clusters import OpClusters, Unseen
from profet.predictors.state import State
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.quantities import US_PER_MS

_NAMED = 5


@dataclass(frozen=True)
class _Fitted:
    """What training found: features, slope and intercept (ms) of the line, forest and network (both in µs)."""

    clusters: OpClusters
    slope: float
    intercept_ms: float
    forest: Forest
    network: Network

    def __post_init__(self) -> None:
        if not np.isfinite([self.slope, self.intercept_ms]).all():
            raise ValueError("a line that is none")
        features = len(self.clusters.host_ops) + len(self.clusters.clusters)
        if self.forest.feature.max() >= features or len(self.network.weights[0]) != features:
            raise ValueError(f"members that do not take the {features} features of the clusters")


@dataclass
class PublishedPredictor:
    """Predicts step latency on one target from profiles on one anchor, as PROFET does.

    Args:
        n_trees: of the random forest.
        seed: of forest and network.
    """

    n_trees: int = 100
    seed: int = 0
    _fitted: _Fitted | None = None

    def get_params(self) -> dict[str, Any]:
        """Return the settings by name, as scikit-learn's estimators do."""
        return {field.name: getattr(self, field.name) for field in fields(self) if not field.name.startswith("_")}

    def fit(self, anchor: ProfileArrays, target: ProfileArrays, workloads: Sequence[str] = ()) -> Self:  # noqa: ARG002
        """Learn from runs on the anchor and the same runs on the target; only the target's latency is used.

        Args:
            anchor: n runs, each with a profile and a latency.
            target: the same n runs, each with a latency.
            workloads: what each run repeats; the published method takes every run for itself.
        """
        clusters = OpClusters.fit(anchor)
        X, y_us = clusters.transform(anchor), target.step_latency_ms * US_PER_MS
        slope, intercept_ms = _fit_line(anchor.step_latency_ms, target.step_latency_ms)
        self._fitted = _Fitted(
            clusters,
            slope,
            intercept_ms,
            Forest.fit(X, y_us, self.n_trees, self.seed),
            Network.fit(X, y_us, self.seed),
        )
        return self

    def predict_members(self, anchor: ProfileArrays) -> dict[str, FloatArray]:
        """Return each member's latency on the target in ms, shape (n,); the line's is NaN without a latency."""
        fitted = self._require_fitted()
        X = fitted.clusters.transform(anchor)
        return {
            "linear": fitted.slope * anchor.step_latency_ms + fitted.intercept_ms,
            "forest": fitted.forest.predict(X) / US_PER_MS,
            "network": fitted.network.predict(X) / US_PER_MS,
        }

    def predict(self, anchor: ProfileArrays) -> FloatArray:
        """Return the latency on the target in ms, shape (n,).

        The median of the three members where the anchor latency is known, the mean of forest and network
        where it is not.
        """
        return self.answer(anchor).latency_ms

    def answer(self, anchor: ProfileArrays, framework: str | None = None) -> Answer:  # noqa: ARG002
        """Return the latency on the target and the members' answers, for n profiles of any framework."""
        members = self.predict_members(anchor)
        unseen = self._require_fitted().clusters.unseen(anchor)
        return Answer(combine(members), members, cautions=tuple(Caution(_tell(each)) for each in unseen))

    def _require_fitted(self) -> _Fitted:
        if self._fitted is None:
            raise ValueError("not fitted; call fit first")
        return self._fitted

    def to_state(self) -> State:
        """Return what a bundle keeps."""
        fitted = self._require_fitted()
        forest, network = fitted.forest, fitted.network
        arrays: dict[str, Any] = {
            "forest/roots": forest.roots,
            "forest/feature": forest.feature,
            "forest/value": forest.value,
            "forest/right": forest.right,
        }
        for layer, (weights, biases) in enumerate(zip(network.weights, network.biases, strict=True)):
            arrays[f"network/weights{layer}"], arrays[f"network/biases{layer}"] = weights, biases
        settings = {
            "params": self.get_params(),
            "clusters": asdict(fitted.clusters),
            "features": fitted.clusters.feature_names,
            "line": {"slope": fitted.slope, "intercept_ms": fitted.intercept_ms},
            "forest_depth": forest.depth,
            "network_layers": len(network.weights),
        }
        return State(settings, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Rebuild a fitted predictor.

        Raises:
            KeyError, TypeError, ValueError: the state is not one of this predictor.
        """
        settings, arrays = state.settings, state.arrays
        clusters = OpClusters(
            tuple(settings["clusters"]["host_ops"]), tuple(map(tuple, settings["clusters"]["clusters"]))
        )
        forest = Forest(
            roots=arrays["forest/roots"],
            feature=arrays["forest/feature"],
            value=arrays["forest/value"],
            right=arrays["forest/right"],
            depth=int(settings["forest_depth"]),
        )
        layers = range(int(settings["network_layers"]))
        network = Network(
            tuple(arrays[f"network/weights{layer}"] for layer in layers),
            tuple(arrays[f"network/biases{layer}"] for layer in layers),
        )
        line: Mapping[str, float] = settings["line"]
        fitted = _Fitted(clusters, float(line["slope"]), float(line["intercept_ms"]), forest, network)
        return cls(**settings["params"], _fitted=fitted)


def combine(members: Mapping[str, FloatArray]) -> FloatArray:
    """Return the median of the members where all answered, the mean of the others where the line did not."""
    answers = np.stack([members["linear"], members["forest"], members["network"]])
    median: FloatArray = np.sort(answers, axis=0)[1]
    return np.where(np.isnan(answers[0]), answers[1:].mean(axis=0), median)


def _tell(unseen: Unseen) -> str:
    pairs = list(unseen.taken_for.items())
    taken = ", ".join(f"{name} for {known}" for name, known in pairs[:_NAMED])
    more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
    return (
        f"{100 * unseen.share:.1f} % of {unseen.side} time is in operations that the predictor never saw;"
        f" each was taken for the nearest name it knows: {taken}{more}"
    )


def _fit_line(anchor_ms: FloatArray, target_ms: FloatArray) -> tuple[float, float]:
    """Return slope and intercept (ms) of the least-squares line; flat where the anchor's latency never varies."""
    around, level_ms = anchor_ms - anchor_ms.mean(), float(target_ms.mean())
    spread = float(around @ around)
    slope = float(around @ target_ms) / spread if spread > 0 else 0.0
    return slope, level_ms - slope * float(anchor_ms.mean())
