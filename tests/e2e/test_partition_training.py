"""`profet partition training-batches`: whole commands on tables as a user's script writes them."""

import json
from pathlib import Path

import pytest

from tests.conftest import Run, document, refused
from tests.partition.made_up import table, unit
from tests.reports.page_reader import Page

CSV = """rank,batch,step_latency_ms,largest_batch
v100,16,30,256
v100,64,80,
v100,64,84,
v100,64,82,
v100,128,150,
v100,256,290,
t4,16,60,128
t4,64,210,
t4,128,410,
"""


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    path = tmp_path / "steps.csv"
    path.write_text(CSV)
    return path


def test_a_script_s_table_gives_batches_weights_and_the_gain(profet: Run, measured: Path) -> None:
    asked = ("partition", "training-batches", "--table", measured, "--global-batch", "256")
    told = document(profet(*asked, "--json"))
    assert told["batches"] == [190, 66]
    assert [each["weight"] for each in told["ranks"]] == [190 / 256, 66 / 256]
    assert told["equal_ms"] == 410.0
    assert told["gain"] == pytest.approx(1 - told["step_ms"] / 410.0)
    assert told["pays"] is True
    shown = profet(*asked).stdout
    assert "190" in shown
    assert "Use unequal batches" in shown


def test_tables_of_several_machines_are_put_together(profet: Run, measured: Path, tmp_path: Path) -> None:
    table(unit("cpu", {1: 100.0, 8: 700.0}, 8)).save(tmp_path / "other.json")
    asked = ("partition", "training-batches", "--table", measured, "--table", tmp_path / "other.json")
    told = document(profet(*asked, "--global-batch", "256", "--json"))
    assert [each["rank"] for each in told["ranks"]] == ["v100", "t4", "cpu"]
    fewer = document(profet(*asked, "--rank", "t4,cpu", "--global-batch", "60", "--json"))
    assert [each["rank"] for each in fewer["ranks"]] == ["t4", "cpu"]


def test_curves_are_predicted_from_one_profile_a_rank(profet: Run, example_path: Path) -> None:
    asked = ("partition", "training-batches", "--profile", f"v100@p3.2xlarge={example_path}")
    asked = (*asked, "--profile", f"m60={example_path}", "--global-batch", "128", "--json")
    told = document(profet(*asked))
    ranks = {each["rank"]: each for each in told["ranks"]}
    assert ranks["v100"]["batch"] > ranks["m60"]["batch"] > 0
    for name, target in (("v100", "p3.2xlarge"), ("m60", "g3s.xlarge")):
        alone = document(profet("predict", example_path, "--target", target, "--batch-size", "64", "--json"))
        assert ranks[name]["equal_ms"] == pytest.approx(alone["predictions"][0]["latency_ms"])
    assert any("no memory limit is known" in each for each in told["warnings"])


def test_a_profile_that_says_too_little_is_refused(profet: Run, example_path: Path, tmp_path: Path) -> None:
    asked = ("partition", "training-batches", "--global-batch", "64")
    refused(profet(*asked), "give --table")
    refused(profet(*asked, "--profile", example_path), "write it as RANK=FILE")
    refused(profet(*asked, "--profile", f"a@={example_path}"), "write it as RANK=FILE")
    profile = json.loads(example_path.read_text())
    for missing in ("instance", "batch_size"):
        path = tmp_path / f"{missing}.json"
        path.write_text(json.dumps({**profile, missing: None}))
        refused(profet(*asked, "--profile", f"a={path}"), f"does not say its {missing}")


def test_a_gain_that_is_not_worth_it_is_said_to_be_none(profet: Run, measured: Path) -> None:
    asked = ("partition", "training-batches", "--table", measured, "--global-batch", "256")
    assert "Do not bother" in profet(*asked, "--synchronisation", "100ms").stdout
    assert "Do not split" in profet(*asked[:-1], "20").stdout


def test_the_report_holds_the_plan_and_what_it_was_made_from(profet: Run, measured: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    asked = ("partition", "training-batches", "--table", measured, "--global-batch", "256")
    assert profet(*asked, "--report", page).returncode == 0
    facts = Page(page.read_text()).facts
    assert facts["batches"] == [190, 66]
    points = {each["rank"]: each["points"] for each in facts["measured"]}
    assert points["v100"][1] == {"batch": 64, "step_latency_ms": 82.0}  # the median of three


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("rank,batch,latency\na,1,2\n", "column 'step_latency_ms' is missing"),
        ("rank,batch,batch,step_latency_ms\na,1,1,2\n", "column 'batch' stands there twice"),
        ("rank,batch,step_latency_ms\n", "no row"),
        ("rank,batch,step_latency_ms\na,0,2\n", "line 2: batch is '0'"),
        ("rank,batch,step_latency_ms\na,1.5,2\n", "line 2: batch is '1.5'"),
        ("rank,batch,step_latency_ms\na,1,nan\n", "line 2: step_latency_ms is 'nan'"),
        ("rank,batch,step_latency_ms\na,1,-3\n", "line 2: step_latency_ms is '-3'"),
        ("rank,batch,step_latency_ms\n,1,3\n", "line 2: no rank"),
        ('rank,batch,step_latency_ms\n"a,1,3\n', "not CSV"),
    ],
)
def test_a_table_that_is_none_is_refused_with_the_line(profet: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    result = profet("partition", "training-batches", "--table", path, "--global-batch", "4")
    refused(result, words)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--global-batch", "1"), "--global-batch: 1 is not between 2"),
        (("--global-batch", "500"), "more than the ranks hold (384 in all)"),
        (("--global-batch", "64", "--rank", "v10"), "nearest: v100"),
        (("--global-batch", "64", "--largest-batch", "v100"), "write it as RANK=N"),
        (("--global-batch", "64", "--largest-batch", "a100=8"), "no unit called 'a100'"),
        (("--global-batch", "64", "--synchronisation", "-5ms"), "--synchronisation"),
    ],
)
def test_questions_that_cannot_be_answered_are_refused(
    profet: Run, measured: Path, more: tuple[str, ...], words: str
) -> None:
    refused(profet("partition", "training-batches", "--table", measured, *more), words)
