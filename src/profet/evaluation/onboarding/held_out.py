"""What predictors of known targets say of models that they had not seen, as onboarding rehearses with it.

A new target rests on predictions for the known ones. How wrong that makes it can be measured on the known targets
themselves, each treated as new, provided that the predictions it then rests on are of models held out: training
keeps those in the bundle.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from profet.datasets.dataset import Dataset, Rows
from profet.evaluation.held_out import LATENCY_KNOWN
from profet.evaluation.parallel import Track, run_all
from profet.predictors.answer import NOVELTY
from profet.predictors.blend import BlendPredictor
from profet.predictors.components import Components, medians
from profet.predictors.onboarding.prior import by_family, log_ratios
from profet.predictors.state import State, below, checked
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

PART = "onboarding"
"""Name of the part of a bundle that keeps them."""

_LEAST_MODELS, _LEAST_TARGETS = 2, 2


@dataclass(frozen=True)
class HeldOut:
    """n workloads on one anchor, as predictors see them that had not seen their models.

    Args:
        workloads: their names.
        targets: t known targets.
        parts: components on the anchor.
        ratios: predicted log ratios of the targets, shape (t, n, families + 1).
        novelty: distance to the nearest workload that was learnt from, shape (n,).
        true_us: measured step latencies on the targets, shape (t, n).
    """

    workloads: tuple[str, ...]
    targets: tuple[str, ...]
    parts: Components
    ratios: FloatArray
    novelty: FloatArray
    true_us: FloatArray

    @property
    def models(self) -> npt.NDArray[np.object_]:
        """Model of each workload, shape (n,)."""
        return np.array([model_of(name) for name in self.workloads], object)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what a bundle keeps; 16 bits hold a log ratio to 0.2 %."""
        kept = {each.name: getattr(self.parts, each.name).astype(np.float32) for each in fields(self.parts)}
        kept["ratios"] = self.ratios.astype(np.float16)
        return {**kept, "novelty": self.novelty.astype(np.float32), "true_us": self.true_us.astype(np.float32)}

    @classmethod
    def from_arrays(
        cls, workloads: tuple[str, ...], targets: tuple[str, ...], arrays: Mapping[str, npt.NDArray[Any]]
    ) -> Self:
        """Rebuild from what a bundle keeps.

        Raises:
            KeyError, ValueError: they are not those of these workloads and targets.
        """
        n, t, families = len(workloads), len(targets), len(op_families().device) + 1
        parts = Components.from_arrays(arrays)
        ratios = checked(arrays, "ratios", (t, n, families))
        true_us = checked(arrays, "true_us", (t, n), least=1e-6)
        return cls(workloads, targets, parts, ratios, checked(arrays, "novelty", (n,), least=0.0), true_us)


@dataclass(frozen=True)
class _Task:
    """Medians of an anchor's workloads and, by target, the same ones there; the model that is held out."""

    anchor: ProfileArrays
    targets: dict[str, ProfileArrays]
    workloads: list[str]
    held_out: npt.NDArray[np.bool_]


def model_of(workload: str) -> str:
    """Return the model in a workload's name, such as "VGG16 at 224 px, batch 32"."""
    return workload.rpartition(" at ")[0] or workload


