"""Adds a new target to a bundle from a few measured workloads, without refitting anything that it holds."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from profet.errors import InputError
from profet.evaluation.onboarding.measurements import MeasuredWorkload, known_workloads
from profet.evaluation.onboarding.next_workloads import Candidates, NextWorkload, next_workloads
from profet.evaluation.onboarding.pair import OnboardedPair, onboard_pair
from profet.evaluation.parallel import Track, silent
from profet.files import write_whole
from profet.instances.catalogue import Catalogue
from profet.names import suggest
from profet.predictors.archive import pack
from profet.predictors.bundle import Bundle
from profet.predictors.bundle_file import pair_prefix
from profet.predictors.data_sheets.prediction import known_machines
from profet.predictors.data_sheets.rates import Rates, rates
from profet.predictors.manifest import LEARNT, Entry
from profet.predictors.onboarding.predictor import ONBOARDED

TRAIN_INSTEAD = 100
"""With more measured workloads than this a bundle that is trained on them is better."""


@dataclass(frozen=True)
class Onboarding:
    """A new target, from every anchor that the measurements allow.

    Args:
        name: of the new target.
        pairs: one an anchor.
        following: what to measure next, best first.
        warnings: what to be careful about.
    """

    name: str
    pairs: tuple[OnboardedPair, ...]
    following: tuple[NextWorkload, ...]
    warnings: tuple[str, ...]


def check_new(bundle: Bundle, name: str, replaced: bool) -> None:
    """Refuse a name that a bundle holds already.

    Raises:
        InputError: it does, learnt from runs, or in another way and is not to be replaced; or the name is none.
    """
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise InputError(f"{name[:40]!r} is no name of an instance; give one such as g5.xlarge")
    bases = sorted({pair.basis for pair in bundle.pairs if pair.target == name})
    if name in bundle.anchors or LEARNT in bases:
        how = "as an anchor" if name in bundle.anchors else "learnt from runs there"
        raise InputError(f"{name} is in the bundle already, {how}; give a new name, or train on its runs")
    if bases and not replaced:
        raise InputError(f"{name} is in the bundle already, {bases[0]}; add --replace to put these in its place")


def onboard(bundle: Bundle, name: str, workloads: Sequence[MeasuredWorkload], track: Track = silent) -> Onboarding:
    """Learn a new target from measured workloads, for every anchor that knows one of them.

    Raises:
        InputError: no anchor does.
        BundleError: what the bundle keeps for it is damaged.
    """
    zoos = {anchor: known_workloads(bundle, anchor) for anchor in bundle.anchors}
    usable = [anchor for anchor in zoos if any(anchor in each.anchors for each in workloads)]
    if not usable:
        raise InputError(f"no anchor of the bundle knows a measured workload; {suggest('', zoos)}")
    sheets = data_sheets(bundle, name)
    learning = (onboard_pair(bundle, anchor, name, workloads, sheets) for anchor in usable)
    pairs = tuple(track(learning, len(usable), "rehearsing"))
    warnings = [
        f"{anchor} → {name}: no measured workload is known there" for anchor in zoos if anchor not in usable
    ]
    contrary = max(pairs, key=lambda pair: pair.widened)
    if contrary.widened > 1:
        warnings.append(
            f"each measured workload, predicted from the others, is off by {contrary.left_out_mape:.0f} %,"
            f" {contrary.widened:.1f} times what was to be expected: a measurement is wrong, or {name} is unlike"
            " all known instances; its intervals are as much wider"
        )
    if all(not pair.measured.calibrations for pair in pairs):
        warnings.append("there is no interval: the bundle keeps no predictions of models left out; train it again")
    if len(workloads) > TRAIN_INSTEAD:
        warnings.append(f"{len(workloads)} workloads are enough to train on: profet train on a data set is better")
    candidates = [Candidates.of(pair.predictor, *zoos[pair.anchor]) for pair in pairs]
    following = next_workloads(candidates, [each.name for each in workloads])
    return Onboarding(name, pairs, tuple(following), tuple(warnings))


def data_sheets(bundle: Bundle, name: str) -> dict[str, Rates]:
    """Return the rates of the GPUs of a bundle's instances and of a new one, where the catalogue states them."""
    catalogue = Catalogue.load()
    new = catalogue.instances.get(name)
    found = None if new is None or (new.gpu_count or 1.0) < 1 else rates(catalogue.gpu(new))
    known = dict(known_machines(bundle, catalogue).rates)
    return known if found is None else {**known, name: found}


def save_onboarded(bundle: Bundle, onboarding: Onboarding, path: str | Path, force: bool = False) -> None:
    """Write a bundle that holds the new target beside all that it held, whose arrays stay as they are.

    Raises:
        OutputError: it exists and force is not given, or the disk refused.
    """
    manifest, arrays = bundle.contents()
    kept = []
    for entry in manifest.pairs:
        if entry.target == onboarding.name:
            prefix = pair_prefix(entry.anchor, entry.target)
            arrays = {name: array for name, array in arrays.items() if not name.startswith(prefix)}
        else:
            kept.append(entry)
    for pair in onboarding.pairs:
        state, errors = pair.predictor.to_state(), list(pair.measured.errors)
        entry = Entry(pair.anchor, onboarding.name, state.settings, errors, ONBOARDED, ONBOARDED, pair.explanation)
        kept.append(entry)
        named = {**state.arrays, **pair.measured.calibration_arrays()}
        prefix = pair_prefix(pair.anchor, onboarding.name)
        arrays |= {prefix + each: array for each, array in named.items()}
    pairs = sorted(kept, key=lambda entry: (entry.anchor, entry.target))
    others = [each for each in manifest.provenance.recalibrated if each.target != onboarding.name]
    provenance = replace(manifest.provenance, recalibrated=others)
    write_whole(path, pack(asdict(replace(manifest, pairs=pairs, provenance=provenance)), arrays), force)
