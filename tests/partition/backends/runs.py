"""Running a network on a unit, in the test's own process."""

from collections.abc import Sequence

import numpy as np

from profet.partition.backends.protocol import Array
from profet.partition.backends.registry import backend
from profet.partition.networks.network import Network
from profet.partition.units import parse_unit


def images_of(network: Network, batch: int) -> Array:
    """Random images of a network's type."""
    shape = (batch, *network.input.shape)
    return np.random.default_rng(1).random(shape, np.float32).astype(network.input.dtype)


def outputs_of(network: Network, batch: int) -> list[Array]:
    """Arrays that hold nothing that could be mistaken for a result."""
    return [np.full((batch, *each.shape), 77, each.dtype) for each in network.outputs]


def outputs_on(unit_name: str, network: Network, images: Array) -> list[Array]:
    """Load a network on a unit, and run one batch."""
    unit = parse_unit(unit_name)
    runner = backend(unit.backend).load(network, unit)
    outputs = outputs_of(network, len(images))
    runner.warm_up(len(images))
    times = runner.run(images, outputs)
    runner.close()
    assert times.execution_ms > 0
    assert times.io_ms >= 0
    return outputs


def assert_close(found: Sequence[Array], expected: Sequence[Array], tolerance: float = 1e-4) -> None:
    """Check that outputs agree, within a share of the largest value of each."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        largest = float(np.abs(other.astype(np.float64)).max())
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * max(largest, 1e-3))
