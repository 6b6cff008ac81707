"""Measures how well a new target is predicted from k measured workloads, and writes its part of docs/accuracy.md.

    python -m benchmarks.onboarding DATASET [--small] [--write docs/accuracy.md]

Every instance in turn is the new target; the predictors it rests on are those of the others, and it is in none of
them. Every model in turn is what is asked about; it is left out of everything, and the k workloads are drawn from
the other models, with fixed seeds. Rows are single runs, as in benchmarks.accuracy.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.onboarding_intervals import LATENCIES, PROFILES, SHEET_KNOWN, intervals, table
from benchmarks.pages import write_between_marks
from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.data_sheets.machines import Machines
from profet.evaluation.parallel import run_all
from profet.instances.catalogue import Catalogue
from profet.predictors.blend import BlendPredictor
from profet.predictors.components import works
from profet.predictors.data_sheets.rates import Rates
from profet.predictors.onboarding.expectation import Sheets
from profet.predictors.onboarding.predictor import OnboardedPredictor
from profet.profiles.arrays import ProfileArrays

SIZES = (1, 3, 5, 10, 20, 50, 1_000_000)
DRAWS = 5
CONSTANT = "constant ratio"
WAYS = (CONSTANT, LATENCIES, PROFILES, LATENCIES + SHEET_KNOWN, PROFILES + SHEET_KNOWN)


@dataclass(frozen=True)
class Task:
    """One model asked about from one anchor.

    Args:
        anchor: that is profiled.
        model: that is left out.
        sides: by target the same runs on the anchor and there.
        models: of the runs, by target.
        workloads: that the runs repeat, by target.
        sizes: numbers of workloads to learn from.
        draws: how often each is drawn.
        rates: of the GPUs, by instance.
    """

    anchor: str
    model: str
    sides: dict[str, tuple[ProfileArrays, ProfileArrays]]
    models: dict[str, npt.NDArray[np.object_]]
    workloads: dict[str, npt.NDArray[np.object_]]
    sizes: tuple[int, ...]
    draws: int
    rates: dict[str, Rates]


def tasks(dataset: Dataset, sizes: tuple[int, ...], draws: int, models: Sequence[str] = ()) -> list[Task]:
    """Return one task an anchor and model."""
    rates = dict(Machines.of(dataset, Catalogue.shipped()).known.rates)
    found = []
    for anchor in dataset.anchors:
        rows = {target: dataset.pair(anchor, target) for target in dataset.instances if target != anchor}
        sides = {
            t: (dataset.profile_arrays(here), dataset.profile_arrays(there)) for t, (here, there) in rows.items()
        }
        of_model = {t: dataset.runs["model"].to_numpy(object)[here] for t, (here, _) in rows.items()}
        names = {t: np.array(dataset.workload_names(here), object) for t, (here, _) in rows.items()}
        found += [
            Task(anchor, model, sides, of_model, names, sizes, draws, rates)
            for model in models or sorted(set(dataset.runs["model"]))
        ]
    return found


def errors(task: Task) -> pd.DataFrame:
    """Return absolute percentage errors, one a run, target, way, size and draw."""
    known = {}
    for target, (here, there) in task.sides.items():
        taught = task.models[target] != task.model
        known[target] = BlendPredictor().fit(
            here.take(taught), there.take(taught), list(task.workloads[target][taught])
        )
    frames = []
    for target in task.sides:
        others = {name: predictor for name, predictor in known.items() if name != target}
        for k in task.sizes:
            for draw in range(task.draws if k < 50 else 1):
                frames += _scored(task, target, others, k, draw)
    return pd.concat(frames, ignore_index=True)


def _scored(task: Task, target: str, others: dict[str, BlendPredictor], k: int, draw: int) -> list[pd.DataFrame]:
    here, there = task.sides[target]
    asked, names = task.models[target] == task.model, task.workloads[target]
    pool = sorted(set(names[~asked]))
    random = np.random.default_rng([draw, min(k, len(pool)), *f"{target} {task.model}".encode()])
    drawn = np.isin(names, random.permutation(np.array(pool, object))[:k])
    true_ms = there.step_latency_ms[asked]
    frames = []
    for way in WAYS:
        if PROFILES in way and not works(there).any():
            continue
        if way == CONSTANT:
            ratio = float(np.median(there.step_latency_ms[drawn] / here.step_latency_ms[drawn]))
            predicted_ms = here.step_latency_ms[asked] * ratio
        else:
            sheets = Sheets.among(task.rates, task.anchor, target, others) if way.endswith(SHEET_KNOWN) else None
            taught = there.take(drawn)
            if PROFILES not in way:
                taught.device_us[:] = np.nan
            predictor = OnboardedPredictor(others, sheets).fit(here.take(drawn), taught, list(names[drawn]))
            predicted_ms = predictor.predict(here.take(asked))
        error = 100 * np.abs(predicted_ms / true_ms - 1)
        frames.append(pd.DataFrame({"target": target, "way": way, "k": k, "draw": draw, "error": error}))
    return [frame.assign(anchor=task.anchor, model=task.model) for frame in frames]


def measure(dataset: Dataset, small: bool = False) -> pd.DataFrame:
    """Return all errors; small asks about two models, from 5 workloads drawn once."""
    sizes, draws, models = ((5,), 1, sorted(set(dataset.runs["model"]))[:2]) if small else (SIZES, DRAWS, ())
    return pd.concat(run_all(errors, tasks(dataset, sizes, draws, models), "onboarding", track), ignore_index=True)


def tables(found: pd.DataFrame) -> str:
    """Return the errors as Markdown, over all pairs and by pair."""
    sizes = [k for k in SIZES if k in set(found["k"])]
    titles = [f"{k}" if k < SIZES[-1] else "all" for k in sizes]
    lines = [
        f"| MAPE in percent, from k measured workloads | {' | '.join(titles)} |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    profiled = set(found.loc[found["way"] == PROFILES, "target"])
    for way in WAYS:
        lines.append(_line(way, found[found["way"] == way], sizes))
        if PROFILES not in way:
            part = found[(found["way"] == way) & found["target"].isin(profiled)]
            lines.append(_line(f"{way}, targets that have profiles", part, sizes))
    for (anchor, target), part in found.groupby(["anchor", "target"]):
        best = WAYS[-1] if target in profiled else WAYS[-2]
        lines.append(_line(f"{anchor} → {target}, {best}", part[part["way"] == best], sizes))
    return "\n".join(lines) + "\n"


def _line(title: str, part: pd.DataFrame, sizes: list[int]) -> str:
    means = [f"{part.loc[part['k'] == k, 'error'].mean():.1f}" for k in sizes]
    return f"| {title} | {' | '.join(means)} |"


def main() -> None:
    """Measure the data set named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    told = tables(measure(dataset, arguments.small))
    if not arguments.small:
        told += f"\n{table(intervals(dataset))}"
    print(told)
    if arguments.write is not None:
        write_between_marks(arguments.write, "make accuracy: onboarding", told)


if __name__ == "__main__":
    main()
