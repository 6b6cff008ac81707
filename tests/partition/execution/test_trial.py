"""A batch that is split and run on one unit, and how far the two are apart."""

import numpy as np

from profet.partition.backends.protocol import Array
from profet.partition.execution.partitioner import Partitioner
from profet.partition.execution.trial import difference, run_trial
from profet.partition.networks.network import Network
from tests.partition.execution.conftest import performance_table, simulated

ONE = np.array([[1.0, -4.0], [2.0, 0.0]], np.float32)


def test_the_difference_is_a_share_of_the_largest_value() -> None:
    assert difference(ONE, ONE) == 0
    assert difference(ONE + np.float32(0.5), ONE) == 0.125
    assert difference(np.zeros(3), np.zeros(3)) == 0


def test_what_is_no_number_is_different_unless_both_have_it_in_the_same_place() -> None:
    broken = ONE.copy()
    broken[0, 0] = np.nan
    assert difference(broken, ONE) == float("inf")
    assert difference(ONE, broken) == float("inf")
    assert difference(broken, broken.copy()) == 0


def test_what_others_did_is_not_taken_for_the_best_unit_alone(toy: Network, images: Array) -> None:
    table = performance_table(fast=(1.0, 0.1), slow=(1.0, 0.2))
    fast, slow = simulated("fast", 1, 0.1), simulated("slow", 1, 0.2)
    with Partitioner(toy, [fast, slow], table, 8) as partitioner:
        check = run_trial(partitioner, images[:8], 1, check=True).check
        assert check is not None
        assert check.unit == "fast"
    with Partitioner(toy, [simulated("fast", 1, 0.1, "noise=loud"), slow], table, 8) as partitioner:
        check = run_trial(partitioner, images[:8], 1, check=True).check
        assert check is not None
        assert check.unit == "slow", "the other one never started"
    with Partitioner(toy, [simulated("fast", 1, 0.1, "fail-after=1"), slow], table, 8) as partitioner:
        assert run_trial(partitioner, images[:8], 1, check=True).check is None
