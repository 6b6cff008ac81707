"""Machines whose speed by op family is known, so that what a predictor learns can be checked."""

import numpy as np

from profet.profiles.arrays import ProfileArrays

SLOW = {
    "Conv2D": 3.0,
    "Conv2DBackpropInput": 3.0,
    "Conv2DBackpropFilter": 3.0,
    "FusedBatchNormV3": 1.5,
    "ReluGrad": 1.5,
    "_Send": 1.0,
    "IDLE": 1.0,
}
"""How many times longer each operation takes on the slow machine than on the fast one."""

OPERATIONS = tuple(SLOW)


def workloads(seed: int, n: int = 80) -> np.ndarray:
    """µs of each operation on the fast machine, shape (n, operations)."""
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(len(OPERATIONS)), n)
    times_us: np.ndarray = shares * np.exp(random.uniform(np.log(3e3), np.log(3e5), n))[:, None]
    return times_us


def measured(times_us: np.ndarray, profiled: bool = True) -> ProfileArrays:
    """What is measured where operations take these times and nothing overlaps."""
    device_us = times_us if profiled else np.full_like(times_us, np.nan)
    host_us = np.zeros((len(times_us), 0))
    return ProfileArrays((), OPERATIONS, host_us, device_us, times_us.sum(axis=1) / 1000)


def on_slow_machine(times_us: np.ndarray) -> np.ndarray:
    """The same work on the slow machine."""
    slower: np.ndarray = times_us * np.array([SLOW[name] for name in OPERATIONS])
    return slower
