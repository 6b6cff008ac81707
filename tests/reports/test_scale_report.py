"""The report of a scaler: every figure of its page follows from the facts in it."""

import datetime

import numpy as np
import pytest

from profet.predictors.bundle import Bundle
from profet.predictors.scalers.published import SIZES
from profet.quantities import format_ms
from profet.reports.page import page
from profet.reports.scaler_curve import ScaledCurve, curve_rows
from profet.reports.scaler_picture import draw_curve
from profet.reports.scaler_report import curve_report
from tests.reports.page_reader import Page

TODAY = datetime.date(2026, 2, 3)


def curve(
    axis: str = "batch", at: float = 100, instance: str = "g3s.xlarge", **more: tuple[int, int]
) -> ScaledCurve:
    scaler, warnings = Bundle.load().scaler(instance, axis)
    ends = more.get("ends", (scaler.smallest, scaler.largest))
    return ScaledCurve.through(scaler, instance, at, (10.0, 100.0), ends, warnings)


def latency_ms(facts: dict, size: float) -> float:  # type: ignore[type-arg]
    """The latency from the polynomial in the facts, within or over the range that it was fitted on."""
    low, high = facts["smallest"], facts["largest"]
    if size in {low["size"], high["size"]}:
        return float((low if size == low["size"] else high)["latency_ms"])
    fitted = facts["fitted"]
    first, last = fitted["smallest"], fitted["largest"]
    shares = np.polynomial.Polynomial(fitted["coefficients"])
    rise = high["latency_ms"] - low["latency_ms"]
    if (first, last) == (low["size"], high["size"]):
        share = shares(size)
    elif first <= low["size"] and high["size"] <= last:
        share = (shares(size) - shares(low["size"])) / (shares(high["size"]) - shares(low["size"]))
    else:
        share = shares(first + (size - low["size"]) / (high["size"] - low["size"]) * (last - first))
    return float(np.clip(low["latency_ms"] + share * rise, low["latency_ms"], high["latency_ms"]))


@pytest.mark.parametrize(
    ("axis", "at", "more"),
    [
        ("batch", 100, {}),
        ("pixels", 77.5, {}),
        ("batch", 64, {"ends": (32, 128)}),
        ("pixels", 300, {"ends": (16, 512)}),
        ("batch", 16, {}),
    ],
)
def test_every_figure_of_the_page_follows_from_its_facts(axis: str, at: float, more: dict) -> None:  # type: ignore[type-arg]
    read = Page(page(curve_report(curve(axis, at, **more)), TODAY))
    facts = read.facts
    assert facts["latency_ms"] == pytest.approx(latency_ms(facts, facts["at"]))
    assert all(point["latency_ms"] == pytest.approx(latency_ms(facts, point["size"])) for point in facts["curve"])
    (table,) = read.tables
    low, high = (facts[end]["latency_ms"] for end in ("smallest", "largest"))
    ends = facts["smallest"]["size"], facts["largest"]["size"]
    usual = (size for size in SIZES[axis] if ends[0] <= size <= ends[1])
    assert [float(row[0]) for row in table.rows] == sorted({*ends, *usual, at})
    for size, shown, share, _ in table.rows:
        assert shown == format_ms(latency_ms(facts, float(size)))
        assert share == f"{100 * (latency_ms(facts, float(size)) - low) / (high - low):.1f} %"
    assert format_ms(facts["latency_ms"]) in read.text


def test_the_picture_marks_the_ends_and_the_size_that_was_asked_about() -> None:
    drawn = curve(at=100)
    lines = {
        str(line.get_label()).split(":")[0]: line.get_xydata().tolist() for line in draw_curve(drawn).axes[0].lines
    }
    assert lines["measured"] == [[16, 10], [256, 100]]
    assert lines["asked about"] == [[100, drawn.latency_ms]]
    assert lines["predicted between them"] == [[each["size"], each["latency_ms"]] for each in curve_rows(drawn)]


def test_rows_reach_over_the_whole_range_and_never_fall() -> None:
    rows = curve_rows(curve("pixels", 100))
    assert [rows[0]["size"], rows[-1]["size"]] == [32, 256]
    assert [row["role"] for row in rows if row["role"] != "between"] == ["measured", "asked", "measured"]
    latencies = [row["latency_ms"] for row in rows]
    assert latencies == sorted(latencies)


def test_a_range_of_few_sizes_has_each_of_them_once() -> None:
    sizes = [row["size"] for row in curve_rows(curve(at=18, ends=(17, 20)))]
    assert sizes == [17, 18, 19, 20]


def test_an_instance_of_any_name_is_text() -> None:
    name = "<b>[red]$x^{$\x1b[2J"
    read = Page(page(curve_report(curve(instance=name)), TODAY))
    assert "<b>[red]$x^{$ [2J" in read.text
    assert read.named("b") == []
