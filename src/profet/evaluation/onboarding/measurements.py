"""What was measured on a new instance, collected from tables, data sets and profiles, and checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.onboarding.checks import agreed, check_unit
from profet.evaluation.onboarding.table import MAX_BYTES, known_name, read_table
from profet.files import opened, read_bounded
from profet.names import suggest
from profet.predictors.bundle import Bundle
from profet.predictors.components import Components, captured_us, medians, take_apart, works
from profet.predictors.onboarding.prior import by_family
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.profile import Profile
from profet.quantities import US_PER_MS

_PARQUET = b"PAR1"


@dataclass(frozen=True)
class MeasuredWorkload:
    """A workload measured on the new instance.

    Args:
        name: of the workload.
        latency_ms: median over its runs there.
        anchors: components on anchors, one row each, by anchor.
        families_us: time there by family and gap, shape (families + 1,); None without a profile.
    """

    name: str
    latency_ms: float
    anchors: Mapping[str, Components]
    families_us: FloatArray | None


@dataclass
class Measurements:
    """Collects what was measured on one new instance.

    Args:
        bundle: that knows the anchors.
        instance: that is new.
    """

    bundle: Bundle
    instance: str
    warnings: list[str] = field(default_factory=list, init=False)
    _latencies: dict[str, list[tuple[float, str]]] = field(default_factory=dict, init=False)
    _anchors: dict[str, dict[str, Components]] = field(default_factory=dict, init=False)
    _families_us: dict[str, FloatArray] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.zoos = {anchor: known_workloads(self.bundle, anchor) for anchor in self.bundle.anchors}
        self._known = sorted({name for names, _ in self.zoos.values() for name in names})

    def add_file(self, path: str) -> None:
        """Take in a table or a data set.

        Raises:
            InputError: it is neither, or nothing in it can teach.
        """
        if Path(path).is_file():  # of a pipe nothing can be read twice
            with opened(path, "file of measurements") as stream:
                is_dataset = stream.read(len(_PARQUET)) == _PARQUET
            if is_dataset:
                self.add_dataset(Dataset.load(path), path)
                return
        for run in read_table(read_bounded(path, MAX_BYTES, "table of measurements"), path):
            self._add_latency(known_name(run, self._known), run.latency_ms, run.where, run.unit)

    def add_dataset(self, dataset: Dataset, where: str) -> None:
        """Take in the runs of the new instance, and those of anchors with profiles of the same workloads.

        Raises:
            InputError: none on the new instance, or of workloads that no anchor knows.
        """
        dataset.check_instances([self.instance], dataset.instances, f"{where}: instance")
        there = self._rows(dataset, self.instance, profiled=False)
        names = np.array(dataset.workload_names(there), object)
        for anchor in set(self.zoos) & set(dataset.anchors):
            rows = self._rows(dataset, anchor, profiled=True)
            rows = rows[np.isin(np.array(dataset.workload_names(rows), object), names)]
            for name, parts in _taken_apart(dataset, rows).items():
                self._anchors.setdefault(name, {})[anchor] = parts
        usable = np.array([name in self._anchors or name in self._known for name in names], bool)
        if not usable.any():
            raise InputError(
                f"{where}: no run on {self.instance} is of a workload that an anchor of the bundle knows, or has a"
                f" profile on an anchor beside it ({', '.join(self.zoos)}); profile one of them there"
            )
        left_out = len(set(names[~usable]))
        if left_out:
            self.warnings.append(f"{where}: {left_out} workloads were left out: no anchor has a profile of them")
        latencies_ms = dataset.runs["step_latency_ms"].to_numpy(float)[there]
        for name, latency_ms in zip(names[usable], latencies_ms[usable], strict=True):
            self._add_latency(str(name), float(latency_ms), where)
        with_profile = there[usable][works(dataset.profile_arrays(there[usable]))]
        for name, parts in _taken_apart(dataset, with_profile).items():
            self._families_us[name] = by_family(parts)[0]

    def add_profile(
        self, profile: Profile, anchor: str | None, latency_ms: float, where: str, unit: str = "ms"
    ) -> None:
        """Take in a profile on an anchor with the latency of the same workload on the new instance.

        Raises:
            InputError: unknown anchor, or a profile without device operations.
        """
        name = profile.instance if anchor is None else anchor
        if name is None or name not in self.zoos:
            told = (
                "does not say where it was measured" if name is None else f"is of {name!r}, no anchor of the bundle"
            )
            raise InputError(f"{where}: {told}; give --anchor ({suggest(name or '', self.zoos)})")
        if not profile.has_device_operations:
            raise InputError(f"{where}: no device operations; record a training step that runs on the GPU")
        first = next(iter(self.bundle.learnt(name).values()))
        self._anchors.setdefault(where, {})[name] = first.parts(ProfileArrays.from_profiles([profile]))
        self._add_latency(where, latency_ms, where, unit)

    def _add_latency(self, workload: str, latency_ms: float, where: str, unit: str = "ms") -> None:
        self._latencies.setdefault(workload, []).append((latency_ms, where))
        anchors = {anchor: _row(zoo, workload) for anchor, zoo in self.zoos.items()} | self._anchors.get(
            workload, {}
        )
        steps_ms = {name: float(each.step_us[0]) / US_PER_MS for name, each in anchors.items() if each is not None}
        self.warnings += check_unit(workload, latency_ms, unit, steps_ms, where)

    def _rows(self, dataset: Dataset, instance: str, profiled: bool) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        of_instance = (dataset.runs["instance"] == instance) & dataset.runs["step_latency_ms"].notna()
        rows = np.flatnonzero(of_instance.to_numpy())
        return rows[works(dataset.profile_arrays(rows))] if profiled else rows

    def workloads(self) -> list[MeasuredWorkload]:
        """Return what was measured, by workload.

        Raises:
            InputError: nothing; a workload at clearly different latencies; or a latency in a wrong unit.
        """
        if not self._latencies:
            raise InputError(
                f"nothing was measured on {self.instance}; give --from FILE, a table with the columns model, batch,"
                " pixels and latency_ms, or a data set, or --profile FILE LATENCY"
            )
        found = []
        for name, runs in sorted(self._latencies.items()):
            latency_ms = agreed(name, runs)
            anchors = {anchor: _row(zoo, name) for anchor, zoo in self.zoos.items()}
            anchors |= self._anchors.get(name, {})
            known = {anchor: parts for anchor, parts in anchors.items() if parts is not None}
            found.append(MeasuredWorkload(name, latency_ms, known, self._families_us.get(name)))
        return found


def known_workloads(bundle: Bundle, anchor: str) -> tuple[list[str], Components]:
    """Return the workloads that an anchor's predictors learnt from, with their components."""
    names: list[str] = []
    parts: list[Components] = []
    for predictor in bundle.learnt(anchor).values():
        new = [place for place, name in enumerate(predictor.workloads_) if name not in set(names)]
        names += [predictor.workloads_[place] for place in new]
        parts.append(predictor.additive_.neighbourhood_.parts.take(np.array(new, np.intp)))
    if not parts:
        raise InputError(
            f"{bundle.where}: holds no predictor of our method to rest on; train one with profet train"
        )
    return names, Components.joined(parts)


def _row(zoo: tuple[list[str], Components], name: str) -> Components | None:
    names, parts = zoo
    return parts.take(np.array([names.index(name)], np.intp)) if name in names else None


def _taken_apart(dataset: Dataset, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> dict[str, Components]:
    """Return the median components of each workload of some runs."""
    if not len(rows):
        return {}
    names, places = np.unique(np.array(dataset.workload_names(rows)), return_inverse=True)
    middle = medians(dataset.profile_arrays(rows), places)
    parts = take_apart(captured_us(middle), middle.step_latency_ms * US_PER_MS)
    return {str(name): parts.take(np.array([place], np.intp)) for place, name in enumerate(names)}
