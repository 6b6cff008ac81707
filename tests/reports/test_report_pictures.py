"""What the pictures of reports draw is what their facts say, and they can be told apart without colours."""

import datetime
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from profet import Bundle, Prediction, example_profile, predict
from profet.datasets.dataset import Dataset
from profet.evaluation.leave_out import Question, validate
from profet.instances.catalogue import Catalogue
from profet.reports.colours import series_style
from profet.reports.error_pictures import draw_errors, draw_members
from profet.reports.pictures import inline_svg
from profet.reports.prediction_report import PredictionSource, prediction_report
from profet.reports.report import Report
from profet.reports.scatter_picture import Compared, draw_scatter
from profet.reports.validation_report import validation_report
from tests.reports.noise import with_noise

TODAY = datetime.date(2026, 2, 3)


def report_of(prediction: Prediction) -> Report:
    source = PredictionSource(example_profile(), "profile.json", Bundle.load())
    return prediction_report(prediction, source, [], Catalogue.load(), TODAY)


def drawn(report: Report, name: str) -> Figure:
    (picture,) = [each for each in report.pictures if each.name == name]
    return picture.draw()


def bars(axes: Axes) -> list[Any]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


@pytest.fixture(scope="module", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROFET_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="module")
def prediction() -> Prediction:
    return predict(example_profile())


@pytest.fixture(scope="module")
def report(small_dataset: Dataset) -> Report:
    """Of a validation with intervals, on noisy data: without noise all errors are next to none."""
    noisy = with_noise(small_dataset)
    return validation_report(validate(noisy, Question("blend", targets=("b.large",), interval=0.8)), noisy)


def rows_of(report: Report) -> pd.DataFrame:
    facts = report.facts["predictions"]
    columns = {name: [listed[place] for place in facts[name]] for name, listed in facts["names"].items()}
    columns |= {name: [listed[place] for place in facts["workload"]] for name, listed in facts["workloads"].items()}
    return pd.DataFrame(
        {**columns, **{name: facts[name] for name in ("true_ms", "predicted_ms", "low_ms", "high_ms")}}
    )


def test_bars_and_whiskers_are_latencies_and_costs_of_the_facts(prediction: Prediction) -> None:
    report = report_of(prediction)
    instances = report.facts["costs"]["instances"]
    panels = drawn(report, "Latency and cost").axes
    columns = (("low_ms", "latency_ms", "high_ms"), ("cost_low", "cost", "cost_high"))
    for axes, (low, value, high) in zip(panels, columns, strict=True):
        assert [bar.get_width() for bar in bars(axes)] == [each[value] for each in instances]
        expected = [(each[low], each[high]) for each in instances if each[low] is not None]
        np.testing.assert_allclose(whiskers(axes), expected)
    names = [label.get_text() for label in panels[0].get_yticklabels()]
    converted = "g5.xlarge (converted)"
    assert names == ["p3.2xlarge", converted, "g4dn.xlarge", "g3s.xlarge (measured)", "p2.xlarge"]


def whiskers(axes: Axes) -> list[tuple[float, float]]:
    lines = [each[2][0] for each in axes.containers if isinstance(each, ErrorbarContainer)]
    return [(line.get_segments()[0][0, 0], line.get_segments()[0][1, 0]) for line in lines]


def test_without_intervals_whiskers_are_the_measured_error(prediction: Prediction) -> None:
    bare = [replace(each, low_ms=None, high_ms=None, interval=None) for each in prediction.predictions]
    report = report_of(replace(prediction, predictions=tuple(bare)))
    ends = whiskers(drawn(report, "Latency and cost").axes[0])
    expected = []
    for each in sorted(bare, key=lambda each: each.latency_ms):
        assert each.card.model_left_out is not None
        error = each.latency_ms * each.card.model_left_out.mape / 100
        expected.append((each.latency_ms - error, each.latency_ms + error))
    np.testing.assert_allclose(ends, expected)


def test_without_a_batch_size_the_cost_is_that_of_a_thousand_steps(prediction: Prediction) -> None:
    costs = report_of(replace(prediction, batch_size=None, profiled_batch_size=None)).facts["costs"]
    assert (costs["what"], costs["steps"]) == ("1,000 steps", 1000)


def test_an_instance_that_nobody_prices_has_no_bar_of_cost(prediction: Prediction) -> None:
    named = [replace(each, target=f"own-{each.target}") for each in prediction.predictions]
    figure = drawn(report_of(replace(prediction, predictions=tuple(named))), "Latency and cost")
    assert len(bars(figure.axes[0])) == 5
    assert len(bars(figure.axes[1])) == 1
    assert [text.get_text() for text in figure.axes[1].texts].count("price unknown") == 4


def test_an_old_price_is_said_to_be_old_under_the_picture(prediction: Prediction) -> None:
    figure = drawn(report_of(prediction), "Latency and cost")
    assert "of 2021: old" in figure.get_supxlabel()


def test_families_are_drawn_on_both_machines_and_sum_to_the_step(prediction: Prediction) -> None:
    report = report_of(prediction)
    for each in prediction.predictions:
        (axes,) = drawn(report, f"Where the time goes: {each.target}").axes
        here, there = np.array([bar.get_width() for bar in bars(axes)]).reshape(2, -1)
        assert there.sum() == pytest.approx(each.latency_ms)
        assert here.sum() == pytest.approx(sum(family.anchor_ms for family in each.card.families))
        assert list(there[:-1]) == sorted(there[:-1], reverse=True)
        assert {bar.get_hatch() for bar in bars(axes)} == {"///", None}


