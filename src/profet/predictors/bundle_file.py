"""What a bundle's file holds, under which names, and how it is written."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np

from profet.files import write_whole
from profet.predictors.archive import Arrays, pack
from profet.predictors.epochs.converted import CONVERTED, ConvertedPredictor
from profet.predictors.joint_errors import JointErrors
from profet.predictors.manifest import Entry, JointEntry, Manifest, Provenance
from profet.predictors.measured import Measured
from profet.predictors.methods import Predictor
from profet.predictors.scalers.published import SizeScaler
from profet.predictors.state import State

SCHEMA = "profet/bundle/1"


def save_bundle(
    path: str | Path,
    method: str,
    provenance: Provenance,
    predictors: Mapping[tuple[str, str], Predictor],
    measured: Mapping[tuple[str, str], Measured],
    scalers: Sequence[SizeScaler],
    joint: Mapping[tuple[str, bool], JointErrors],
    force: bool = False,
    parts: Mapping[str, State] | None = None,
) -> None:
    """Write trained predictors, by (anchor, target), and scalers as one file, whole or not at all.

    Joint errors stand by (anchor, whether its latency is known); parts, by name, belong to no single pair.

    Raises:
        OutputError: it exists and force is not given, or the disk refused.
    """
    entries, arrays = [], Arrays()
    for (anchor, target), predictor in sorted(predictors.items()):
        state = predictor.to_state()
        known = measured.get((anchor, target), Measured())
        entry = Entry(anchor, target, state.settings, list(known.errors))
        if isinstance(predictor, ConvertedPredictor):
            entry = replace(entry, method=CONVERTED, basis=CONVERTED, explanation=predictor.explanation)
        entries.append(entry)
        kept = {**state.arrays, **known.calibration_arrays()}
        arrays.update({pair_prefix(anchor, target) + name: array for name, array in kept.items()})
    together = []
    for (anchor, known_latency), errors in sorted(joint.items()):
        together.append(JointEntry(anchor, known_latency, list(errors.targets)))
        arrays[joint_prefix(together[-1]) + "scores"] = errors.scores.astype(np.float32)
    for name, state in (parts or {}).items():
        arrays.update({part_prefix(name) + each: array for each, array in state.arrays.items()})
    settings = {name: state.settings for name, state in (parts or {}).items()}
    manifest = Manifest(SCHEMA, method, provenance, entries, list(scalers), together, settings)
    write_whole(path, pack(asdict(manifest), arrays), force)


def joint_prefix(entry: JointEntry) -> str:
    """Return where a bundle keeps the joint errors of an anchor."""
    return f"joint/{quote(entry.anchor, safe='')}/{'with' if entry.latency_known else 'without'}_latency/"


def part_prefix(name: str) -> str:
    """Return where a bundle keeps the arrays of a part."""
    return f"parts/{quote(name, safe='')}/"


def pair_prefix(anchor: str, target: str) -> str:
    """Return where a bundle keeps the arrays of a pair."""
    return f"arrays/{quote(anchor, safe='')}/{quote(target, safe='')}/"
