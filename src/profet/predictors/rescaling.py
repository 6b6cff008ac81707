"""Writes a bundle again with wider or narrower intervals, everything else in it as it is."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from profet.files import write_whole
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.bundle_file import joint_prefix, pair_prefix
from profet.predictors.manifest import Recalibration
from profet.predictors.measured import Measured


def save_rescaled(bundle: Bundle, path: str | Path, factors: Sequence[Recalibration], force: bool = False) -> None:
    """Write a bundle whose conformal scores are those of this one, times a factor for some pairs.

    The scores of each pair's calibration and of the joint errors are scaled alike, so that chances that come from
    the latter fit the intervals. The provenance says which were, from how many records.

    Raises:
        InputError: a pair that the bundle does not hold.
        BundleError: its arrays are not those of its method.
        OutputError: see write_whole.
    """
    manifest, arrays = bundle.contents()
    for each in factors:
        calibration = bundle.calibration(each.anchor, each.target, each.latency_known)
        if calibration is None:
            continue
        scaled = replace(calibration, quantiles=calibration.quantiles * each.factor)
        named = Measured(calibrations={each.latency_known: scaled}).calibration_arrays()
        arrays |= {pair_prefix(each.anchor, each.target) + name: array for name, array in named.items()}
    by_column = {(each.anchor, each.target, each.latency_known): each.factor for each in factors}
    for entry in manifest.joint:
        columns = [by_column.get((entry.anchor, target, entry.latency_known), 1.0) for target in entry.targets]
        name = joint_prefix(entry) + "scores"
        arrays[name] = (arrays[name] * np.array(columns)).astype(arrays[name].dtype)
    provenance = replace(manifest.provenance, recalibrated=_joined(manifest.provenance.recalibrated, factors))
    write_whole(path, pack(asdict(replace(manifest, provenance=provenance)), arrays), force)


def _joined(earlier: Sequence[Recalibration], later: Sequence[Recalibration]) -> list[Recalibration]:
    """Let a later recalibration of the same intervals stand for both, its factor over what was trained."""
    known = {(each.anchor, each.target, each.latency_known): each for each in earlier}
    for each in later:
        key = (each.anchor, each.target, each.latency_known)
        before = known[key].factor if key in known else 1.0
        known[key] = replace(each, factor=before * each.factor)
    return [known[key] for key in sorted(known)]
