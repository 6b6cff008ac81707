"""The sampler: over all ranks an epoch is every sample once, and no rank waits for another for ever."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.partition.training.sampler import UnequalBatchSampler

BATCHES = st.lists(st.integers(1, 9), min_size=1, max_size=4)


@given(st.integers(1, 80), BATCHES, st.booleans(), st.booleans())
def test_an_epoch_is_every_sample_once_in_batches_of_the_plan(
    samples: int, batches: list[int], shuffle: bool, drop_last: bool
) -> None:
    ranks = [
        list(UnequalBatchSampler(samples, batches, rank, shuffle=shuffle, drop_last=drop_last))
        for rank in range(len(batches))
    ]
    made = UnequalBatchSampler(samples, batches, 0, shuffle=shuffle, drop_last=drop_last)
    assert {len(steps) for steps in ranks} == {len(made)}
    whole, rest = divmod(samples, sum(batches))
    for number, step in enumerate(zip(*ranks, strict=True)):
        if number < whole:
            assert [len(part) for part in step] == batches
        else:
            assert all(1 <= len(part) <= batch for part, batch in zip(step, batches, strict=True))
    seen = list(chain.from_iterable(chain.from_iterable(ranks)))
    if drop_last:
        assert len(seen) == len(set(seen)) == whole * sum(batches)
    elif rest == 0 or rest >= len(batches):
        assert sorted(seen) == list(range(samples))
    else:
        assert set(seen) == set(range(samples))


@given(st.integers(40, 200), BATCHES)
def test_the_last_step_is_shared_in_proportion(samples: int, batches: list[int]) -> None:
    rest = samples % sum(batches)
    if rest < len(batches):
        return
    last = [len(list(UnequalBatchSampler(samples, batches, rank))[-1]) for rank in range(len(batches))]
    assert sum(last) == rest
    for size, batch in zip(last, batches, strict=True):
        assert abs(size - rest * batch / sum(batches)) < len(batches)


def test_each_epoch_has_an_order_of_its_own_that_comes_again() -> None:
    sampler = UnequalBatchSampler(50, (4, 2), 0, seed=7)
    orders = []
    for epoch in (0, 1, 0):
        sampler.set_epoch(epoch)
        orders.append(list(sampler))
    assert orders[0] == orders[2] != orders[1]
    assert list(UnequalBatchSampler(50, (4, 2), 0, seed=8)) != orders[0]
    assert list(UnequalBatchSampler(12, (4, 2), 1, shuffle=False)) == [[4, 5], [10, 11]]


@pytest.mark.parametrize(
    ("samples", "batches", "rank", "words"),
    [
        (0, (4, 2), 0, "0 samples"),
        (9, (4, 0), 0, r"batches \[4, 0\]: each rank needs one"),
        (9, (), 0, "each rank needs one sample"),
        (9, (4, 2), 2, "rank 2 of 2"),
        (9, (4, 2), -1, "rank -1 of 2"),
    ],
)
def test_what_cannot_be_sampled_is_refused(samples: int, batches: tuple[int, ...], rank: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        UnequalBatchSampler(samples, batches, rank)
