"""Whether the intervals of onboarded targets hold: on models and a target that nothing in them has seen.

A quarter of the models in turn is left out of everything; calibration rehearses on the known targets that remain,
with the models that remain, as ``profet onboard`` does.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from profet.cli.progress import track
from profet.datasets.dataset import Dataset, Rows
from profet.evaluation.data_sheets.machines import Machines
from profet.evaluation.metrics import measure
from profet.evaluation.onboarding.held_out import held_out_of, held_out_part
from profet.evaluation.onboarding.rehearsal import Rehearsal, Zoo
from profet.instances.catalogue import Catalogue
from profet.predictors.blend import BlendPredictor
from profet.predictors.components import works
from profet.predictors.data_sheets.rates import Rates
from profet.predictors.intervals import DEFAULT_LEVEL, interval_ms
from profet.predictors.onboarding.expectation import Sheets
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.predictors.onboarding.prior import by_family

SIZES = (1, 5, 20)
LATENCIES, PROFILES, SHEET_KNOWN = "latencies alone", "with profiles", ", data sheet known"
"""Ways to a new target."""

_GROUPS = 4
Pairs = Mapping[tuple[str, str], tuple[Rows, Rows]]


def intervals(dataset: Dataset) -> pd.DataFrame:
    """Return true_ms, predicted_ms, low_ms and high_ms of every held-out run, by way and k."""
    rates = Machines.of(dataset, Catalogue.shipped()).known.rates
    pairs = {(a, t): dataset.pair(a, t) for a in dataset.anchors for t in dataset.instances if a != t}
    models = sorted(set(dataset.runs["model"]))
    frames = []
    for group in range(_GROUPS):
        frames += list(_without(dataset, pairs, models[group::_GROUPS], rates))
    return pd.concat(frames, ignore_index=True)


def _without(
    dataset: Dataset, pairs: Pairs, left_out: list[str], rates: Mapping[str, Rates]
) -> Iterator[pd.DataFrame]:
    asked = {pair: _of(dataset, sides, left_out) for pair, sides in pairs.items()}
    taught = {pair: (here[~asked[pair]], there[~asked[pair]]) for pair, (here, there) in pairs.items()}
    fitted = {pair: _fit(dataset, *sides) for pair, sides in taught.items()}
    part = held_out_part(dataset, taught, track)
    for (anchor, target), (here, there) in pairs.items():
        known = {o: fitted[a, o] for a, o in fitted if a == anchor and o != target}
        kept = [place for place, name in enumerate(sorted({*known, target})) if name != target]
        held_out = {
            latency: replace(each, targets=tuple(known), ratios=each.ratios[kept], true_us=each.true_us[kept])
            for latency, each in held_out_of(part, anchor).items()
        }
        learn = taught[anchor, target]
        score = here[asked[anchor, target]], there[asked[anchor, target]]
        for sheets in (None, Sheets.among(rates, anchor, target, known)):
            told = {} if sheets is None else sheets.of_known()
            rehearsal = Rehearsal.of(_zoo(fitted, known), known, held_out, told)
            if rehearsal is None:
                continue
            for k in SIZES:
                for profiled in (False, True):
                    if not profiled or works(dataset.profile_arrays(there)).any():
                        yield _asked(dataset, learn, score, rehearsal, known, k, profiled, sheets)


def _asked(
    dataset: Dataset,
    learn: tuple[Rows, Rows],
    score: tuple[Rows, Rows],
    rehearsal: Rehearsal,
    known: dict[str, BlendPredictor],
    k: int,
    profiled: bool,
    sheets: Sheets | None,
) -> pd.DataFrame:
    names = np.array(dataset.workload_names(learn[0]), object)
    random = np.random.default_rng([k, len(names), int(score[1][0])])
    chosen = random.permutation(np.array(sorted(set(names)), object))[:k]
    drawn = np.isin(names, chosen)
    there = dataset.profile_arrays(learn[1][drawn])
    if not profiled:
        there.device_us[:] = np.nan
    taught = dataset.profile_arrays(learn[0][drawn])
    predictor = OnboardedPredictor(known, sheets).fit(taught, there, list(names[drawn]))
    calibration = rehearsal.play(list(chosen), k, profiled)[True].calibration()
    answer = predictor.answer(dataset.profile_arrays(score[0]))
    if answer.doubts is None:
        raise ValueError("an answer without doubts")
    low_ms, high_ms = interval_ms(answer.latency_ms, calibration.half_width(answer.doubts, DEFAULT_LEVEL))
    true_ms = dataset.profile_arrays(score[1]).step_latency_ms
    way = PROFILES if profiled else LATENCIES
    way += "" if sheets is None else SHEET_KNOWN
    columns = {"true_ms": true_ms, "predicted_ms": answer.latency_ms, "low_ms": low_ms, "high_ms": high_ms}
    return pd.DataFrame({**columns, "way": way, "k": k, "model": dataset.runs["model"].to_numpy()[score[0]]})


def _of(dataset: Dataset, sides: tuple[Rows, Rows], models: list[str]) -> npt.NDArray[np.bool_]:
    return np.isin(dataset.runs["model"].to_numpy(object)[sides[0]], models)


def _fit(dataset: Dataset, here: Rows, there: Rows) -> BlendPredictor:
    names = dataset.workload_names(here)
    return BlendPredictor().fit(dataset.profile_arrays(here), dataset.profile_arrays(there), names)


def _zoo(fitted: Mapping[tuple[str, str], BlendPredictor], known: Mapping[str, BlendPredictor]) -> Zoo:
    """Return the workloads that were learnt from, with the families of known targets that are anchors too."""
    first = next(iter(known.values()))
    names = first.workloads_
    families_us = {}
    for name in known:
        theirs = next((each for (a, _), each in fitted.items() if a == name), None)
        if theirs is not None:
            places = {workload: place for place, workload in enumerate(theirs.workloads_)}
            rows = np.array([places.get(workload, -1) for workload in names], np.intp)
            there = by_family(theirs.additive_.neighbourhood_.parts)[rows]
            families_us[name] = np.where((rows >= 0)[:, None], there, np.nan)
    return Zoo(tuple(names), first.additive_.neighbourhood_.parts, families_us)


def table(rows: pd.DataFrame) -> str:
    """Return coverage and widths as Markdown."""
    lines = [
        "| 90 % intervals, calibrated on known targets treated as new | k | inside | worst model | median width |",
        "|---|---|---|---|---|",
    ]
    for (way, k), part in rows.groupby(["way", "k"]):
        ends = [part[name].to_numpy(float) for name in ("true_ms", "predicted_ms", "low_ms", "high_ms")]
        figures = measure(*ends)
        inside = part.assign(inside=(part["low_ms"] <= part["true_ms"]) & (part["true_ms"] <= part["high_ms"]))
        by_model = inside.groupby("model")["inside"].mean()
        worst = f"{by_model.idxmin()} {100 * by_model.min():.0f} %"
        coverage, width = figures.coverage or 0.0, figures.relative_width or 0.0
        lines.append(f"| {way} | {k} | {100 * coverage:.0f} % | {worst} | {100 * width:.0f} % |")
    return "\n".join(lines) + "\n"
