"""The tables in a terminal, and the pictures, show the options of the advice."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from profet.advice.advice import Advice
from profet.reports.advice_picture import draw_chances, draw_front, draw_options
from profet.reports.advice_report import advice_report
from profet.reports.advice_tables import advice_tables, shown_options
from tests.reports.advice_asked import BOTH, NOTHING

KNOWN = {"g3s.xlarge", "g4dn.xlarge", "g5.xlarge", "p2.xlarge", "p3.2xlarge"}


def test_the_terminal_shows_what_was_measured_and_then_the_first_others(advised: Callable[..., Advice]) -> None:
    advice = advised(NOTHING)
    shown = shown_options(advice)
    assert len(shown) == 12
    assert {each.target for each in shown} >= KNOWN
    (table,) = advice_tables(advice)
    assert table.row_count == 12
    assert str(table.caption).startswith(f"{len(advice.options) - 12} more instances, all extrapolated")
    names = [str(cell) for cell in table.columns[0].cells]
    assert set(names[:5]) == KNOWN
    assert all(str(cell) == "extrapolated" for cell in list(table.columns[2].cells)[5:])


def test_the_recommended_one_is_shown_however_far_behind_it_stands(advised: Callable[..., Advice]) -> None:
    advice = advised(NOTHING)
    last = next(each for each in reversed(advice.options) if each.basis == "extrapolated")
    assert last.target not in {each.target for each in shown_options(advice)}
    assert last.target in {each.target for each in shown_options(replace(advice, nearest=last.target))}


@pytest.mark.parametrize("width", [60, 80])
def test_no_name_is_cut_in_a_narrow_terminal(advised: Callable[..., Advice], width: int) -> None:
    console = Console(width=width)
    with console.capture() as captured:
        for table in advice_tables(advised(NOTHING)):
            table.title = None
            console.print(table)
    assert "…" not in captured.get()


def test_the_front_joins_the_options_that_no_other_beats(advised: Callable[..., Advice]) -> None:
    advice = advised(BOTH)
    axes = draw_front(advice).axes[0]
    lines = {str(line.get_label()).split(",")[0]: line.get_xydata().tolist() for line in axes.lines}
    front = sorted([each.hours, each.cost] for each in advice.options if each.pareto)
    assert lines["front"] == front
    assert len(front) == 2
    taken = advice.option("g5.xlarge")
    assert lines["take this"] == [[taken.hours, taken.cost]]
    assert lines["deadline"][0][0] == 240
    assert lines["budget"][0][1] == 400
    points = sum(len(lines[basis]) for basis in ("measured", "predicted", "extrapolated"))
    assert points == sum(each.cost is not None for each in advice.options)


def test_extrapolated_points_are_hollow(advised: Callable[..., Advice]) -> None:
    axes = draw_front(advised(NOTHING)).axes[0]
    faces = {str(line.get_label()): line.get_markerfacecolor() for line in axes.lines}
    assert faces["extrapolated"] == "white"
    assert "white" not in {faces["predicted"], faces["measured"]}


def test_both_panels_have_a_bar_an_option_cheapest_first(advised: Callable[..., Advice]) -> None:
    advice = advised(NOTHING)
    time, cost = draw_options(advice).axes
    shown = shown_options(advice)
    assert [bar.get_width() for bar in time.patches] == [each.hours for each in shown]  # type: ignore[attr-defined]
    priced = [each.cost for each in shown if each.cost is not None]
    assert [bar.get_width() for bar in cost.patches] == priced == sorted(priced)  # type: ignore[attr-defined]
    names = [label.get_text() for label in time.get_yticklabels()]
    assert "g5.xlarge (take this)" in names
    assert [name.split(" (")[0] for name in names] == [each.target for each in shown]


def test_chances_are_drawn_only_where_something_was_asked(advised: Callable[..., Advice]) -> None:
    assert [each.name for each in advice_report(advised(NOTHING)).pictures] == [
        "Time against cost",
        "Time and cost",
    ]
    assert [each.name for each in advice_report(advised(BOTH)).pictures][-1] == "Chances"
    advice = advised(BOTH)
    lines = {str(line.get_label()): list(line.get_xdata()) for line in draw_chances(advice).axes[0].lines}
    shown = shown_options(advice)
    known = [each.p_budget for each in shown if each.p_budget is not None]
    assert lines["in budget"] == pytest.approx([100 * chance for chance in known])