def held_out_part(dataset: Dataset, rows: Mapping[tuple[str, str], tuple[Rows, Rows]], track: Track) -> State:
    """Hold out every model of every anchor once, and predict it for all targets.

    Args:
        dataset: that the rows belong to.
        rows: runs of each pair, on the anchor and on the target.
        track: shows how far it is.

    Returns:
        The part of a bundle; empty for anchors with fewer than two targets or models.
    """
    entries: list[dict[str, Any]] = []
    arrays: dict[str, npt.NDArray[Any]] = {}
    for anchor in sorted({anchor for anchor, _ in rows}):
        whole = _medians(dataset, {t: sides for (a, t), sides in rows.items() if a == anchor})
        models = np.array([model_of(name) for name in whole.workloads], object)
        if len(set(models)) < _LEAST_MODELS or len(whole.targets) < _LEAST_TARGETS:
            continue
        tasks = [replace(whole, held_out=models == model) for model in sorted(set(models))]
        folds = list(run_all(_hold_out, tasks, f"holding out on {anchor}", track))
        places = np.argsort(np.concatenate([np.flatnonzero(task.held_out) for task in tasks]))
        for latency in LATENCY_KNOWN:
            parts, ratios, novelty = zip(*(fold[latency] for fold in folds), strict=True)
            joined = Components.joined(parts).take(places)
            true_us = np.stack([side.step_latency_ms * US_PER_MS for side in whole.targets.values()])
            found = HeldOut(
                tuple(whole.workloads),
                tuple(whole.targets),
                joined,
                np.concatenate(ratios, axis=1)[:, places],
                np.concatenate(novelty)[places],
                true_us,
            )
            arrays.update({f"{len(entries)}/{latency}/{name}": array for name, array in found.arrays().items()})
        entries.append({"anchor": anchor, "workloads": whole.workloads, "targets": list(whole.targets)})
    return State({"anchors": entries}, arrays)


def held_out_of(part: State | None, anchor: str) -> dict[bool, HeldOut]:
    """Return what a bundle keeps of an anchor, by whether its latency is known; empty where that is nothing.

    Raises:
        KeyError, TypeError, ValueError: it is damaged.
    """
    for place, entry in enumerate([] if part is None else part.settings["anchors"]):
        if part is not None and entry["anchor"] == anchor:
            names, targets = tuple(map(str, entry["workloads"])), tuple(map(str, entry["targets"]))
            return {
                known: HeldOut.from_arrays(names, targets, below(part.arrays, f"{place}/{latency}/"))
                for latency, known in LATENCY_KNOWN.items()
            }
    return {}


def _medians(dataset: Dataset, sides: Mapping[str, tuple[Rows, Rows]]) -> _Task:
    """Return the median run of each workload that was measured on all targets of an anchor."""
    names = {target: np.array(dataset.workload_names(here), object) for target, (here, _) in sides.items()}
    shared = sorted(set.intersection(*(set(each) for each in names.values())))
    anchor, targets = None, {}
    for target, (here, there) in sides.items():
        rows = np.isin(names[target], shared)
        if not shared:
            continue
        places = np.searchsorted(np.array(shared), names[target][rows].astype(str))
        anchor = anchor or medians(dataset.profile_arrays(here[rows]), places)
        targets[target] = medians(dataset.profile_arrays(there[rows]), places)
    if anchor is None:
        return _Task(ProfileArrays.from_profiles([]), {}, [], np.zeros(0, bool))
    return _Task(anchor, targets, shared, np.zeros(len(shared), bool))


def _hold_out(task: _Task) -> dict[str, tuple[Components, FloatArray, FloatArray]]:
    taught = ~task.held_out
    names = [name for name, kept in zip(task.workloads, taught, strict=True) if kept]
    fitted = [BlendPredictor().fit(task.anchor.take(taught), t.take(taught), names) for t in task.targets.values()]
    return dict(_seen_by(fitted, task.anchor.take(task.held_out)))


def _seen_by(
    fitted: list[BlendPredictor], asked: ProfileArrays
) -> Iterator[tuple[str, tuple[Components, FloatArray, FloatArray]]]:
    for latency, known in LATENCY_KNOWN.items():
        profiles = asked if known else replace(asked, step_latency_ms=np.full(len(asked), np.nan))
        parts = fitted[0].parts(profiles)
        anchor_us = by_family(parts)
        ratios = np.stack([log_ratios(predictor.split(parts), anchor_us) for predictor in fitted])
        doubts = fitted[0].answer(profiles).doubts
        novelty = np.zeros(len(parts)) if doubts is None else doubts[:, NOVELTY]
        yield latency, (parts, ratios, novelty)
