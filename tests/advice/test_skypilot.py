"""The hand-over to SkyPilot: a task that its loader takes, and the times that its optimizer asks for.

SkyPilot is not installed here. What its version allows of a task (profet.advice.skypilot.CHECKED_VERSION), as far
as we use it, stands below as types that forbid all else.
"""

import ast
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from profet.advice.advice import Advice, Demands, Option
from profet.advice.faster_gpu import FasterGpu
from profet.advice.skypilot import MOST_MACHINES, check_skypilot, machines, task_yaml, write_skypilot
from profet.errors import InputError, OutputError
from tests.advice.options_made_up import RUN, option


class Resources(msgspec.Struct, forbid_unknown_fields=True):
    """What SkyPilot's format allows of one machine, of what we use."""

    infra: str
    instance_type: str
    use_spot: bool
    accelerators: str | None = None


class Ordered(msgspec.Struct, forbid_unknown_fields=True):
    ordered: list[Resources]


class Task(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    resources: Ordered
    envs: dict[str, str]


def advice(options: list[Option], recommended: str | None, **demands: Any) -> Advice:
    faster = FasterGpu("yes", 1.0, 0.0, 0.0, 1.0, None, "")
    asked = Demands(**demands)
    return Advice("a", None, "blend", RUN, asked, tuple(options), recommended, None, None, None, faster, {}, ())


def on(provider: str, name: str, hours: float, price: float | None = 1.0, **more: Any) -> Option:
    return option(name, hours, price, provider=provider, **more)


CLOUD = [
    on("aws", "g4dn.xlarge", 2.0, hours_low=1.5, hours_high=3.0, cost_low=1.5, cost_high=3.0),
    on("gcp", "n1-highmem-4+1xT4", 3.0),
    on("azure", "NC4as T4 v3", 4.0),
    on("lambda", "gpu_1x_a10", 5.0),
]


def written(told: Advice, folder: Path) -> tuple[Task, ModuleType, str]:
    """Both files as their readers see them, and the text of the task."""
    task, launcher = write_skypilot(told, folder)
    text = task.read_text(encoding="utf-8")
    found = msgspec.convert(yaml.safe_load(text), Task)
    spec = importlib.util.spec_from_file_location("launcher", launcher)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["sky"] = ModuleType("sky")  # the file imports it first; only what runs without it is called here
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["sky"]
    return found, module, text


def test_task_names_machines_as_skypilot_does_the_recommended_first(tmp_path: Path) -> None:
    task, _, text = written(advice(CLOUD, "n1-highmem-4+1xT4", spot=True), tmp_path)
    assert task.resources.ordered == [
        Resources("gcp", "n1-highmem-4", True, "T4:1"),
        Resources("aws", "g4dn.xlarge", True),
        Resources("azure", "Standard_NC4as_T4_v3", True),
        Resources("lambda", "gpu_1x_a10", True),
    ]
    assert task.envs == {"EPOCHS": "100", "BATCH_SIZE": "1"}
    assert "#   g4dn.xlarge: 2.00 h (90 %: 1.50 h to 3.00 h), 2.00 USD (90 %: 1.50 USD to 3.00 USD)" in text


def test_region_that_was_asked_for_is_that_of_the_task(tmp_path: Path) -> None:
    task, _, _ = written(advice(CLOUD[:1], "g4dn.xlarge", region="eu-west-1"), tmp_path)
    assert [each.infra for each in task.resources.ordered] == ["aws/eu-west-1"]


def test_optimizer_is_told_the_seconds_of_each_machine(tmp_path: Path) -> None:
    _, launcher, _ = written(advice(CLOUD, "g4dn.xlarge"), tmp_path)
    asked = [
        SimpleNamespace(instance_type="g4dn.xlarge", accelerators={"T4": 1}),
        SimpleNamespace(instance_type="n1-highmem-4", accelerators={"T4": 1}),
        SimpleNamespace(instance_type="Standard_NC4as_T4_v3", accelerators=None),
        SimpleNamespace(instance_type="gpu_1x_a10", accelerators={"A10": 1}),
    ]
    assert [launcher.seconds(each) for each in asked] == [7200, 10800, 14400, 18000]
    assert launcher.TASK.read_text(encoding="utf-8") == (tmp_path / "profet_task.yaml").read_text(encoding="utf-8")
    for stranger in ("g5.xlarge", "n1-highmem-4"):
        with pytest.raises(ValueError, match="no time is known"):
            launcher.seconds(SimpleNamespace(instance_type=stranger, accelerators={"V100": 1}))


def test_only_machines_that_do_as_well_are_handed_over() -> None:
    unsure = on("aws", "p3.2xlarge", 1.0, p_meets=0.5)
    sure = on("aws", "g4dn.xlarge", 2.0, p_meets=0.95)
    guessed = on("aws", "g6.xlarge", 2.0, p_meets=0.95, basis="extrapolated")
    unpriced = on("aws", "g5.xlarge", 2.0, None, p_meets=0.95)
    own = on("my cellar", "box", 2.0, p_meets=0.95)
    told = advice([unsure, sure, guessed, unpriced, own], "g4dn.xlarge", deadline_hours=3.0)
    assert [each.instance_type for each in machines(told)] == ["g4dn.xlarge"]
    many = [on("aws", f"t{number}", 1.0) for number in range(50)]
    assert len(machines(advice(many, "t7"))) == MOST_MACHINES


def test_nothing_is_handed_over_where_nothing_meets_the_demands(tmp_path: Path) -> None:
    assert write_skypilot(advice(CLOUD, None, deadline_hours=0.1), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_provider_that_skypilot_does_not_know_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"my cellar.*none that SkyPilot knows"):
        write_skypilot(advice([on("my cellar", "box", 1.0), *CLOUD], "box"), tmp_path)
    assert list(tmp_path.iterdir()) == []


@given(st.text(min_size=1), st.text())
def test_names_cannot_break_out_of_the_task(name: str, region: str) -> None:
    told = advice([on("aws", name, 1.0)], name, region=region or None)
    task = msgspec.convert(yaml.safe_load(task_yaml(told, machines(told), name)), Task)
    (found,) = task.resources.ordered
    assert found.infra.startswith("aws")
    if all(ord(character) < 0x10000 for character in name):
        assert found.instance_type == name


def test_names_cannot_break_out_of_the_launcher(tmp_path: Path) -> None:
    name = "@TASK@ '@ROWS@\\"
    place = tmp_path / "@ROWS@'.yaml"
    write_skypilot(advice([on("aws", name, 1.0)], name), place)
    launcher = place.with_name("@ROWS@'_launch.py").read_text(encoding="utf-8")
    tree = ast.parse(launcher)
    told = {each.value for each in ast.walk(tree) if isinstance(each, ast.Constant)}
    assert {name, place.name} <= told


def test_files_lie_where_they_are_asked_for_and_are_not_overwritten(tmp_path: Path) -> None:
    told = advice(CLOUD, "g4dn.xlarge")
    assert write_skypilot(told, tmp_path / "mine.yaml") == [tmp_path / "mine.yaml", tmp_path / "mine_launch.py"]
    with pytest.raises(OutputError, match="--force"):
        check_skypilot(tmp_path / "mine.yaml", force=False)
    changed = replace(told, options=tuple(CLOUD[:1]))
    write_skypilot(changed, tmp_path / "mine.yaml", force=True)
    assert "n1-highmem-4" not in (tmp_path / "mine_launch.py").read_text(encoding="utf-8")
    for place in (tmp_path / "missing", tmp_path / "task.txt"):
        with pytest.raises(OutputError, match="folder"):
            check_skypilot(place, force=False)
