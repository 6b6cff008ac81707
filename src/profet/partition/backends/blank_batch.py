"""Runs a batch of zeros, so that a backend compiles and reserves whatever a batch of that size needs."""

import numpy as np

from profet.partition.backends.protocol import Runner
from profet.partition.networks.network import Network


def run_blank_batch(runner: Runner, network: Network, batch: int) -> None:
    """Run a batch of zeros and forget its outputs."""
    images = np.zeros((batch, *network.input.shape), network.input.dtype)
    outputs = [np.empty((batch, *each.shape), each.dtype) for each in network.outputs]
    runner.run(images, outputs)
