"""The blocks of a pickled frame: each is put where its placement says, or refused."""

import pickle

import numpy as np
import pandas as pd
import pytest

from profet.datasets.pickled_frames import read_frame
from profet.errors import InputError


class Part:
    """Pickled as the call of a function, which need not exist when it is pickled."""

    def __init__(self, *parts: object):
        self.parts = parts

    def __reduce__(self) -> tuple[object, ...]:
        return self.parts


def pickled_blocks(*blocks: tuple[object, object], names: object = ("a", "b")) -> bytes:
    from pandas._libs.internals import _unpickle_block
    from pandas.core.indexes.base import Index, _new_Index
    from pandas.core.internals.managers import BlockManager

    labels = Part(_new_Index, (Index, {"data": np.array(names, dtype=object), "name": None}))
    axes = [labels, Part(_new_Index, (pd.RangeIndex, {"start": 0, "stop": 3, "step": 1}))]
    manager = Part(BlockManager, (tuple(Part(_unpickle_block, (*block, 2)) for block in blocks), axes))
    return pickle.dumps(Part(pd.DataFrame, (), {"_mgr": manager}), protocol=4)


TWO_ROWS = np.arange(6.0).reshape(2, 3)


def test_blocks_are_put_where_their_placement_says() -> None:
    columns = read_frame(pickled_blocks((TWO_ROWS[:1], slice(1, 2)), (TWO_ROWS[1:], np.array([0]))), "x.pickle")
    assert {name: values.tolist() for name, values in columns.items()} == {
        "a": [3.0, 4.0, 5.0],
        "b": [0.0, 1.0, 2.0],
    }


@pytest.mark.parametrize(
    "blocks",
    [
        [(TWO_ROWS, slice(0, 1))],
        [(TWO_ROWS, np.array([0]))],
        [(TWO_ROWS, np.array([0, 5]))],
        [(TWO_ROWS, np.array([0, 0]))],
        [(TWO_ROWS, np.array([0.0, np.inf]))],
        [(TWO_ROWS, np.array([0.0, np.nan]))],
        [(TWO_ROWS, "ab")],
        [(TWO_ROWS, None)],
        [(TWO_ROWS, slice("a", 2))],
        [(TWO_ROWS, slice(0, 2, 0))],
        [(TWO_ROWS[:1], slice(0, 1))],
        [(TWO_ROWS[:1], slice(0, 1)), (TWO_ROWS[:1, :2], slice(1, 2))],
        [(TWO_ROWS.reshape(2, 1, 3), slice(0, 2))],
        [("text", slice(0, 2))],
        [({}, slice(0, 2))],
        [],
    ],
)
def test_blocks_that_do_not_fit_their_places_are_refused(blocks: list[tuple[object, object]]) -> None:
    with pytest.raises(InputError, match=r"^x\.pickle: not a pickled data frame of pandas"):
        read_frame(pickled_blocks(*blocks), "x.pickle")
