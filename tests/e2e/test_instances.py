"""`profet instances list|show|add|remove|import`: whole commands, each with a data folder of its own."""

import datetime
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused
from tests.instances.conftest import quoted  # noqa: F401 (a fixture)

Instances = Callable[..., subprocess.CompletedProcess[str]]
TODAY = datetime.date.today().isoformat()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Where the user's own instances are kept in these tests."""
    return tmp_path / "data" / "instances.json"


@pytest.fixture
def instances(profet: Run, own: Path) -> Instances:
    """Run `profet instances` with a data folder of its own."""
    environment = {**os.environ, "PROFET_DATA_DIR": str(own.parent)}
    return lambda *arguments, **options: profet("instances", *arguments, env=environment, **options)


def listed(instances: Instances, *arguments: object) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in document(instances("list", *arguments, "--json"))["instances"]}


def test_list_tells_gpus_memory_rates_and_prices(instances: Instances) -> None:
    found = listed(instances)
    t4 = found["g4dn.12xlarge"]
    assert (t4["provider"], t4["gpu"], t4["gpu_count"], t4["gpu_memory_gib"]) == ("aws", "T4", 4.0, 16.0)
    assert (t4["gpu_memory_total_gib"], t4["vcpus"], t4["memory_gib"]) == (64.0, 48.0, 192.0)
    assert (t4["fp32_tflops"], t4["bandwidth_gb_s"]) == (8.141, 320.0)
    assert t4["on_demand"]["per_hour"] == 3.912
    assert (t4["spot"]["per_hour"], t4["spot"]["region"]) == (1.4134, "us-east-1")
    assert found["p2.xlarge"]["on_demand"]["age"] == "of 2021: old"
    assert found["g5.xlarge"]["on_demand"]["age"] == "of unknown age"


def test_list_as_a_table_shows_the_same_and_warns_of_old_prices(instances: Instances) -> None:
    told = instances("list", "--gpu", "K80")
    assert told.returncode == 0
    [line] = [line for line in told.stdout.splitlines() if "p2.xlarge" in line]
    assert "0.9 USD" in line
    assert "of 2021: old" in line
    assert "old or of unknown age" in told.stderr


