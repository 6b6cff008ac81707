"""Rebuild what ships in the package: the default bundle and the example profile.

    python scripts/ship.py DATASET... [--folder DIR]

The data sets are made by ``profet dataset import profet`` and ``profet dataset import hardware-metrics``, and put
together. The bundle holds our method for every anchor and target; a target of which epochs alone were timed, such
as g5.xlarge, is converted from them; and hardware metrics teach epoch times. The example is one workload's median
over its repeats in the public data, and stays as it is where the data sets lack that workload.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from profet.cli.progress import track
from profet.datasets.dataset import Dataset, merge
from profet.evaluation.training import train
from profet.files import write_whole
from profet.predictors.methods import DEFAULT_METHOD
from profet.profiles.profile import Profile

ANCHOR = "g3s.xlarge"
MODEL, PIXELS, BATCH_SIZE = "ResNet50", 224, 16
ATTRIBUTION = (
    f"an example: medians over {{n}} repeats of {MODEL} in the public PROFET data (MIT);"
    " the shipped predictors have learnt from it"
)
DATA = Path(__file__).resolve().parent.parent / "src" / "profet" / "data"


def example_profile(dataset: Dataset) -> Profile | None:
    """Return the median profile of the example workload on the anchor; None where the data set lacks it."""
    workload = {"instance": ANCHOR, "model": MODEL, "pixels": PIXELS, "batch_size": BATCH_SIZE}
    chosen = pd.Series(dataset.has_profile)
    for column, value in workload.items():
        chosen &= dataset.runs[column] == value
    runs = dataset.runs[chosen]
    if runs.empty:
        return None
    sides = [
        {str(name): round(float(time), 3) for name, time in side[chosen].median().items() if time > 0}
        for side in (dataset.host_us, dataset.device_us)
    ]
    return Profile(
        instance=ANCHOR,
        framework="tensorflow",
        steps=int(runs["steps"].iloc[0]),
        step_latency_ms=round(float(runs["step_latency_ms"].median()), 3),
        latency_samples_ms=[round(float(value), 3) for value in np.sort(runs["step_latency_ms"])],
        batch_size=BATCH_SIZE,
        pixels=PIXELS,
        host_us=sides[0],
        device_us=sides[1],
        warnings=[ATTRIBUTION.format(n=len(runs))],
    )


def main() -> None:
    """Read the data sets named on the command line and write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--folder", type=Path, default=DATA)
    arguments = parser.parse_args()
    loaded = [Dataset.load(path) for path in arguments.datasets]
    dataset = loaded[0] if len(loaded) == 1 else merge(loaded)
    example = example_profile(dataset)
    if example is not None:
        write_whole(arguments.folder / "example_g3s.xlarge.json", example.to_json().encode(), force=True)
    train(dataset, DEFAULT_METHOD, track=track).save(arguments.folder / "default.profet", force=True)
    told = "the default bundle" if example is None else "the example and the default bundle"
    kept = "" if example is not None else f"; kept the example: no run of {MODEL} on {ANCHOR} here"
    print(f"wrote {told} in {arguments.folder}{kept}")


if __name__ == "__main__":
    main()
