"""A toy network, units that sleep, and their tables."""

from pathlib import Path

import numpy as np
import pytest

from profet.partition.backends.protocol import Array
from profet.partition.networks.network import Network, Tensor
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.partition.units import Unit, parse_unit

SIZES = (1, 2, 4, 8, 16, 32)
FINGERPRINT = "5a" * 32


def unit_table(name: str, fixed_ms: float, image_ms: float, sizes: tuple[int, ...] = SIZES) -> UnitTable:
    points = tuple(Point(batch=size, execution_ms=fixed_ms + image_ms * size) for size in sizes)
    return UnitTable(name=name, full_name=name, points=points)


def performance_table(**curves: tuple[float, float]) -> PerformanceTable:
    units = tuple(unit_table(name, *curve) for name, curve in curves.items())
    return PerformanceTable(network="toy", network_sha256=FINGERPRINT, units=units)


def simulated(name: str, fixed_ms: float, image_ms: float, fault: str = "") -> Unit:
    """A unit that sleeps for as long as its table says, until its fault strikes."""
    return parse_unit(f"simulated:{name}:fixed={fixed_ms}:image={image_ms}{fault and ':'}{fault}").named(name)


def answers(images: Array) -> Array:
    """What simulated units answer for some images, worked out here: the mean of 16 values of each."""
    flat = images.reshape(len(images), -1).astype(np.float64)
    places = np.unique(np.linspace(0, flat.shape[1] - 1, 16).astype(np.int64))
    return flat[:, places].mean(axis=1).astype(np.float32)


@pytest.fixture(scope="session")
def toy() -> Network:
    """A network that only simulated units can run: it has no file."""
    outputs = (Tensor("scores", (5,)), Tensor("sum", ()))
    return Network("toy", Path("toy.onnx"), FINGERPRINT, Tensor("images", (3, 4, 4)), outputs)


@pytest.fixture(scope="session")
def images() -> Array:
    return np.random.default_rng(7).standard_normal((64, 3, 4, 4), dtype=np.float32)