def test_points_are_the_predictions_by_family(report: Report) -> None:
    both, ratio = drawn(report, "Predicted against measured").axes
    facts = report.facts["predictions"]
    families = [facts["workloads"]["family"][place] for place in facts["workload"]]
    for axes in (both, ratio):
        groups = {str(each.get_label()): each for each in axes.collections if isinstance(each, PathCollection)}
        assert set(groups) == set(families)
        for name, points in groups.items():
            here = [number for number, family in enumerate(families) if family == name]
            true_ms = np.array([facts["true_ms"][number] for number in here])
            predicted_ms = np.array([facts["predicted_ms"][number] for number in here])
            expected = predicted_ms if axes is both else predicted_ms / true_ms
            np.testing.assert_allclose(np.asarray(points.get_offsets()), np.column_stack([true_ms, expected]))


def test_band_is_ten_percent_to_both_sides() -> None:
    figure = draw_scatter({"VGG": Compared(np.array([1.0, 100.0]), np.array([1.0, 100.0]))})
    for axes, line in zip(figure.axes, (np.array([1 / 1.3, 130.0]), np.ones(2)), strict=True):
        drawn_lines = [np.asarray(each.get_ydata()) for each in axes.lines]
        np.testing.assert_allclose(drawn_lines, [line, 0.9 * line, 1.1 * line])


def test_boxes_are_quantiles_of_the_errors(report: Report) -> None:
    rows = rows_of(report)
    errors = 100 * (rows["predicted_ms"] / rows["true_ms"] - 1).abs()
    pairs, models = drawn(report, "Error by pair and by model").axes
    for axes, keys in ((pairs, rows["anchor"] + " → " + rows["target"]), (models, rows["model"])):
        parts = [part for _, part in errors.groupby(keys)]
        assert [label.get_text() for label in axes.get_yticklabels()] == sorted(set(keys))
        (lines,) = [each for each in axes.collections if isinstance(each, LineCollection)]
        ends = [segment[:, 0] for segment in lines.get_segments()]
        np.testing.assert_allclose(ends, [part.quantile([0.05, 0.95]) for part in parts])
        boxes = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars(axes)]
        np.testing.assert_allclose(boxes, [part.quantile([0.25, 0.75]) for part in parts])
        medians, means = (np.asarray(line.get_xdata()) for line in axes.lines[:2])
        np.testing.assert_allclose(medians, [part.median() for part in parts])
        np.testing.assert_allclose(means, [part.mean() for part in parts])


def test_dots_are_coverage_and_width_of_the_intervals(report: Report) -> None:
    rows = rows_of(report)
    rows["inside"] = rows["true_ms"].between(rows["low_ms"], rows["high_ms"])
    rows["width"] = (rows["high_ms"] - rows["low_ms"]) / rows["predicted_ms"]
    axes = drawn(report, "Intervals by pair and by model").axes
    for (inside, width), keys in ((axes[:2], rows["target"]), (axes[2:], rows["model"])):
        parts = [part for _, part in rows.groupby(keys)]
        assert dots(inside) == pytest.approx([part["inside"].mean() for part in parts])
        assert dots(width) == pytest.approx([part["width"].median() for part in parts])
        assert 0.8 in [line.get_xdata()[0] for line in inside.lines]  # type: ignore[index]
        low, high = inside.get_xlim()
        assert all(low < dot < high for dot in dots(inside))


def dots(axes: Axes) -> list[float]:
    return [float(x) for line in axes.lines if line.get_marker() == "o" for x in np.asarray(line.get_xdata())]


def test_members_are_drawn_beside_the_whole(report: Report) -> None:
    rows = rows_of(report)
    (axes,) = drawn(report, "Members by pair").axes
    members = report.facts["predictions"]["members_ms"]
    columns = {"all together": rows["predicted_ms"]} | {name: pd.Series(times) for name, times in members.items()}
    assert [line.get_label() for line in axes.lines] == [name for name in columns if columns[name].notna().any()]
    for line in axes.lines:
        expected = 100 * (columns[str(line.get_label())] / rows["true_ms"] - 1).abs().mean()
        assert np.asarray(line.get_xdata())[0] == pytest.approx(expected)


def test_no_two_of_many_things_look_alike() -> None:
    styles = [tuple(series_style(number).values()) for number in range(49)]
    assert len(set(styles)) == 49


def test_no_two_neighbours_share_a_mark() -> None:
    marks = [series_style(number)["marker"] for number in range(7)]
    assert len(set(marks)) == 7


@pytest.mark.parametrize("name", ["$x^{$", "<script>", "a\x1b[2J", "x" * 5000, "多", "\ud800"])
def test_hostile_names_are_drawn_as_text(prediction: Prediction, name: str) -> None:
    renamed = replace(prediction, anchor=name, predictions=(replace(prediction.predictions[0], target=name + "2"),))
    for picture in report_of(renamed).pictures:
        assert inline_svg(picture.draw(), "p", picture.caption).startswith("<svg")
    one = {name: Compared(np.ones(2), np.ones(2))}
    for figure in (draw_scatter(one), draw_errors({name: one}), draw_members({name: {name: 1.0}}, name)):
        assert inline_svg(figure, "p", name).startswith("<svg")
