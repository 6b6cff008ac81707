"""The report of advice: every figure of its page follows from the facts in it."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from profet.advice.advice import Advice, Demands
from profet.quantities import format_hours, format_money, format_ms
from profet.reports.advice_report import advice_report
from profet.reports.advice_tables import advice_facts, advice_summary
from profet.reports.advice_words import format_chance
from profet.reports.page import page
from tests.reports.advice_asked import ASKED, BOTH, IMPOSSIBLE, NOTHING, SEVERAL, TODAY
from tests.reports.page_reader import Page


def hours(facts: dict[str, Any], latency_ms: Any, gpus: int) -> Any:
    """Time of the whole run, written down a second time."""
    run = facts["assumptions"]
    steps = run["epochs"] * math.ceil(run["samples"] / (run["batch_size"] * gpus))
    return (
        steps * latency_ms / 3.6e6 * (1 + run["validation_share"])
        + (run["startup_s"] + run["first_epoch_s"]) / 3600
    )


def chances(facts: dict[str, Any], option: dict[str, Any]) -> dict[str, float | None]:
    """Chances, counted from the draws in the facts."""
    found = dict.fromkeys(("p_deadline", "p_budget", "p_meets"))
    if option["draws"] not in facts["draws_ms"]:
        return found
    took = hours(facts, np.array(facts["draws_ms"][option["draws"]]), option["gpus"])
    in_time = took <= (math.inf if facts["deadline_hours"] is None else facts["deadline_hours"])
    price = option["price_per_hour"]
    in_budget = took * (price or 0) <= (math.inf if facts["budget"] is None else facts["budget"])
    return {
        "p_deadline": None if facts["deadline_hours"] is None else in_time.mean(),
        "p_budget": None if facts["budget"] is None or price is None else in_budget.mean(),
        "p_meets": None
        if (facts["deadline_hours"] is None and facts["budget"] is None) or (facts["budget"] and price is None)
        else (in_time & in_budget).mean(),
    }


def trusted(facts: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in facts["options"] if each["basis"] != "extrapolated" or facts["may_extrapolate"]]


@pytest.mark.parametrize("demands", ASKED)
def test_every_figure_in_the_facts_follows_from_others(told: Callable[..., Page], demands: Demands) -> None:
    facts = told(demands).facts
    for option in facts["options"]:
        for end in ("", "_low", "_high"):
            latency, took = option[f"latency{end}_ms"], option[f"hours{end}"]
            assert took == pytest.approx(hours(facts, latency, option["gpus"]))
            if option["price_per_hour"] is not None:
                assert option[f"cost{end}"] == pytest.approx(took * option["price_per_hour"])
        counted = chances(facts, option)
        assert {name: option[name] for name in counted} == pytest.approx(counted)
    costs = [math.inf if each["cost"] is None else each["cost"] for each in facts["options"]]
    assert costs == sorted(costs)


@pytest.mark.parametrize("demands", ASKED)
def test_the_choice_and_its_sureness_follow_from_the_facts(
    advised: Callable[..., Advice], demands: Demands
) -> None:
    facts = Page(page(advice_report(advised(demands), today=TODAY), TODAY)).facts
    priced = [each for each in trusted(facts) if each["cost"] is not None]
    drawn = {
        each["target"]: hours(facts, np.array(facts["draws_ms"][each["draws"]]), each["gpus"])
        * each["price_per_hour"]
        for each in priced
    }
    cheapest = np.array(list(drawn.values())).argmin(axis=0)
    for number, each in enumerate(priced):
        assert each["p_cheapest"] == pytest.approx(float(np.mean(cheapest == number)), abs=0.02)  # ties
        beaten = any(o["cost"] <= each["cost"] and o["hours"] < each["hours"] for o in priced)
        if beaten:
            assert not each["pareto"]
    good = [each for each in priced if each["p_meets"] is None or each["p_meets"] >= facts["confidence"]]
    assert facts["recommended"] == (good[0]["target"] if good else None)
    assert facts["next"] == (good[1]["target"] if len(good) > 1 else None)
    if good:
        assert facts["nearest"] is None
    else:
        nearest = max(priced, key=lambda each: each["p_meets"])
        assert max(each["p_meets"] for each in priced if each["target"] == facts["nearest"]) == nearest["p_meets"]
    if len(good) > 1:
        ours, theirs = drawn[facts["recommended"]], drawn[facts["next"]]
        sure = np.mean(ours < theirs) + np.mean(ours == theirs) / 2
        assert facts["p_cheaper_than_next"] == pytest.approx(sure, abs=1e-3)


@pytest.mark.parametrize("demands", ASKED)
def test_every_cell_of_the_table_is_a_figure_of_the_facts(told: Callable[..., Page], demands: Demands) -> None:
    facts, (table, origins) = told(demands).facts, told(demands).tables
    options = {each["target"]: each for each in facts["options"]}
    assert table.head[0] == "instance"
    for row in table.rows:
        cells = dict(zip(table.head, row, strict=True))
        each = options[cells["instance"]]
        low, high = (format_hours(each[f"hours_{end}"], like=each["hours"]) for end in ("low", "high"))
        assert cells["time"] == f"{format_hours(each['hours'])} ({low.split()[0]}–{high})"
        assert cells["latency is"] == each["basis"]
        if each["cost"] is not None:
            cost, cost_low, cost_high, price = (
                format_money(each[name], "").strip() for name in ("cost", "cost_low", "cost_high", "price_per_hour")
            )
            assert cells["cost, USD"] == f"{cost} ({cost_low}–{cost_high})"
            assert cells["USD/h"] == f"{price} ({(each['price_date'] or '?')[:4]})"
        for column, name in (("in time", "p_deadline"), ("in budget", "p_budget"), ("cheapest", "p_cheapest")):
            if column in cells:
                assert cells[column] == ("–" if each[name] is None else format_chance(each[name]))
    for row, below in zip(table.rows, origins.rows, strict=True):
        each = options[row[0]]
        ms, low_ms, high_ms = (format_ms(each[f"latency{end}_ms"]) for end in ("", "_low", "_high"))
        assert below[:3] == [row[0], f"{ms} ({low_ms}–{high_ms})", each["explanation"]]
        assert below[4] == (each["region"] or "–")
        assert (each["price_date"] or "unknown age" if each["cost"] else "not known") in below[5]
    marked = {cells[-1]: cells[0] for cells in table.rows if cells[-1] in {"take this", "nearest"}}
    roles = {"take this": facts["recommended"], "nearest": facts["nearest"]}
    assert marked == {role: name for role, name in roles.items() if name}


def test_the_summary_says_what_to_take_and_how_sure_that_is(advised: Callable[..., Advice]) -> None:
    said = advice_summary(advised(NOTHING))
    assert said[0].startswith("Take g5.xlarge: ")
    assert "the next, g4dn.xlarge, is over 99 %" in said[1]
    assert said[2].startswith("A faster GPU helps")
    assert "Assumed: 90 epochs of 1,281,167 samples in batches of 16" in said[3]
    (both, *_) = advice_summary(advised(BOTH))
    assert both.startswith("Take g5.xlarge: ")
    assert all(word in both for word in ("in time", "in budget", "both"))


def test_where_none_meets_the_deadline_the_nearest_is_named(advised: Callable[..., Advice]) -> None:
    advice = advised(IMPOSSIBLE)
    assert advice_facts(advice)["recommended"] is None
    (said, *_) = advice_summary(advice)
    assert said.startswith("No instance ends within 1.00 h with a chance of 90 %; the nearest is p3.2xlarge: ")


def test_of_instances_nobody_measured_none_is_recommended_and_why(advised: Callable[..., Advice]) -> None:
    advice = advised(NOTHING)
    guessed = tuple(each for each in advice.options if each.basis == "extrapolated")
    alone = replace(advice, options=guessed, recommended=None, nearest=None, next=None, p_cheaper_than_next=None)
    report = advice_report(alone, today=TODAY)
    assert report.summary[0].startswith("Nobody measured these instances, so none is recommended")
    assert "--extrapolate" in report.summary[0]


def test_options_without_a_price_have_a_report(advised: Callable[..., Advice]) -> None:
    bare = {"price_per_hour": None, "price_date": None, "price_source": None, "region": None}
    costless = {"cost": None, "cost_low": None, "cost_high": None, "pareto": False, "p_cheapest": None}
    advice = advised(NOTHING)
    options = tuple(replace(each, **bare, **costless) for each in advice.options)
    report = advice_report(replace(advice, options=options, p_cheaper_than_next=None), today=TODAY)
    assert [picture.name for picture in report.pictures] == ["Time and cost"]
    read = Page(page(report, TODAY))
    assert "at a price that is not known" in read.text
    assert {cells[-2] for cells in read.tables[0].rows} == {"not known"}


def test_an_instance_of_any_name_is_text(advised: Callable[..., Advice]) -> None:
    name = "<script>[red]$x^{$\x1b[2J"
    advice = advised(NOTHING)
    options = tuple(
        replace(each, target=name, gpu=name) if each.target == "g4dn.xlarge" else each for each in advice.options
    )
    hostile = replace(advice, options=options, recommended=name, warnings=(name,))
    read = Page(page(advice_report(hostile, today=TODAY), TODAY))
    assert read.facts["recommended"] == name
    assert "<script>[red]$x^{$ [2J" in read.text
    assert len(read.named("script")) == 2


def test_the_page_stays_small(advised: Callable[..., Advice]) -> None:
    assert len(page(advice_report(advised(SEVERAL), today=TODAY), TODAY)) < 2_000_000
