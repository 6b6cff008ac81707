"""What batches take flows back into the table, carefully."""

from profet.partition.execution.run_report import ChunkRun
from profet.partition.execution.table_feedback import TableFeedback
from tests.partition.execution.conftest import performance_table


def ran(images: int, execution_ms: float, io_ms: float = 0.0) -> ChunkRun:
    return ChunkRun(0, images, 0.0, execution_ms + io_ms, execution_ms, io_ms)


def feedback() -> TableFeedback:
    """A table in which 4 images take unit a 8 ms."""
    return TableFeedback(performance_table(a=(4.0, 1.0), b=(1.0, 1.0)))


def test_a_point_moves_a_quarter_of_the_way_once_it_is_seen_twice() -> None:
    learnt = feedback()
    learnt.learn("a", [ran(4, 16.0)])
    assert learnt.table.unit("a").point(4).execution_ms == 8
    learnt.learn("a", [ran(4, 16.0)])
    point = learnt.table.unit("a").point(4)
    assert point.execution_ms == 10
    assert point.repeats == 3
    assert learnt.drift == 0.25
    assert learnt.table.unit("b") == feedback().table.unit("b")


def test_one_odd_sample_does_nothing() -> None:
    learnt = feedback()
    learnt.learn("a", [ran(4, 8.0), ran(4, 8.0), ran(4, 900.0), ran(4, 8.0), ran(4, 8.0)])
    assert learnt.table.unit("a").point(4).execution_ms == 8


def test_io_and_execution_are_kept_apart() -> None:
    learnt = feedback()
    learnt.learn("a", [ran(4, 4.0, 4.0)] * 40)
    point = learnt.table.unit("a").point(4)
    assert abs(point.execution_ms - 4) < 0.1
    assert abs(point.io_ms - 4) < 0.1


def test_sizes_that_are_not_in_the_table_and_times_that_cannot_be_are_passed_over() -> None:
    learnt = feedback()
    learnt.learn("a", [ran(5, 1.0), ran(4, 0.0), ran(4, 0.0), ran(4, 0.0)])
    assert learnt.table == feedback().table


def test_a_learnt_limit_stands_in_the_table_and_only_falls() -> None:
    learnt = feedback()
    learnt.limit("a", 7)
    learnt.planned()
    learnt.limit("a", 9)
    assert learnt.table.unit("a").largest_batch == 7
    assert learnt.drift == 0


def test_sizes_that_were_not_seen_twice_are_believed_to_follow_those_that_were() -> None:
    learnt = feedback()
    learnt.learn("a", [ran(4, 16.0), ran(4, 16.0), ran(8, 900.0)])
    believed = learnt.believed()
    assert {point.batch: point.execution_ms for point in believed.unit("a").points} == {
        1: 6.25, 2: 7.5, 4: 10, 8: 15, 16: 25, 32: 45
    }  # fmt: skip
    assert believed.unit("b") == feedback().table.unit("b")
    assert learnt.table.unit("a").point(8).execution_ms == 12  # what was not seen is not written down
