"""The report of what was read of a file: every figure of its page follows from the facts in it."""

import datetime

import numpy as np
import pytest

from profet import Profile, example_profile
from profet.profiles.profile import IDLE
from profet.profiles.reading import DeviceTimes, Reading, StepTimes
from profet.quantities import format_ms
from profet.reports.page import page
from profet.reports.reading_picture import draw_devices, draw_reading, draw_steps
from profet.reports.reading_report import reading_report
from tests.reports.page_reader import Page

TODAY = datetime.date(2026, 2, 3)
STEPS = tuple(
    StepTimes(f"{n}", length, length - idle, idle, {"conv_forward": conv, "matmul": length - idle - conv})
    for n, (length, idle, conv) in enumerate([(100e3, 10e3, 50e3), (110e3, 15e3, 55e3), (180e3, 80e3, 52e3)])
)
PROFILE = Profile(
    instance="a.large",
    steps=3,
    device_us={"Conv2D": 157e3 / 3, "MatMul": 128e3 / 3, IDLE: 35e3},
    device_calls={"Conv2D": 53, "MatMul": 2},
    host_us={},
)
DEVICES = (DeviceTimes(0, "Tesla <b>", 90e3, True), DeviceTimes(1, None, 80e3, False))
READING = Reading(PROFILE, STEPS, DEVICES)


@pytest.mark.parametrize("reading", [READING, Reading(example_profile())])
def test_every_figure_of_the_page_follows_from_its_facts(reading: Reading) -> None:
    read = Page(page(reading_report(reading, "trace.json"), TODAY))
    facts = read.facts
    total = sum(each["us"] for each in facts["families"])
    assert facts["device_us"] == pytest.approx(total)
    assert format_ms(total / 1000) in read.tables[0].caption
    steps = facts["per_step"]
    for row, each in zip(read.tables[0].rows, facts["families"], strict=True):
        assert each["share"] == pytest.approx(each["us"] / total)
        assert row[1:3] == [format_ms(each["us"] / 1000), f"{100 * each['us'] / total:.1f} %"]
        if len(steps) > 1:
            times = [
                step["idle_us"] if each["family"] == "idle" else step["families_us"][each["family"]]
                for step in steps
            ]
            spread = np.std(times, ddof=1) / np.mean(times)
            assert each["spread"] == pytest.approx(spread)
            assert row[3] == f"± {100 * spread:.0f} %"
        if any(each["calls"] for each in facts["families"]):
            assert row[-2] == (f"{each['calls']:.4g}" if each["calls"] else "–")


def test_steps_and_gpus_follow_from_the_facts() -> None:
    read = Page(page(reading_report(READING, "trace.json"), TODAY))
    facts, (_, steps, gpus) = read.facts, read.tables
    lengths = [step["length_us"] / 1000 for step in facts["per_step"]]
    middle, low, high = map(format_ms, (float(np.median(lengths)), min(lengths), max(lengths)))
    assert steps.caption == f"3 steps: median {middle} ms, from {low} to {high} ms"
    odd = [
        step["label"] for step in facts["per_step"] if abs(step["length_us"] / 1000 / np.median(lengths) - 1) > 0.25
    ]
    assert facts["odd_steps"] == odd == ["2"]
    for row, step in zip(steps.rows, facts["per_step"], strict=True):
        times = [format_ms(step[part] / 1000) for part in ("length_us", "busy_us", "idle_us")]
        assert row == [step["label"], *times, "unlike the others" if step["label"] in odd else ""]
    for row, each in zip(gpus.rows, facts["devices"], strict=True):
        read_of = "read" if each["chosen"] else ""
        assert row == [str(each["number"]), each["name"] or "–", format_ms(each["busy_us"] / 1000), read_of]
    assert read.named("b") == []


def test_pictures_show_families_steps_and_gpus() -> None:
    families = draw_reading(READING).axes[0]
    lengths = [bar.get_width() for bar in families.patches[: len(READING.families())]]  # type: ignore[attr-defined]
    assert lengths == pytest.approx([each.us / 1000 for each in READING.families()])
    steps = draw_steps(READING).axes[0]
    tops = [bar.get_y() + bar.get_height() for bar in steps.patches[3:]]  # type: ignore[attr-defined]
    assert tops == pytest.approx([100, 110, 180])
    gpus = draw_devices(READING).axes[0]
    assert [bar.get_width() for bar in gpus.patches] == pytest.approx([90, 80])  # type: ignore[attr-defined]
    assert [picture.name for picture in reading_report(READING, "x").pictures] == ["Op families", "Steps", "GPUs"]


def test_rows_are_the_families() -> None:
    rows = reading_report(READING, "x").rows
    assert [row["family"] for row in rows] == [each.family for each in READING.families()]
    assert set(rows[0]) == {"family", "us_per_step", "share", "calls_per_step", "spread"}


def test_what_no_rule_knows_is_warned_of_with_its_share() -> None:
    reading = Reading(Profile(device_us={"Conv2D": 3.0, "</script>zzqx\x1b": 1.0}, host_us={}))
    read = Page(page(reading_report(reading, "x"), TODAY))
    unmapped = sum(read.facts["unmapped"].values())
    assert (
        f"{100 * unmapped / read.facts['device_us']:.3g} % of the step is in operations that no rule knows"
        in read.text
    )
    assert "\x1b" not in read.text


def test_hardware_metrics_alone_make_a_report_without_pictures() -> None:
    report = reading_report(
        Reading(Profile(hardware={"util <i>": 12.5, "none": None}, device_us={}, host_us={})), "x"
    )
    read = Page(page(report, TODAY))
    assert report.pictures == ()
    assert read.tables[0].rows == [["util <i>", f"{read.facts['hardware']['util <i>']:.6g}"], ["none", "–"]]
    assert report.rows == ({"metric": "util <i>", "value": 12.5}, {"metric": "none", "value": None})
