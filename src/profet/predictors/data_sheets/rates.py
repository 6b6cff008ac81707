"""How a step changes from one GPU to another when all that is known of one of them is its data sheet.

A roofline by op family (Williams et al., 2009): what is bound by arithmetic changes with the rate of arithmetic,
what is bound by memory with that of memory, the rest not at all. The rates are not the sheet's peaks but what a GPU
holds of them, by three facts of its kind, none of them fitted to latencies:

- Beside every 100 float32 instructions stand about 36 others, which need slots to issue from (NVIDIA, Turing GPU
  Architecture, 2018, p. 13). How many lanes a multiprocessor has and to how many threads it issues in a cycle goes
  with its compute capability (CUDA C++ Programming Guide, tables of arithmetic throughput and of schedulers; Kepler
  and Maxwell can issue two instructions at once where these are independent, which is not counted on).
- Between base and boost clock, a board that is kept busy settles halfway.
- A multiprocessor waits for memory with so many bytes under way and no more (Little's law; Volkov, 2016).
"""

from dataclasses import dataclass, replace

import numpy as np

from profet.instances.instance import Gpu
from profet.predictors.answer import GAP
from profet.predictors.components import captured_us, take_apart
from profet.profiles.arrays import FloatArray, ProfileArrays
from profet.profiles.families import op_families
from profet.quantities import US_PER_MS

_OTHER_INSTRUCTIONS = 0.36
"""For each float32 instruction."""

_LANES_AND_ISSUED: tuple[tuple[float, int, int], ...] = (
    (3.0, 192, 128),
    (5.0, 128, 128),
    (6.0, 64, 64),
    (6.1, 128, 128),
    (7.0, 64, 128),
    (8.6, 128, 128),
)
"""From which compute capability on a multiprocessor has so many float32 lanes, and issues to so many threads."""

_MIDWAY_UNKNOWN = 0.9
"""Share of the boost clock that is held where the base clock is unknown: that of three boards of four, rounded."""

_BYTES_UNDER_WAY = 1024 * 4 / 500
"""Per cycle and multiprocessor: a float for each of 1024 threads, every 500 cycles that a loaded memory takes."""

_COPY_SHARE = 0.75
"""Of the peak of memory that a copy reaches: 68 to 82 % as Habitat measured (Yu et al., 2021)."""

_PACED_FROM, _PACED_WHOLLY = 0.2, 0.5
"""Shares of waiting in a step between which the host comes to set its pace."""

_LEAST_GAP = 0.1
"""Share of its gap that a step keeps however much longer the device works."""


@dataclass(frozen=True)
class Rates:
    """What a GPU holds of its peak rates.

    Args:
        compute: float32 arithmetic, in TFLOP/s.
        memory: in GB/s, on the scale of peak rates.
    """

    compute: float
    memory: float

    def over(self, other: "Rates") -> tuple[float, float]:
        """Return how many times faster this is in arithmetic and in memory."""
        return self.compute / other.compute, self.memory / other.memory


def rates(gpu: Gpu | None) -> Rates | None:
    """Return what a GPU holds of its data sheet's rates; None where that does not state both.

    Where the compute capability is unknown, it is taken for one of today's.
    """
    if gpu is None or not gpu.fp32_tflops or not gpu.bandwidth_gb_s:
        return None
    lanes, issued = _multiprocessor(gpu.compute_capability)
    floats = min(1.0, issued / (lanes * (1 + _OTHER_INSTRUCTIONS)))
    clock = _MIDWAY_UNKNOWN
    if gpu.base_clock_mhz and gpu.boost_clock_mhz:
        clock = (1 + min(1.0, gpu.base_clock_mhz / gpu.boost_clock_mhz)) / 2
    gigacycles = clock * gpu.fp32_tflops * 1000 / (2 * lanes)  # a second, of all multiprocessors together
    under_way = _BYTES_UNDER_WAY * gigacycles / _COPY_SHARE
    return Rates(gpu.fp32_tflops * floats * clock, min(gpu.bandwidth_gb_s, under_way))


def _multiprocessor(compute_capability: float | None) -> tuple[int, int]:
    """Return how many float32 lanes it has, and how many threads it issues to in a cycle."""
    lanes, issued = _LANES_AND_ISSUED[-1][1:] if compute_capability is None else _LANES_AND_ISSUED[0][1:]
    for least, *has in _LANES_AND_ISSUED:
        if compute_capability is not None and compute_capability >= least:
            lanes, issued = has
    return lanes, issued


def moved(families_ms: FloatArray, here: Rates, there: Rates) -> FloatArray:
    """Return where the time of n steps goes on another GPU.

    Args:
        families_ms: of op_families().device and the gap, shape (n, families + 1).
        here: rates of the GPU that this was on.
        there: rates of the other.
    """
    busy_ms = families_ms[:, :-1] / _speed_ups(tuple(op_families().device), here, there)
    gap_ms, step_ms = families_ms[:, -1], families_ms.sum(axis=1)
    share = gap_ms / np.maximum(step_ms, 1e-9)
    paced = np.clip((share - _PACED_FROM) / (_PACED_WHOLLY - _PACED_FROM), 0.0, 1.0)
    left_ms = np.maximum(_LEAST_GAP * gap_ms, step_ms - busy_ms.sum(axis=1))
    return np.column_stack([busy_ms, (1 - paced) * gap_ms + paced * left_ms])


def moved_profiles(profiles: ProfileArrays, here: Rates, there: Rates) -> ProfileArrays:
    """Return n profiles as another GPU would have given them; a latency that is unknown stays so."""
    step_us = profiles.step_latency_ms * US_PER_MS
    captured = captured_us(profiles)
    parts = take_apart(captured, np.where(np.isnan(step_us), 1.0, step_us))
    step_ms = moved(np.column_stack([parts.families_us, parts.gap_us]) / US_PER_MS, here, there).sum(axis=1)
    faster = _speed_ups(tuple(op_families().families(profiles.device_ops)), here, there)
    return replace(
        profiles,
        device_us=profiles.device_us / faster,
        step_latency_ms=np.where(np.isnan(step_us), np.nan, step_ms),
    )


def _speed_ups(families: tuple[str, ...], here: Rates, there: Rates) -> FloatArray:
    """Return how many times faster each of some families is there, shape (families,)."""
    compute, memory = there.over(here)
    by_kind = {"compute": compute, "memory": memory}
    return np.array([by_kind.get(op_families().kinds.get(family, ""), 1.0) for family in families])


def in_order(times_ms: dict[str, float]) -> FloatArray:
    """Return times by family and gap as moved() takes them, shape (1, families + 1)."""
    return np.array([[times_ms.get(name, 0.0) for name in (*op_families().device, GAP)]])
