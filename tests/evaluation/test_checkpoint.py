"""A long validation can be stopped, continued, and is never continued from what does not belong to it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from profet.datasets.dataset import Dataset
from profet.errors import InputError
from profet.evaluation.leave_out import Question, validate

ASKED = Question("published", anchors=("a.large",), targets=("b.large",))


class _StoppedError(Exception):
    pass


def test_what_was_finished_is_not_done_again_and_the_numbers_are_the_same(
    small_dataset: Dataset, tmp_path: Path
) -> None:
    def stop_after_two(results, total, label):  # type: ignore[no-untyped-def]
        for number, result in enumerate(results):
            if number == 2:
                raise _StoppedError
            yield result

    counted: list[int] = []

    def count(results, total, label):  # type: ignore[no-untyped-def]
        counted.append(total)
        yield from results

    with pytest.raises(_StoppedError):
        validate(small_dataset, ASKED, stop_after_two, tmp_path / "kept")
    continued = validate(small_dataset, ASKED, count, tmp_path / "kept")
    again = validate(small_dataset, ASKED, count, tmp_path / "kept")
    whole = validate(small_dataset, ASKED)
    assert counted == [2, 0]
    pd.testing.assert_frame_equal(continued.rows, whole.rows)
    pd.testing.assert_frame_equal(again.rows, whole.rows)


def test_another_seed_or_another_data_set_does_not_use_what_is_kept(small_dataset: Dataset, tmp_path: Path) -> None:
    validate(small_dataset, ASKED, checkpoint_folder=tmp_path)
    before = set(tmp_path.iterdir())
    validate(
        small_dataset,
        Question("published", anchors=("a.large",), targets=("b.large",), seed=9),
        checkpoint_folder=tmp_path,
    )
    other = Dataset(
        small_dataset.runs.assign(step_latency_ms=small_dataset.runs["step_latency_ms"] * 2),
        small_dataset.host_us,
        small_dataset.device_us,
    )
    validate(other, ASKED, checkpoint_folder=tmp_path)
    assert len(set(tmp_path.iterdir())) == 3 * len(before)


def test_a_damaged_file_is_named(small_dataset: Dataset, tmp_path: Path) -> None:
    validate(small_dataset, ASKED, checkpoint_folder=tmp_path)
    victim = next(iter(tmp_path.iterdir()))
    victim.write_bytes(victim.read_bytes()[:50])
    with pytest.raises(InputError, match=victim.name):
        validate(small_dataset, ASKED, checkpoint_folder=tmp_path)


@pytest.mark.parametrize("columns", [{"foo": np.zeros(7)}, {"with_latency_ms": np.full(50, np.nan)}])
def test_a_file_that_is_no_answer_of_this_fold_is_named(
    small_dataset: Dataset, tmp_path: Path, columns: dict[str, "np.ndarray"]
) -> None:
    validate(small_dataset, ASKED, checkpoint_folder=tmp_path)
    victim = next(iter(tmp_path.iterdir()))
    np.savez(victim, **columns)
    with pytest.raises(InputError, match=r"not the answer of this fold; remove it"):
        validate(small_dataset, ASKED, checkpoint_folder=tmp_path)
