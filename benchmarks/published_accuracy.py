"""Compares our leave-one-model-out errors of the published method with those on the whole public data.

    python -m benchmarks.published_accuracy DATASET [--seeds 3]

DATASET is made by ``profet dataset import profet``. Prints Markdown tables: by pair with the spread over seeds
and without the model that has no relative in the data at hand, and by model.
"""

import argparse

import numpy as np
import pandas as pd

from profet.cli.progress import track
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, Validation, validate
from profet.evaluation.metrics import measure

WHOLE_DATA_MAPE = {
    ("g3s.xlarge", "g4dn.xlarge"): 8.1,
    ("g3s.xlarge", "p2.xlarge"): 11.9,
    ("g3s.xlarge", "p3.2xlarge"): 12.1,
    ("g4dn.xlarge", "g3s.xlarge"): 7.8,
    ("g4dn.xlarge", "p2.xlarge"): 12.6,
    ("g4dn.xlarge", "p3.2xlarge"): 14.8,
    ("p2.xlarge", "g3s.xlarge"): 9.1,
    ("p2.xlarge", "g4dn.xlarge"): 10.9,
    ("p2.xlarge", "p3.2xlarge"): 14.8,
    ("p3.2xlarge", "g3s.xlarge"): 10.4,
    ("p3.2xlarge", "g4dn.xlarge"): 9.5,
    ("p3.2xlarge", "p2.xlarge"): 10.6,
}
"""MAPE in percent on all 15 models and 4 anchors, from the research that this project started with."""

WHOLE_DATA_MODELS = {
    "VGG11": 5.5,
    "VGG13": 4.2,
    "VGG16": 4.2,
    "VGG19": 5.0,
    "ResNet18": 7.8,
    "ResNet34": 8.2,
    "ResNet50": 9.8,
    "InceptionResNetV2": 23.4,
    "AlexNet": 7.8,
    "MNIST_CNN": 16.1,
    "LeNet5": 14.9,
    "ResNetSmall": 17.9,
}
"""The same by model, over all 12 pairs, from the same research."""


def mape(rows: pd.DataFrame, column: str = "predicted_ms") -> float:
    """Return the mean absolute percentage error of rows of a validation, in percent."""
    return measure(rows["true_ms"].to_numpy(float), rows[column].to_numpy(float)).mape


def lonely_models(dataset: Dataset) -> list[str]:
    """Return the models that are alone in their family: nothing like them is left to learn from."""
    families = dataset.runs.drop_duplicates("model").groupby("family")["model"]
    return [str(models.iloc[0]) for _, models in families if len(models) == 1]


def print_pairs(runs: list[Validation], lonely: list[str]) -> None:
    """Print one line a pair."""
    rows = runs[0].rows
    related = rows[~rows["model"].isin(lonely)]
    print(
        f"| pair | whole data | here | R² | RMSE ms | {len(runs)} seeds | here without {', '.join(lonely) or '–'} |"
    )
    print("|---|---|---|---|---|---|---|")
    for (anchor, target), metrics in runs[0].pairs.items():
        seeds = [run.pairs[anchor, target].mape for run in runs]
        part = related[(related["anchor"] == anchor) & (related["target"] == target)]
        known = WHOLE_DATA_MAPE.get((anchor, target))
        print(
            f"| {anchor} → {target} | {'–' if known is None else f'{known:.1f}'} | {metrics.mape:.2f}"
            f" | {metrics.r2:.3f} | {metrics.rmse_ms:.1f} | {min(seeds):.2f}–{max(seeds):.2f} | {mape(part):.2f} |"
        )
    overall = runs[0].overall
    seeds = [run.overall.mape for run in runs]
    print(
        f"| all | 11.05 | {overall.mape:.2f} | {overall.r2:.3f} | {overall.rmse_ms:.1f}"
        f" | {min(seeds):.2f}–{max(seeds):.2f} | {mape(related):.2f} |"
    )


def print_members(runs: list[Validation]) -> None:
    """Print the members' errors, and the errors without the anchor's latency."""
    without = [mape(run.rows, "without_latency_ms") for run in runs]
    print("\n| member | whole data | here |\n|---|---|---|")
    for name, known in (("network", 9.97), ("forest", 17.2), ("linear", 31.4)):
        print(f"| {name} | {known} | {np.mean([run.members[name] for run in runs]):.2f} |")
    print(f"| median of the three | 11.05 | {np.mean([run.overall.mape for run in runs]):.2f} |")
    print(f"| without latency: mean of forest and network | 11.68 | {np.mean(without):.2f} |")


def main() -> None:
    """Validate with several seeds and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    dataset = Dataset.load(arguments.dataset)
    runs = [validate(dataset, Question("published", seed=seed), track) for seed in range(arguments.seeds)]
    print_pairs(runs, lonely_models(dataset))
    print_members(runs)
    print("\n| model | whole data | here |\n|---|---|---|")
    for model, error in runs[0].models.items():
        known = WHOLE_DATA_MODELS.get(model)
        print(f"| {model} | {'–' if known is None else known} | {error.mape:.1f} |")


if __name__ == "__main__":
    main()
