"""How far two runs of the same batch are apart."""

import numpy as np

from profet.partition.execution.trial import difference

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
