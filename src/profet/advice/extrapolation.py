"""Instances that nobody measured: from the same GPU elsewhere, else from data sheets.

From data sheets, a step is that of the known GPU nearest in generation, its compute-bound families scaled by the
ratio of float32 rates, its memory-bound ones by that of memory bandwidths, the rest left alone (a roofline by op
family, Williams et al., 2009). How far off that is shows on the known GPUs themselves: each is extrapolated from
the others for this very profile, and those errors, in logs, make the spread (Student's t, as they are few), each
GPU's independent of the others'. Where the known latency has no spread, the extrapolated one has none.
"""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from profet.advice.latencies import Latency
from profet.instances.catalogue import Catalogue
from profet.instances.instance import Gpu, Instance
from profet.predictors.card import Prediction
from profet.profiles.arrays import FloatArray
from profet.profiles.families import op_families

_FEWEST_KNOWN = 3
_MOST_SPREAD = 50.0
"""In natural logs; further off is not known any better, and would not stay a number."""


@dataclass(frozen=True)
class _Known:
    """A GPU whose latency is known, with the time of its families in a step, in ms, by what bounds them."""

    instance: str
    gpu: Gpu
    latency: Latency
    compute_ms: float
    memory_ms: float

    def on(self, gpu: Gpu) -> float:
        """Return the latency, in ms, on another GPU."""
        compute = self.compute_ms * _ratio(self.gpu.fp32_tflops, gpu.fp32_tflops)
        memory = self.memory_ms * _ratio(self.gpu.bandwidth_gb_s, gpu.bandwidth_gb_s)
        return compute + memory + max(self.latency.ms - self.compute_ms - self.memory_ms, 0.0)


class Extrapolation:
    """Latencies on instances that are in no bundle.

    Args:
        prediction: of the profile; its families tell what bounds a step.
        known: latencies by instance.
        catalogue: that knows the GPUs.
        level: of intervals.
    """

    def __init__(
        self, prediction: Prediction, known: Mapping[str, Latency], catalogue: Catalogue, level: float
    ) -> None:
        self._level = level
        self._catalogue = catalogue
        self._same: dict[str, tuple[str, Latency]] = {}
        self._made: dict[str, Latency | None] = {}
        for name, latency in known.items():
            instance = catalogue.instances.get(name)
            if instance is not None and instance.gpu is not None:
                self._same.setdefault(instance.gpu, (name, latency))
        self._known = _with_specs(prediction, self._same, catalogue)
        self._errors = _left_out_errors(self._known)

    def latency(self, instance: Instance) -> Latency | None:
        """Return the latency on one GPU of an instance; None where too little is known of it."""
        if instance.gpu is None:
            return None
        if instance.gpu not in self._made:
            self._made[instance.gpu] = self._make(instance)
        return self._made[instance.gpu]

    def _make(self, instance: Instance) -> Latency | None:
        if instance.gpu in self._same:
            name, latency = self._same[instance.gpu]
            return latency.on_another_host(f"as {name}, which has the same GPU; this host was not measured")
        gpu = self._catalogue.gpu(instance)
        if gpu is None or not _has_specs(gpu) or len(self._errors) < _FEWEST_KNOWN:
            return None
        reference = _nearest(gpu, self._known)
        return self._from_specs(gpu, reference)

    def _from_specs(self, gpu: Gpu, reference: _Known) -> Latency:
        ms = reference.on(gpu)
        spread = min(float(np.sqrt(np.mean(self._errors**2))), _MOST_SPREAD)
        explanation = (
            f"from data sheets, beside {reference.gpu.name} of {reference.instance};"
            f" off by a factor of {np.exp(spread):.2g} on the {len(self._errors)} GPUs known here"
        )
        key = f"data sheet of {gpu.name}"
        if reference.latency.draws_ms is None:
            return Latency(key, "extrapolated", explanation, ms, None, None, None)
        factors = reference.latency.draws_ms / reference.latency.ms
        random = np.random.default_rng(zlib.crc32(key.encode()))
        logs = np.log(factors) + spread * random.standard_t(len(self._errors), len(factors))
        logs = np.clip(logs, -_MOST_SPREAD, _MOST_SPREAD)
        width = float(np.exp(np.quantile(np.abs(logs), self._level)))
        return Latency(key, "extrapolated", explanation, ms, ms / width, ms * width, ms * np.exp(logs))


def _with_specs(
    prediction: Prediction, same: Mapping[str, tuple[str, Latency]], catalogue: Catalogue
) -> list[_Known]:
    """Return the known GPUs with specs; what bounds a step there is told by the predicted families."""
    kinds = op_families().kinds
    cards = {each.target: each.card.families for each in prediction.predictions}
    found = []
    for name, latency in same.values():
        gpu = catalogue.gpu(catalogue.instances[name])
        on_anchor = name == prediction.anchor
        families = next(iter(cards.values()), ()) if on_anchor else cards.get(name, ())
        if gpu is None or not _has_specs(gpu) or not families:
            continue
        sums = {"compute": 0.0, "memory": 0.0}
        for each in families:
            kind = kinds.get(each.family)
            if kind in sums:
                sums[kind] += each.anchor_ms if on_anchor else each.target_ms
        found.append(_Known(name, gpu, latency, sums["compute"], sums["memory"]))
    return found


def _left_out_errors(known: list[_Known]) -> FloatArray:
    """Extrapolate every known GPU from the others; return the log errors, shape (known,)."""
    if len(known) < 2:
        return np.zeros(0)
    errors = []
    for each in known:
        others = [other for other in known if other is not each]
        errors.append(np.log(_nearest(each.gpu, others).on(each.gpu) / each.latency.ms))
    return np.array(errors)


def _nearest(gpu: Gpu, known: list[_Known]) -> _Known:
    """Return the known GPU nearest in generation; of equals the newer, then the one with the nearer rate."""

    def distance(each: _Known) -> tuple[float, float, float]:
        here, there = gpu.compute_capability, each.gpu.compute_capability
        rates = abs(np.log(_ratio(gpu.fp32_tflops, each.gpu.fp32_tflops)))
        return (abs(here - there), -there, rates) if here and there else (np.inf, 0.0, rates)

    return min(known, key=distance)


def _has_specs(gpu: Gpu) -> bool:
    return bool(gpu.fp32_tflops and gpu.bandwidth_gb_s)


def _ratio(here: float | None, there: float | None) -> float:
    if not here or not there:
        raise ValueError("a GPU without the rates of its data sheet")
    return here / there
