"""What performance tables and plans look like in a terminal and as a picture."""

import pytest
from rich.console import Console

from profet.partition.planners import Planner, all_subsets
from profet.reports.partition_picture import draw_table
from profet.reports.partition_tables import performance_tables, plan_tables
from tests.partition.made_up import table, unit

LONG = "simulated:fast:fixed=2:image=1.5:noise=0.02"
MADE_UP = table(unit(LONG, {1: 3.0, 8: 20.0, 16: 41.0}), unit("cpu", {1: 5.0, 8: 33.0}))


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_name_is_cut_in_a_narrow_terminal(width: int) -> None:
    console = Console(width=width)
    plan = Planner(MADE_UP).plan(16)
    tables = [*performance_tables(MADE_UP), *plan_tables(plan, all_subsets(MADE_UP, 16))]
    for each in tables:
        with console.capture() as captured:
            console.print(each)
        assert "…" not in captured.get()


def test_many_units_are_shown_a_few_at_a_time() -> None:
    units = [unit(f"gpu{number}", {1: 2.0 + number, 2: 3.5 + number}) for number in range(7)]
    console = Console(width=80)
    with console.capture() as captured:
        for each in performance_tables(table(*units)):
            console.print(each)
    for number in range(7):
        assert f"{2 + number}.000 + 0" in captured.get()


def test_exact_names_are_listed_where_they_are_others() -> None:
    named = MADE_UP.units[1].__class__(name="cpu", full_name="onnxruntime:cpu", points=MADE_UP.units[1].points)
    headings = [[str(column.header) for column in performance_tables(table(each))[1].columns] for each in (
        MADE_UP.units[0], named,
    )]  # fmt: skip
    assert "in full" not in headings[0]
    assert "in full" in headings[1]


def test_times_in_the_picture_are_labelled_with_plain_numbers() -> None:
    figure = draw_table(MADE_UP)
    figure.draw_without_rendering()
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels(which="both")]
    assert {"5", "10", "20"} <= set(labels)
    assert not [label for label in labels if "$" in label]