def test_list_can_be_narrowed(instances: Instances) -> None:
    assert {each["gpu"] for each in listed(instances, "--gpu", "nvidia t4").values()} == {"T4"}
    assert {each["provider"] for each in listed(instances, "--provider", "azure").values()} == {"azure"}
    there = listed(instances, "--region", "us-east-1")
    assert {each["provider"] for each in there.values()} == {"aws", "lambda"}
    assert there["p4d.24xlarge"]["on_demand"]["per_hour"] == 21.957642
    assert "no instance" in instances("list", "--gpu", "K80", "--provider", "azure").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("list", "--gpu", "T44"), ("--gpu", "T4")),
        (("list", "--provider", "awz"), ("--provider", "nearest: aws")),
        (("list", "--region", "us-east-9"), ("no instance has a price there", "nearest: us-east-1")),
        (("show", "g4dn.xlarg"), ("not in the catalogue", "nearest: g4dn.xlarge")),
        (("remove", "g4dn.xlarge"), ("not among your own", "ships with Profet")),
    ],
)
def test_a_name_that_is_unknown_is_met_with_the_nearest(
    instances: Instances, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(instances(*arguments), *words)


def test_show_tells_every_price_with_its_age_and_who_states_what(instances: Instances) -> None:
    facts = document(instances("show", "g4dn.xlarge", "--json"))
    assert {price["source"]: price["age"] for price in facts["prices"]} == {
        "skypilot-aws": "of unknown age",
        "deepview": "of 2024-12-05: old",
        "profet-demo": "of 2021: old",
    }
    assert facts["gpu_specs"]["source"] == "neusight"
    assert {source["name"] for source in facts["sources"]} >= {
        "neusight",
        "deepview",
        "profet-demo",
        "ec2instances",
    }
    told = instances("show", "p3.2xlarge").stdout
    assert "Tesla V100-PCIE-32GB" in told
    assert "CentML/DeepView.Explore" in told


def test_a_machine_of_ones_own_is_added_shown_and_removed(instances: Instances, own: Path) -> None:
    options = ("--gpu", "t4", "--gpus", "2", "--vcpus", "16", "--memory", "64GiB", "--price", "0.4EUR")
    added = document(instances("add", "box", *options, "--spot-price", "0.1EUR", "--json"))
    assert added == {"output": str(own), "name": "box", "replaced": False, "warnings": []}
    box = listed(instances)["box"]
    assert (box["provider"], box["own"], box["gpu"], box["gpu_count"]) == ("own", True, "T4", 2.0)
    assert (box["vcpus"], box["memory_gib"], box["fp32_tflops"]) == (16.0, 64.0, 8.141)
    assert box["on_demand"] == {
        "per_hour": 0.4,
        "currency": "EUR",
        "region": None,
        "date": TODAY,
        "age": None,
        "source": "own",
    }
    assert listed(instances, "--region", "us-east-1")["box"]["spot"]["per_hour"] == 0.1
    assert instances("remove", "box").returncode == 0
    assert "box" not in listed(instances)


def test_a_taken_name_needs_force_and_then_wins(instances: Instances) -> None:
    refused(instances("add", "g4dn.xlarge", "--gpu", "T4", "--price", "0.1"), "ships with Profet", "--force")
    assert instances("add", "g4dn.xlarge", "--gpu", "T4", "--price", "0.1", "--force").returncode == 0
    assert listed(instances)["g4dn.xlarge"]["on_demand"]["per_hour"] == 0.1
    refused(instances("add", "g4dn.xlarge", "--gpu", "T4"), "already among your own", "--force")
    assert document(instances("add", "g4dn.xlarge", "--gpu", "L4", "--force", "--json"))["replaced"] is True
    assert instances("remove", "g4dn.xlarge").returncode == 0
    assert listed(instances)["g4dn.xlarge"]["on_demand"]["per_hour"] == 0.526


def test_todays_price_of_a_known_machine_takes_the_place_of_its_prices(
    instances: Instances, tmp_path: Path
) -> None:
    refused(instances("add", "g4dn.xlarge", "--price", "0.7"), "ships with Profet", "--force")
    assert instances("add", "g4dn.xlarge", "--price", "0.7", "--force").returncode == 0
    found = listed(instances)["g4dn.xlarge"]
    assert (found["provider"], found["gpu"], found["vcpus"]) == ("aws", "T4", 4.0)
    assert (found["on_demand"]["per_hour"], found["on_demand"]["age"], found["spot"]) == (0.7, None, None)
    assert instances("add", "g4dn.xlarge", "--vcpus", "8", "--force").returncode == 0
    again = listed(instances)["g4dn.xlarge"]
    assert (again["vcpus"], again["on_demand"]["per_hour"]) == (8.0, 0.7)
    sheet = tmp_path / "aws.csv"
    sheet.write_text(CSV + "g4dn.xlarge,T4,1,us,0.1\n")
    told = document(instances("import", "skypilot", sheet, "--json"))
    assert "typed in" in told["left_out"][0]["reason"]
    refused(instances("add", "g4dn.xlarg", "--price", "0.7"), "nearest: g4dn.xlarge", "--gpu")


def test_an_unknown_gpu_is_taken_with_its_specs_and_told_without(instances: Instances) -> None:
    warned = document(instances("add", "one", "--gpu", "RTX 4090", "--json"))["warnings"]
    assert "RTX 4090 is not known" in warned[0]
    specs = ("--fp32-tflops", "80", "--bandwidth-gb-s", "1000")
    assert document(instances("add", "two", "--gpu", "RTX 4090", *specs, "--json"))["warnings"] == []
    found = listed(instances)
    assert (found["one"]["fp32_tflops"], found["two"]["bandwidth_gb_s"]) == (80.0, 1000.0)
    assert "typed in" in instances("show", "two").stdout
    refused(instances("add", "three", "--gpu", "T4", "--fp32-tflops", "9"), "8.141 is known of T4", "neusight")
    assert instances("add", "four", "--gpu", "A10G", *specs).returncode == 0
    assert listed(instances)["g5.xlarge"]["fp32_tflops"] == 80.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--price", "0"), ("--price", "zero", "power", "share of what it cost")),
        (("--spot-price", "0.00USD"), ("--spot-price", "zero")),
        (("--price", "-1"), ("--price",)),
        (("--price", "nan"), ("--price",)),
        (("--price", "inf"), ("--price",)),
        (("--price", f"0.{'0' * 320}1"), ("--price", "above zero")),
        (("--gpus", "1e-300"), ("gpu_count", "above zero")),
        (("--region", "us-east-1"), ("--region", "give --price")),
        (("--date", "2024"), ("--date", "give --price")),
        (("--price", "1XYZ"), ("--price", "currency", "XYZ", "EUR")),
        (("--price", "1EUR", "--spot-price", "1USD"), ("one currency",)),
        (("--gpus", "0"), ("--gpus", "above zero")),
        (("--gpus", "nan"), ("--gpus", "above zero")),
        (("--memory", "much"), ("--memory", "16GiB")),
        (("--memory", "0GiB"), ("--memory", "16GiB")),
        (("--date", "2999"), ("--date", "still to come")),
        (("--date", "soon"), ("--date", "2024-12-05")),
        (("--region", "a\nb", "--price", "1"), ("region", "printable")),
        (("--provider", ""), ("provider",)),
        (("--catalogue", "-"), ("-", "name it")),
    ],
)
def test_a_machine_that_cannot_be_is_refused_and_nothing_is_written(
    instances: Instances, own: Path, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    refused(instances("add", "box", "--gpu", "T4", *options), *words)
    assert not own.exists()


def test_skypilots_catalogue_is_imported_and_brought_up_to_date(
    instances: Instances,
    own: Path,
    quoted: Path,  # noqa: F811
) -> None:
    told = document(instances("import", "skypilot", quoted / "skypilot_aws.csv", "--json"))
    assert (told["provider"], told["records"], len(told["added"]), told["replaced"]) == ("aws", 15, 15, [])
    assert any("unknown age" in warning for warning in told["warnings"])
    again = document(instances("import", "skypilot", quoted / "skypilot_aws.csv", "--date", "2026-11-20", "--json"))
    assert (again["added"], len(again["replaced"])) == ([], 15)
    h100 = listed(instances, "--region", "us-east-1")["p5.48xlarge"]
    assert (h100["own"], h100["on_demand"]["per_hour"], h100["on_demand"]["date"]) == (True, 55.04, "2026-11-20")
    assert len(json.loads(own.read_text())["sources"]) == 1
    nothing = refused(instances("import", "skypilot", quoted / "skypilot_gcp.csv"), "no machine with a GPU")
    assert "18 rows without InstanceType" in nothing


CSV = "InstanceType,AcceleratorName,AcceleratorCount,Region,Price\n"


def test_import_keeps_other_regions_and_what_the_user_typed_in(instances: Instances, tmp_path: Path) -> None:
    first, second = tmp_path / "aws.csv", tmp_path / "second.csv"
    first.write_text(CSV + "a,T4,1,eu,1\na,T4,1,us,2\n")
    second.write_text(CSV + "a,T4,1,us,3\nmine,T4,1,us,9\nb,T4,1,us,4\n,T4,1,us,5\n")
    assert instances("add", "mine", "--gpu", "T4", "--price", "0.3").returncode == 0
    assert document(instances("import", "skypilot", first, "--json"))["provider"] == "aws"
    told = document(instances("import", "skypilot", second, "--provider", "aws", "--json"))
    assert (told["added"], told["replaced"]) == (["b"], ["a"])
    assert [each["count"] for each in told["left_out"]] == [1, 1]
    prices = document(instances("show", "a", "--json"))["prices"]
    assert sorted((price["region"], price["on_demand_per_hour"]) for price in prices) == [("eu", 1.0), ("us", 3.0)]
    assert listed(instances)["mine"]["on_demand"]["per_hour"] == 0.3
    other = document(instances("import", "skypilot", first, "--provider", "gcp", "--json"))
    assert "of another provider" in other["left_out"][0]["reason"]
    assert listed(instances)["a"]["provider"] == "aws"


def test_ec2instances_is_imported_from_standard_input(instances: Instances) -> None:
    machine = {
        "instance_type": "g9.large",
        "GPU": 1,
        "GPU_model": "NVIDIA L4",
        "pricing": {"eu": {"linux": {"ondemand": "0.7"}}},
    }
    result = instances("import", "ec2instances", "-", "--date", "2026-11", stdin=json.dumps([machine, machine]))
    assert result.returncode == 0, result.stderr
    assert "added 1 instances of aws" in result.stdout
    assert "left out: 1 records of a name that stood before" in result.stderr
    assert listed(instances, "--region", "eu")["g9.large"]["on_demand"]["date"] == "2026-11"


@pytest.mark.parametrize(
    ("arguments", "content", "words"),
    [
        (("skypilot", "-"), CSV + "a,T4,1,us,1\n", ("--provider",)),
        (("skypilot", "-", "--provider", "x"), "a,b\n1,2\n", ("no column InstanceType", "nearest")),
        (("skypilot", "-", "--provider", "x"), "", ("empty",)),
        (("skypilot", "-", "--provider", "x", "--date", "2999-01"), CSV, ("--date", "still to come")),
        (("ec2instances", "-"), "{}", ("ec2instances.info",)),
    ],
)
def test_an_import_of_something_else_is_refused_and_nothing_is_written(
    instances: Instances, own: Path, arguments: tuple[str, ...], content: str, words: tuple[str, ...]
) -> None:
    refused(instances("import", *arguments, stdin=content), *words)
    assert not own.exists()


@pytest.mark.parametrize(
    "content", [b"", b"junk", b'{"schema": "profet/instances/9"}', b'{"schema": "profet/insta']
)
def test_a_damaged_or_newer_file_is_refused_and_never_overwritten(
    instances: Instances, own: Path, tmp_path: Path, content: bytes
) -> None:
    own.parent.mkdir()
    own.write_bytes(content)
    sheet = tmp_path / "aws.csv"
    sheet.write_text(CSV + "a,T4,1,us,1\n")
    for arguments in (
        ("list",),
        ("show", "g4dn.xlarge"),
        ("add", "x", "--gpu", "T4", "--force"),
        ("remove", "x"),
        ("import", "skypilot", sheet),
    ):
        refused(instances(*arguments), str(own))
    assert own.read_bytes() == content


@pytest.mark.parametrize("target", ["nothing.json", "instances.json"])
def test_a_link_that_leads_nowhere_is_told_and_kept(instances: Instances, own: Path, target: str) -> None:
    own.parent.mkdir()
    own.symlink_to(target)
    for arguments in (("list",), ("add", "x", "--gpu", "T4"), ("remove", "x")):
        refused(instances(*arguments), str(own))
    assert own.is_symlink()


def test_a_catalogue_of_ones_own_may_be_named_everywhere(instances: Instances, own: Path, tmp_path: Path) -> None:
    other = tmp_path / "team.json"
    assert instances("add", "box", "--gpu", "T4", "--catalogue", other).returncode == 0
    assert "box" in listed(instances, "--catalogue", other)
    assert "box" not in listed(instances)
    assert instances("show", "box", "--catalogue", other).returncode == 0
    assert instances("remove", "box", "--catalogue", other).returncode == 0
    refused(instances("list", "--catalogue", tmp_path / "missing.json"), "no such file")
    assert not own.exists()


def test_two_that_add_at_once_lose_nothing(own: Path) -> None:
    environment = {**os.environ, "PROFET_DATA_DIR": str(own.parent)}
    command = [sys.executable, "-m", "profet", "instances", "add"]
    running = [
        subprocess.Popen([*command, f"box{number}", "--gpu", "T4"], env=environment, stdout=subprocess.DEVNULL)
        for number in range(8)
    ]
    assert [each.wait(timeout=300) for each in running] == [0] * 8
    assert {each["name"] for each in json.loads(own.read_text())["instances"]} == {f"box{n}" for n in range(8)}


def test_control_characters_of_a_file_never_reach_the_terminal(instances: Instances, tmp_path: Path) -> None:
    sheet = tmp_path / "aws.csv"
    sheet.write_text("Instance\x1b[2JType,AcceleratorName\n")
    assert "\x1b" not in refused(instances("import", "skypilot", sheet), "no column")
    sheet.write_text(CSV + "a,T4,1,us,\x1b[31mfree\nb,T4 \x1b[2J,1,us,1\n")
    told = instances("import", "skypilot", sheet)
    assert told.returncode == 0
    assert "\x1b" not in told.stdout + told.stderr + instances("list").stdout


@pytest.mark.parametrize("columns", ["50", "80"])
def test_no_name_and_no_price_is_cut_in_a_narrow_terminal(
    instances: Instances, profet: Run, own: Path, columns: str
) -> None:
    narrow = {**os.environ, "PROFET_DATA_DIR": str(own.parent), "FORCE_COLOR": "1", "COLUMNS": columns}
    told = profet("instances", "list", "--gpu", "T4", env=narrow)
    assert told.returncode == 0, told.stderr
    assert "…" not in told.stdout
    rows = [line for line in re.sub(r"\x1b\[[0-9;]*m", "", told.stdout).splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in row.strip("│").split("│")] for row in rows]
    joined = ["".join(column) for column in zip(*cells, strict=True)]
    for each in listed(instances, "--gpu", "T4").values():
        assert each["name"].replace(" ", "") in joined[0].replace(" ", "")
        if each["on_demand"] is not None:
            assert f"{each['on_demand']['per_hour']:.6g}" in joined[6]
