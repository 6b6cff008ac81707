"""Latencies at other sizes for models that neither the move nor the predictors have seen."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from profet.datasets.dataset import Dataset
from profet.evaluation.held_out import LATENCY_KNOWN
from profet.predictors.components import medians
from profet.predictors.methods import DEFAULT_METHOD, Predictor, new_predictor
from profet.predictors.sizes.growth import growth_terms
from profet.predictors.sizes.moves import SizeMoves
from profet.predictors.sizes.profile_growth import Growth, move_doubts, surface_profiles
from profet.predictors.sizes.sizes import MOST_WORK, Sizes
from profet.predictors.sizes.surface import read_surface
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.quantities import US_PER_MS

_SIZE = ["model", "pixels", "batch_size"]


@dataclass(frozen=True)
class Profiled:
    """The n profiled runs on one anchor, and the same experiments on every target.

    Args:
        anchor: the instance.
        profiles: of the runs.
        runs: columns experiment, model, pixels, batch_size, optimizer; one row a run.
        workloads: what each run repeats, shape (n,).
        targets: by name, the rows of those runs that were also measured there, and their latencies there.
        truths: every latency on the targets and on the anchor: target, experiment, model, optimizer, pixels,
            batch_size, step_latency_ms.
    """

    anchor: str
    profiles: ProfileArrays
    runs: pd.DataFrame
    workloads: Sequence[str]
    targets: dict[str, tuple[npt.NDArray[np.intp], ProfileArrays]]
    truths: pd.DataFrame


@dataclass(frozen=True)
class SizeFold:
    """What a worker needs.

    Args:
        profiled: the runs of one anchor.
        left_out: models that nothing is learnt from, and that are asked about.
        every: ask about every so many of their workloads, which is enough to calibrate on.
    """

    profiled: Profiled
    left_out: tuple[str, ...]
    every: int = 1


def profiled_runs(dataset: Dataset, anchor: str) -> Profiled:
    """Collect the runs of an anchor, and what the same experiments took elsewhere."""
    runs = dataset.runs
    timed = runs["step_latency_ms"].notna().to_numpy()
    rows = np.flatnonzero((runs["instance"] == anchor).to_numpy() & dataset.has_profile & timed)
    place = {int(row): at for at, row in enumerate(rows)}
    targets = {}
    for target in dataset.instances:
        if target != anchor and _share_runs(dataset, anchor, target):
            here, there = dataset.pair(anchor, target)
            targets[target] = np.array([place[int(row)] for row in here]), dataset.profile_arrays(there)
    columns = ["experiment", *_SIZE, "optimizer"]
    elsewhere = runs[timed & runs["instance"].isin([*targets, anchor]).to_numpy()]
    truths = elsewhere[["instance", *columns, "step_latency_ms"]].rename(columns={"instance": "target"})
    return Profiled(
        anchor,
        dataset.profile_arrays(rows),
        runs.iloc[rows][columns].reset_index(drop=True),
        dataset.workload_names(rows),
        targets,
        truths,
    )


def _share_runs(dataset: Dataset, anchor: str, target: str) -> bool:
    keys = [
        set(map(tuple, dataset.runs[dataset.runs["instance"] == each][["experiment", *_SIZE]].to_numpy()))
        for each in (anchor, target)
    ]
    return bool(keys[0] & keys[1])


def fit_moves(profiled: Profiled, taught: npt.NDArray[np.bool_]) -> SizeMoves:
    """Learn moves from the median run of every workload among some runs, a mask of shape (n,)."""
    runs = profiled.runs[taught]
    _, places = np.unique(np.asarray(profiled.workloads, object)[taught].astype(str), return_inverse=True)
    first = np.unique(places, return_index=True)[1]
    kept = runs.iloc[first]
    models = [f"{model} {optimizer}" for model, optimizer in zip(kept["model"], kept["optimizer"], strict=True)]
    return SizeMoves().fit(medians(profiled.profiles.take(taught), places), sizes_of(kept), models, MOST_WORK)


def sizes_of(runs: pd.DataFrame) -> Sizes:
    """Return the sizes of runs with columns batch_size and pixels."""
    return Sizes(runs["batch_size"].to_numpy(float), runs["pixels"].to_numpy(float))


def predict_moves(fold: SizeFold) -> pd.DataFrame:
    """Predict, from one run of every workload left out, its experiment's latencies at all other sizes within reach.

    Returns:
        One row a move and target (the anchor too): anchor, target, experiment, model, pixels and batch_size as
        profiled, to_pixels, to_batch_size, true_ms, with_latency_ms, without_latency_ms, the doubts of each, and
        proportional_ms, the prediction at the profiled size times the change of work.
    """
    profiled = fold.profiled
    out = profiled.runs["model"].isin(fold.left_out).to_numpy()
    moves = fit_moves(profiled, ~out)
    predictors: dict[str, Predictor | None] = {profiled.anchor: None}
    for target, (rows, there) in profiled.targets.items():
        taught = ~out[rows]
        if not taught.any():
            continue  # runs of the models left out alone teach nothing of this target
        names = [profiled.workloads[row] for row in rows[taught]]
        predictors[target] = new_predictor(DEFAULT_METHOD).fit(
            profiled.profiles.take(rows[taught]), there.take(taught), names
        )
    asked = np.flatnonzero(out & ~profiled.runs.duplicated([*_SIZE, "optimizer"]).to_numpy())[:: fold.every]
    table = _moves_from(profiled, asked)
    table = table[table["target"].isin(list(predictors))].reset_index(drop=True)
    found = {}
    for latency, known in LATENCY_KNOWN.items():
        profiles = profiled.profiles.take(asked)
        if not known:
            profiles = replace(profiles, step_latency_ms=np.full(len(asked), np.nan))
        growth = moves.growth(profiles, sizes_of(profiled.runs.iloc[asked]))
        found[f"{latency}_ms"], proportional_ms = _answers(growth, table, predictors)
        found.setdefault("proportional_ms", proportional_ms)
        start, end = sizes_of(table), _asked_sizes(table)
        doubts = move_doubts(growth, start, end, table["row"].to_numpy(np.intp))
        found |= {f"{latency}_doubt{place}": column for place, column in enumerate(doubts.T)}
    return table.drop(columns="row").assign(anchor=profiled.anchor, **found)


def _asked_sizes(table: pd.DataFrame) -> Sizes:
    return Sizes(table["to_batch_size"].to_numpy(float), table["to_pixels"].to_numpy(float))


def _moves_from(profiled: Profiled, asked: npt.NDArray[np.intp]) -> pd.DataFrame:
    """Return every move from the asked runs to another size that the same experiment has, on every target."""
    start = profiled.runs.iloc[asked].reset_index(drop=True).assign(row=np.arange(len(asked)))
    end = profiled.truths.rename(
        columns={"pixels": "to_pixels", "batch_size": "to_batch_size", "step_latency_ms": "true_ms"}
    )
    table: pd.DataFrame = start.merge(end, on=["experiment", "model", "optimizer"])
    batch, area = sizes_of(table).ratios_to(_asked_sizes(table))
    changed = (batch != 1) | (area != 1)
    near = np.abs(np.log(batch * area)) <= np.log(MOST_WORK) + 1e-9
    kept: pd.DataFrame = table[changed & near].reset_index(drop=True)
    return kept


def _answers(
    growth: Growth, table: pd.DataFrame, predictors: dict[str, Predictor | None]
) -> tuple[FloatArray, FloatArray]:
    """Return latencies after the moves, and those before times the change of work, shape (moves,) each."""
    latency_ms, own_ms = np.full(len(table), np.nan), np.full(len(table), np.nan)
    batch, area = sizes_of(table).ratios_to(_asked_sizes(table))
    rows, targets = table["row"].to_numpy(np.intp), table["target"].to_numpy(object)
    plain_ms = {name: each.predict(growth.profiles) for name, each in predictors.items() if each is not None}
    for row in np.unique(rows):
        nodes = surface_profiles(growth, int(row))
        for target, predictor in predictors.items():
            here = (rows == row) & (targets == target)
            if predictor is None:
                latency_ms[here] = growth.step_ms(rows[here], growth_terms(batch[here], area[here]))
                own_ms[here] = growth.parts.step_us[row] / US_PER_MS
            elif here.any():
                own_ms[here] = plain_ms[target][row]
                latency_ms[here] = read_surface(
                    predictor.predict(nodes), plain_ms[target][row], batch[here], area[here]
                )
    return latency_ms, own_ms * batch * area
