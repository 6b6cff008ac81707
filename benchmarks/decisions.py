"""How good the advice is: which instance is recommended, what that costs too much, and whether chances are true.

    python -m benchmarks.decisions DATASET [--checkpoint DIR] [--write docs/decisions.md] [--plot FILE]

On a data set of ``profet dataset import profet``, every model left out in turn. A decision is one run of the model
left out, seen from one anchor: its own measured latency and what is predicted for the other instances. The prices
of the original's demo are each multiplied by a factor drawn log-uniformly from 0.3 to 3; a deadline is drawn
log-uniformly between the truly fastest and the truly slowest.
"""

import argparse
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure

from benchmarks.decision_folds import Decisions, collect
from benchmarks.decision_scenes import CONFIDENCE, DRAWS, OURS, scenes
from benchmarks.pages import write_between_marks
from profet.datasets.dataset import Dataset
from profet.profiles.arrays import FloatArray
from profet.reports.axes import finish_axes
from profet.reports.colours import MUTED, series_style
from profet.reports.pictures import save_picture

SEED = 0
BINS = [0, 0.01, 0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0]


def policies(found: list[Decisions], deadlines: bool) -> pd.DataFrame:
    """Return right, regret and missed by policy, means over all decisions in percent."""
    sums: dict[str, FloatArray] = {}
    for place, decisions in enumerate(found):
        for scene in scenes(decisions, deadlines, SEED + place):
            for name, taken in scene.choices().items():
                right, regret, missed = scene.judge(taken)
                more = np.array([right.sum(), regret.sum(), missed.sum(), len(taken)], float)
                sums[name] = sums.get(name, np.zeros(4)) + more
    table = pd.DataFrame.from_dict(sums, orient="index", columns=["right", "regret", "missed", "n"])
    return 100 * table[["right", "regret", "missed"]].div(table["n"], axis=0)


@dataclass(frozen=True)
class Reliability:
    """Stated chances beside how often what they were stated of was true.

    Args:
        title: of what.
        stated: shape (n,).
        true: shape (n,).
    """

    title: str
    stated: FloatArray
    true: npt.NDArray[np.bool_]

    @property
    def brier(self) -> float:
        """Mean squared difference between the chance and what was true (Brier, 1950)."""
        return float(np.mean((self.stated - self.true) ** 2))

    def bins(self) -> Iterator[tuple[str, float, float, int]]:
        """Yield label, mean stated chance, share that was true, and count of each bin that is not empty."""
        for low, high in itertools.pairwise(BINS):
            inside = (self.stated > low) & (self.stated <= high) if low > 0 else self.stated <= high
            if inside.any():
                label = f"{100 * low:.0f} – {100 * high:.0f} %"
                yield label, float(self.stated[inside].mean()), float(self.true[inside].mean()), int(inside.sum())


def reliability(found: list[Decisions]) -> tuple[Reliability, Reliability]:
    """Return the stated chances to be cheaper than the next, and to be in time, of all decisions."""
    cheaper, in_time = [], []
    for place, decisions in enumerate(found):
        cheaper += [scene.stated_chances() for scene in scenes(decisions, False, SEED + place)]
        in_time += [scene.chances_in_time() for scene in scenes(decisions, True, SEED + place)]
    told = "that the recommended is cheaper than the next", "that an instance is in time"
    one, two = (
        Reliability(title, *(np.concatenate(column) for column in zip(*chances, strict=True)))
        for title, chances in zip(told, (cheaper, in_time), strict=True)
    )
    return one, two


def comparison(regret: dict[str, float], missed: dict[str, float]) -> Iterator[str]:
    """Yield sentences that hold ours against the best of the others, as is and where both miss as much."""
    graded = sorted((missed[name], regret[name]) for name in regret if name.startswith(OURS))
    best = min((name for name in regret if not name.startswith(OURS)), key=lambda name: regret[name])
    ratio = regret[OURS] / regret[best]
    yield f"Our mean regret is {ratio:.2f} times that of the best other policy ({best})."
    if graded[0][0] < missed[best] < graded[-1][0]:
        shares, regrets = np.array(graded).T
        level = float(np.interp(missed[best], shares, regrets))
        yield (
            f"Where ours misses as many deadlines as that one ({missed[best]:.1f} %, between two of the confidences"
            f" above), its mean regret is {level:.2f} %: {level / regret[best]:.2f} times."
        )


def report(dataset: Dataset, found: list[Decisions], told: tuple[Reliability, Reliability]) -> str:
    """Return all tables as Markdown."""
    decisions = sum(len(each.true_ms) for each in found)
    lines = [
        f"{decisions} runs of {len(set(dataset.runs['model']))} models from {len(dataset.anchors)} anchors,"
        f" {DRAWS} draws each (seed {SEED}); data set {dataset.fingerprint[:16]}; confidence {CONFIDENCE:g}.",
        "",
    ]
    for title, deadlines in (("prices drawn", False), ("prices and deadlines drawn", True)):
        table = policies(found, deadlines)
        lines += [f"| {title} | truly cheapest taken | mean regret | deadline missed |", "|---|---|---|---|"]
        right, regret, missed = ({str(k): float(v) for k, v in table[name].items()} for name in table)
        lines += [
            f"| {name} | {right[name]:.1f} % | {regret[name]:.2f} % |"
            f" {f'{missed[name]:.1f} %' if deadlines else '–'} |"
            for name in right
        ]
        lines += ["", *comparison(regret, missed), ""]
    for each in told:
        lines += [f"| stated chance {each.title} | mean stated | true | decisions |", "|---|---|---|---|"]
        lines += [f"| {label} | {100 * p:.1f} % | {100 * t:.1f} % | {n} |" for label, p, t, n in each.bins()]
        lines += ["", f"Brier score {each.brier:.4f}; of always saying yes {float(np.mean(~each.true)):.4f}.", ""]
    return "\n".join(lines).rstrip() + "\n"


def draw_reliability(told: tuple[Reliability, Reliability]) -> Figure:
    """Draw how often what was stated was true, by stated chance; on the diagonal chances are what they say."""
    figure = Figure(figsize=(5.4, 4.8))
    axes = figure.subplots()
    axes.plot([0, 100], [0, 100], color=MUTED, linewidth=1, linestyle="--", label="as stated")
    for place, each in enumerate(told):
        points = [(100 * stated, 100 * true) for _, stated, true, _ in each.bins()]
        stated, true = np.array(points).T
        style = series_style(place)
        axes.plot(stated, true, color=style["color"], marker=style["marker"], linewidth=1.2, label=each.title)
    axes.set_xlabel("stated chance (%)")
    axes.set_ylabel("share that was true (%)")
    finish_axes(axes, "Are the stated chances true?", "both")
    axes.legend(frameon=False, fontsize=9)
    return figure


def main() -> None:
    """Measure, print, and write where told to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--checkpoint")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    found = collect(dataset, arguments.checkpoint)
    told = reliability(found)
    tables = report(dataset, found, told)
    print(tables, end="")
    if arguments.write is not None:
        write_between_marks(arguments.write, "make decisions", tables)
    if arguments.plot is not None:
        save_picture(draw_reliability(told), arguments.plot, force=True)


if __name__ == "__main__":
    main()
