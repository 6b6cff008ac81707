"""``profet predict --report``: every figure of the page follows from the facts that it holds."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

from profet.quantities import format_money, format_ms
from tests.conftest import Run, document, refused
from tests.reports.page_reader import Page

MS_PER_HOUR = 3_600_000
PRICES = {"g3s.xlarge", "g4dn.xlarge", "g5.xlarge", "p2.xlarge", "p3.2xlarge"}


@pytest.fixture(scope="module")
def page(profet: Run, example_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("report") / "p.html"
    told = profet("predict", example_path, "--report", path, env=own_data(path.parent))
    assert told.returncode == 0, told.stderr
    assert f"report saved as {path}" in told.stdout
    return Page(path.read_text(encoding="utf-8"))


def own_data(folder: Path) -> dict[str, str]:

    return {**os.environ, "PROFET_DATA_DIR": str(folder / "data")}


def by_latency(facts: Any) -> list[Any]:
    return sorted(facts["predictions"], key=lambda each: each["latency_ms"])


def test_every_figure_of_the_latency_table_follows_from_the_facts(page: Page) -> None:
    facts = page.facts
    measured = f"{format_ms(facts['anchor_latency_ms'])} ms measured there"
    table = page.table(f"Training step predicted from g3s.xlarge ({measured})")
    assert table.rows == [
        [
            each["target"] + ("" if each["basis"] == "learnt" else f" ({each['basis']})"),
            f"{format_ms(each['latency_ms'])} ms",
            f"{format_ms(each['low_ms'])} – {format_ms(each['high_ms'])} ms",
            f"{facts['anchor_latency_ms'] / each['latency_ms']:.2f}×",
            f"{each['card']['model_left_out']['mape']:.1f} %",
        ]
        for each in by_latency(facts)
    ]


def test_every_cost_is_latency_times_steps_times_price(page: Page) -> None:
    facts = page.facts
    steps = facts["costs"]["steps"]
    assert steps == 1_000_000 / 16
    latencies = {each["target"]: each for each in facts["predictions"]}
    costs = {each["instance"]: each for each in facts["costs"]["instances"]}
    assert set(costs) == {facts["anchor"], *latencies} == PRICES
    for name, each in costs.items():
        predicted = latencies.get(name, {"latency_ms": facts["anchor_latency_ms"], "low_ms": None, "high_ms": None})
        for end, cost in (("latency_ms", "cost"), ("low_ms", "cost_low"), ("high_ms", "cost_high")):
            assert each[end] == predicted[end]
            if each[end] is None:
                assert each[cost] is None
            else:
                assert each[cost] == pytest.approx(each[end] * steps / MS_PER_HOUR * each["price_per_hour"])


def test_every_figure_of_the_cost_table_follows_from_the_facts(page: Page) -> None:
    def money(row: Any, name: str) -> str:
        return "–" if row[name] is None else format_money(row[name], row["currency"])

    costs = page.facts["costs"]
    assert page.table(f"Cost of {costs['what']}, on demand").rows == [
        [
            f"{row['instance']} (measured)" if row["measured"] else row["instance"],
            f"{format_ms(row['latency_ms'])} ms",
            *(money(row, name) for name in ("price_per_hour", "cost", "cost_low", "cost_high")),
            row["price_note"] or row["price_date"],
            row["region"] or "–",
        ]
        for row in sorted(costs["instances"], key=lambda each: each["cost"])
    ]


def test_every_figure_of_where_the_time_goes_follows_from_the_facts(page: Page) -> None:
    tables = [table for table in page.tables if table.caption == "Where the time goes, ms a step"]
    for table, each in zip(tables, by_latency(page.facts), strict=True):
        families = each["card"]["families"]
        assert sum(family["target_ms"] for family in families) == pytest.approx(each["latency_ms"])
        large = [family for family in families if family["target_ms"] >= 0.01 * each["latency_ms"]]
        rest = families[len(large) :]
        expected = [
            [
                "gap (device waits)" if family["family"] == "gap" else family["family"].replace("_", " "),
                format_ms(family["anchor_ms"]),
                format_ms(family["target_ms"]),
                f"{family['anchor_ms'] / family['target_ms']:.2f}×" if family["anchor_ms"] else "–",
            ]
            for family in large
        ]
        sums = [format_ms(sum(family[name] for family in rest)) for name in ("anchor_ms", "target_ms")]
        assert table.rows == [*expected, [f"{len(rest)} more", *sums, ""]]


def test_every_figure_of_what_a_prediction_rests_on_follows_from_the_facts(page: Page) -> None:
    for each in page.facts["predictions"]:
        card = each["card"]
        rows = dict(page.table(f"{page.facts['anchor']} → {each['target']}").rows)
        assert rows["error on models left out"] == f"{card['model_left_out']['mape']:.1f} %"
        of_families = card["family_left_out"]
        told = "not measured" if of_families is None else f"{of_families['mape']:.1f} %"
        assert rows["error on model families left out"] == told
        assert (of_families is None) == (each["basis"] != "learnt")
        members = {name: text for name, text in rows.items() if name.startswith("member ")}
        assert members == {f"member {name}": f"{format_ms(ms)} ms" for name, ms in card["members_ms"].items()}


def test_sentences_answer_first_with_figures_of_the_facts(page: Page) -> None:
    facts = page.facts
    fastest = by_latency(facts)[0]
    cheapest = min(facts["costs"]["instances"], key=lambda each: each["cost"])
    latency, cost = facts["summary"]
    assert fastest["target"] in latency
    assert f"{format_ms(fastest['latency_ms'])} ms" in latency
    assert cheapest["instance"] in cost
    assert format_money(cheapest["cost"], "USD") in cost
    assert {latency, cost} <= set(page.texts)


def test_an_old_price_is_said_to_be_old_beside_its_figures(page: Page) -> None:
    notes = {each["instance"]: each["price_note"] for each in page.facts["costs"]["instances"]}
    assert notes["g3s.xlarge"] == "of 2021: old"
    assert "of 2021: old" in page.text


def test_page_says_how_it_was_made_without_folders(page: Page) -> None:
    made = page.facts["made"]
    assert made["command"] == "profet predict profile.json --report p.html"
    assert made["from"]["profile"].startswith("profile.json, batch size 16, 224 px")
    assert "data set " in made["from"]["learnt from"]
    assert f"Profet {made['profet']}, on {made['date']}" in page.texts


def test_page_shows_latency_and_cost_and_every_target(page: Page) -> None:
    labels = [each["aria-label"] for each in page.named("svg")]
    assert labels[0] is not None
    assert labels[0].startswith("Latency and cost: ")
    assert [each.split(":")[1].strip() for each in labels[1:] if each] == [
        e["target"] for e in by_latency(page.facts)
    ]


def test_json_of_the_command_stays_what_it_was(profet: Run, example_path: Path, tmp_path: Path) -> None:
    plain = document(profet("predict", example_path, "--json"))
    beside = document(profet("predict", example_path, "--json", "--report", tmp_path / "r.json"))
    assert plain == beside
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert {name: report[name] for name in plain} == plain


def test_csv_has_one_row_an_instance(profet: Run, example_path: Path, tmp_path: Path) -> None:
    told = document(profet("predict", example_path, "--json", "--report", tmp_path / "r.csv"))
    rows = list(csv.DictReader((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["instance"] for row in rows} == PRICES
    latencies = {row["instance"]: float(row["latency_ms"]) for row in rows if row["measured"] == "False"}
    assert latencies == {each["target"]: each["latency_ms"] for each in told["predictions"]}


def test_instances_without_a_price_are_told_so(profet: Run, trained: Path, tmp_path: Path) -> None:
    profile = {
        "schema": "profet/profile/1",
        "instance": "a.large",
        "step_latency_ms": 40.0,
        "host_us": {"IDLE": 900.0},
        "device_us": {"Conv2D": 27300.0, "MatMul": 11700.0, "IDLE": 1000.0},
    }
    path = tmp_path / "r.html"
    told = profet(
        "predict", "-", "--bundle", trained, "--report", path, stdin=json.dumps(profile), env=own_data(tmp_path)
    )
    assert told.returncode == 0, told.stderr
    page = Page(path.read_text(encoding="utf-8"))
    assert all(each["cost"] is None for each in page.facts["costs"]["instances"])
    assert page.facts["costs"]["what"] == "1,000 steps"
    assert [row[2:] for row in page.table("Cost of 1,000 steps, on demand").rows] == [["–"] * 6] * 3
    assert len(page.facts["summary"]) == 1
    assert "standard input" in page.facts["made"]["from"]["profile"]


@pytest.mark.parametrize("name", ["r.txt", "r", "missing/r.html"])
def test_report_that_cannot_be_saved_is_refused(
    profet: Run, example_path: Path, empty_folder: Path, name: str
) -> None:
    refused(profet("predict", example_path, "--report", name, cwd=empty_folder), name)
    assert list(empty_folder.iterdir()) == []


def test_report_replaces_another_only_when_forced(profet: Run, example_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "r.html"
    path.write_text("mine", encoding="utf-8")
    refused(profet("predict", example_path, "--report", path), str(path), "--force")
    assert path.read_text(encoding="utf-8") == "mine"
    assert profet("predict", example_path, "--report", path, "--force").returncode == 0
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_report_never_replaces_its_profile(profet: Run, example_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_bytes(example_path.read_bytes())
    refused(profet("predict", path, "--report", path, "--force"), "is the input")
    assert path.read_bytes() == example_path.read_bytes()
