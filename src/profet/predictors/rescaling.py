"""Writes a bundle again with wider or narrower intervals, everything else in it as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from profet.files import write_whole
from profet.predictors.archive import Arrays, pack
from profet.predictors.bundle import Bundle
from profet.predictors.bundle_file import joint_prefix, pair_prefix, part_prefix
from profet.predictors.manifest import Manifest, Recalibration
from profet.predictors.measured import Measured, calibration_prefix
from profet.predictors.sizes.part import PART as SIZES
from profet.predictors.sizes.part import moves_prefix


def save_rescaled(bundle: Bundle, path: str | Path, factors: Sequence[Recalibration], force: bool = False) -> None:
    """Write a bundle whose conformal scores are those of this one, times a factor for some pairs.

    The scores of each pair's calibration and of the joint errors are scaled alike, so that chances that come from
    the latter fit the intervals. The error at another size holds that of the pair, but the records tell nothing of
    moves to other sizes: where a pair's intervals are wider than as trained, those at other sizes are by as much,
    and where they are narrower, those stay. The provenance says which were, from how many records.

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
        scaled = calibration.widened(each.factor)
        named = Measured(calibrations={each.latency_known: scaled}).calibration_arrays()
        arrays |= {pair_prefix(each.anchor, each.target) + name: array for name, array in named.items()}
    by_column = {(each.anchor, each.target, each.latency_known): each.factor for each in factors}
    for entry in manifest.joint:
        columns = [by_column.get((entry.anchor, target, entry.latency_known), 1.0) for target in entry.targets]
        name = joint_prefix(entry) + "scores"
        arrays[name] = (arrays[name] * np.array(columns)).astype(arrays[name].dtype)
    arrays |= {name: arrays[name] * factor for name, factor in _of_moves(manifest, arrays, factors)}
    provenance = replace(manifest.provenance, recalibrated=_joined(manifest.provenance.recalibrated, factors))
    write_whole(path, pack(asdict(replace(manifest, provenance=provenance)), arrays), force)


def _of_moves(manifest: Manifest, arrays: Arrays, factors: Sequence[Recalibration]) -> Iterator[tuple[str, float]]:
    """Yield the scores of moves to other sizes that change, and by which factor; over both recalibrations alike."""
    before = {_key(each): each.factor for each in manifest.provenance.recalibrated}
    for each in factors:
        name = moves_prefix(manifest.parts.get(SIZES, {}), each.anchor, each.target)
        if name is None:
            continue
        known = before.get(_key(each), 1.0)
        name = f"{part_prefix(SIZES)}{name}{calibration_prefix(each.latency_known)}quantiles"
        if name in arrays:
            yield name, max(1.0, known * each.factor) / max(1.0, known)


def _key(each: Recalibration) -> tuple[str, str, bool]:
    return each.anchor, each.target, each.latency_known


def _joined(earlier: Sequence[Recalibration], later: Sequence[Recalibration]) -> list[Recalibration]:
    """Let a later recalibration of the same intervals stand for both, its factor over what was trained."""
    known = {_key(each): each for each in earlier}
    for each in later:
        key = _key(each)
        before = known[key].factor if key in known else 1.0
        known[key] = replace(each, factor=before * each.factor)
    return [known[key] for key in sorted(known)]
