"""Tables and pictures show the figures of their results, whatever the names hold."""

import datetime
import io
from pathlib import Path

import msgspec
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from profet import Prediction, Profile, example_profile, predict
from profet.datasets.checks import Finding
from profet.datasets.dataset import Dataset
from profet.errors import OutputError
from profet.evaluation.leave_out import Question, validate
from profet.instances.catalogue import Catalogue
from profet.profiles.reading import Reading
from profet.reports.dataset_tables import dataset_facts, findings_table
from profet.reports.pictures import save_picture
from profet.reports.prediction_picture import draw_prediction
from profet.reports.reading_tables import reading_tables
from profet.reports.step_costs import StepCosts, step_costs
from profet.reports.tables import prediction_table
from profet.reports.validation_tables import validation_facts, validation_tables


def shown(table: Table) -> str:
    console = Console(file=io.StringIO(), width=160, highlight=False)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def costs_of(prediction: Prediction) -> StepCosts:
    return step_costs(prediction, None, Catalogue({}, {}, {}), datetime.date(2026, 2, 3))


def some_picture() -> Figure:
    prediction = predict(example_profile())
    return draw_prediction(prediction, costs_of(prediction))


def test_the_prediction_table_is_sorted_by_latency_and_shows_speed_up() -> None:
    prediction = predict(example_profile())
    lines = [line for line in shown(prediction_table(prediction)).splitlines() if line.startswith("│")]
    assert [line.split()[1] for line in lines] == ["p3.2xlarge", "g5.xlarge", "g4dn.xlarge", "p2.xlarge"]
    assert "g5.xlarge (converted)" in lines[1]
    first = min(prediction.predictions, key=lambda each: each.latency_ms)
    assert prediction.anchor_latency_ms is not None
    assert f"{prediction.anchor_latency_ms / first.latency_ms:.2f}×" in lines[0]


def test_names_with_markup_or_control_characters_are_shown_as_text() -> None:
    profile = Profile(device_us={"[bold]Conv": 2.0, "a\x1b[2Jb": 1.0}, host_us={})
    text = shown(reading_tables(Reading(profile))[0])
    assert "[bold]Conv" in text
    assert "\x1b" not in text


def test_the_picture_has_one_bar_an_instance_as_long_as_its_latency() -> None:
    prediction = predict(example_profile())
    axes = draw_prediction(prediction, costs_of(prediction)).axes[0]
    widths = sorted(patch.get_width() for patch in axes.patches)
    expected = sorted([*(p.latency_ms for p in prediction.predictions), prediction.anchor_latency_ms])
    assert widths == pytest.approx(expected)
    names = [label.get_text() for label in axes.get_yticklabels()]
    converted = "g5.xlarge (converted)"
    assert names == ["p3.2xlarge", converted, "g4dn.xlarge", "g3s.xlarge (measured)", "p2.xlarge"]
    assert len({to_hex(patch.get_facecolor()) for patch in axes.patches}) == 2


def test_a_picture_without_a_measured_latency_has_no_bar_for_the_anchor() -> None:
    profile = msgspec.structs.replace(example_profile(), step_latency_ms=None)
    assert len(draw_prediction(predict(profile), costs_of(predict(profile))).axes[0].patches) == 4


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_pictures_are_what_their_name_says(suffix: str, magic: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"picture{suffix}"
    save_picture(some_picture(), path, force=False)
    assert path.read_bytes().startswith(magic)


def test_a_picture_of_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"must end in \.png, \.svg, \.pdf"):
        save_picture(some_picture(), tmp_path / "picture.jpeg", force=False)


def test_validation_tables_show_the_facts(small_dataset: Dataset) -> None:
    validation = validate(small_dataset, Question("published", anchors=("a.large",), targets=("b.large",)))
    facts = validation_facts(validation)
    rows = validation.rows
    recomputed = 100 * np.mean(np.abs(rows["predicted_ms"] / rows["true_ms"] - 1))
    assert facts["overall"]["mape"] == pytest.approx(recomputed)
    assert facts["overall"]["macro_mape"] == pytest.approx(np.mean([each["mape"] for each in facts["models"]]))
    pairs, models, members = map(shown, validation_tables(validation))
    assert f"{facts['overall']['mape']:.2f} %" in pairs
    assert all(each["model"] in models and f"{each['mape']:.2f} %" in models for each in facts["models"])
    assert all(f"{error:.2f} %" in members for error in facts["members"].values())


def test_facts_of_a_data_set_add_up(small_dataset: Dataset) -> None:
    facts = dataset_facts(small_dataset)
    assert facts["runs"] == sum(part["runs"] for part in facts["instances"]) == len(small_dataset)
    assert facts["profiles"] == sum(part["profiles"] for part in facts["instances"])
    assert facts["workloads"] == sum(part["workloads"] for part in facts["models"]) == 100


def test_only_the_first_findings_of_a_kind_are_shown_and_their_number_is() -> None:
    findings = [Finding("hole", f"place {number}", "what", "advice") for number in range(12)]
    tables = findings_table(findings)
    assert len(tables) == 1
    text = shown(tables[0])
    assert "hole: 12" in text
    assert "place 9" in text
    assert "place 10" not in text
