"""The shipped catalogue says what its sources say, and nothing else."""

import csv
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from profet.instances.catalogue_file import shipped_catalogue_file
from profet.instances.instance import GPU_QUANTITIES, Gpu, Instance
from tests.conftest import REPOSITORY

SHIPPED = REPOSITORY / "src" / "profet" / "data" / "instances.json"
CATALOGUE = shipped_catalogue_file()
INSTANCES = {instance.name: instance for instance in CATALOGUE.instances}
GPUS = {gpu.name: gpu for gpu in CATALOGUE.gpus}
SOURCES = {source.name: source for source in CATALOGUE.sources}
PUBLISHED = {"g3s.xlarge": 0.75, "g4dn.xlarge": 0.526, "p2.xlarge": 0.90, "p3.2xlarge": 3.06}


def rows(quoted: Path, name: str) -> list[dict[str, str]]:
    with (quoted / name).open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def test_the_script_writes_the_shipped_file_byte_for_byte(quoted: Path, tmp_path: Path) -> None:
    made = tmp_path / "instances.json"
    script = REPOSITORY / "scripts" / "catalogue.py"
    command = [sys.executable, str(script), str(quoted), "-o", str(made)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert told.returncode == 0, told.stderr
    assert made.read_bytes() == SHIPPED.read_bytes()


@pytest.mark.parametrize(
    ("table", "source", "provider"),
    [("skypilot_aws.csv", "skypilot-aws", "aws"), ("skypilot_lambda.csv", "skypilot-lambda", "lambda")],
)
def test_facts_and_prices_of_skypilot_stand_in_its_rows(
    quoted: Path, table: str, source: str, provider: str
) -> None:
    quoted_rows = {row["InstanceType"]: row for row in rows(quoted, table)}
    shipped = {name: one for name, one in INSTANCES.items() if one.source == source}
    assert set(shipped) == set(quoted_rows)
    for name, instance in shipped.items():
        row = quoted_rows[name]
        [price] = [price for price in instance.prices if price.source == source]
        each_gib = int(re.search(r"'SizeInMiB': (\d+)", row["GpuInfo"])[1]) / 1024  # type: ignore[index]
        assert (instance.provider, instance.gpu_memory_gib) == (provider, each_gib)
        assert instance.gpu in {row["AcceleratorName"], f"{row['AcceleratorName']}-PCIe"}
        assert instance.gpu_count == float(row["AcceleratorCount"])
        assert (instance.vcpus, instance.memory_gib) == (float(row["vCPUs"]), float(row["MemoryGiB"]))
        assert (price.on_demand_per_hour, price.spot_per_hour) == (number(row["Price"]), number(row["SpotPrice"]))
        assert (price.region, price.currency, price.date) == (row["Region"], "USD", None)


def test_gpus_of_other_aws_instances_stand_in_ec2instances_with_the_memory_of_one(quoted: Path) -> None:
    quoted_rows = {row["instance"]: row for row in rows(quoted, "ec2_gpus.csv")}
    shipped = {name: one for name, one in INSTANCES.items() if one.source == "ec2instances"}
    missing = set(quoted_rows) - {name for name, one in INSTANCES.items() if one.provider == "aws"}
    assert missing == {"dl2q.24xlarge"}  # its accelerators are no GPUs
    for name, instance in shipped.items():
        row = quoted_rows[name]
        assert instance.gpu_count == float(row["gpu_count"])
        assert instance.gpu_memory_total_gib == float(row["gpu_memory_total_gib"])
        assert instance.gpu is not None
        assert instance.gpu.partition("-")[0] in row["gpu"]
        assert (instance.vcpus, instance.memory_gib) == (None, None)


def test_prices_of_deepview_stand_in_its_rows_and_all_are_there(quoted: Path) -> None:
    expected = {
        (row["provider"], row["instance"], row["gpu"].upper(), float(row["gpu_count"]), float(row["usd_per_hour"]))
        for row in rows(quoted, "deepview_prices.csv")
    }
    found = {
        (one.provider, one.name.partition("+")[0], one.gpu, one.gpu_count, price.on_demand_per_hour)
        for one in CATALOGUE.instances
        for price in one.prices
        if price.source == "deepview"
    }
    assert found == expected
    dates = {price.date for one in CATALOGUE.instances for price in one.prices if price.source == "deepview"}
    assert dates == {"2024-12-05"}


def test_the_four_published_instances_have_the_demo_s_prices_of_2021(quoted: Path) -> None:
    found = {
        one.name: price.on_demand_per_hour
        for one in CATALOGUE.instances
        for price in one.prices
        if (price.source, price.date, price.region) == ("profet-demo", "2021", None)
    }
    assert found == PUBLISHED
    text = (quoted / "SOURCES.md").read_text(encoding="utf-8")
    assert "g3s.xlarge (0.75) and p2.xlarge (0.90 USD/h)" in text


def stated(gpu: Gpu) -> Iterator[tuple[str, float, str]]:
    """Every fact of a GPU with the source that states it."""
    for field in GPU_QUANTITIES:
        value = getattr(gpu, field)
        if value is not None:
            yield field, value, gpu.source_of(field)


def test_every_gpu_s_specs_stand_in_the_source_that_is_named(quoted: Path) -> None:
    neusight = {row["device"]: row for row in rows(quoted, "neusight_devices.csv")}
    habitat = {row["device"]: row for row in rows(quoted, "habitat_devices.csv")}
    ec2 = rows(quoted, "ec2_gpus.csv")
    notes = (quoted / "SOURCES.md").read_text(encoding="utf-8")
    for gpu in CATALOGUE.gpus:
        for field, value, source in stated(gpu):
            if source == "neusight":
                row = neusight[gpu.board or ""]
                in_source: dict[str, float | None] = {
                    "fp32_tflops": (number(row["fp32_gflops"]) or 0) / 1000,
                    "bandwidth_gb_s": number(row["bandwidth_gb_s"]),
                    "memory_gib": number(row["memory_gb"]),
                    "boost_clock_mhz": number(row["mhz"]),
                }
                assert value == in_source[field], (gpu, field)
            elif source == "habitat":
                column = {"compute_capability": "compute_capability", "base_clock_mhz": "base_mhz"}[field]
                assert value == float(habitat[gpu.name][column]), (gpu, field)
            elif source == "data-sheets":
                assert re.search(rf"(?<![\d.]){value:g}(?![\d.])", notes), (gpu, field)
            elif source == "ec2instances":
                assert value in set(ec2_values(ec2, gpu.name, field)), (gpu, field)
            else:
                having = [one for one in CATALOGUE.instances if (one.gpu, one.source) == (gpu.name, source)]
                assert field == "memory_gib"
                assert value in {one.gpu_memory_gib for one in having}, gpu


def ec2_values(table: list[dict[str, str]], gpu: str, field: str) -> Iterator[float]:
    for row in table:
        if gpu.partition("-")[0] in row["gpu"].replace("-", " ").split() or gpu in row["gpu"]:
            each = float(row["gpu_memory_total_gib"]) / float(row["gpu_count"])
            yield float(row["compute_capability"]) if field == "compute_capability" else each


def test_what_no_source_states_is_null() -> None:
    unknown = ["A10G", "H200", "B200", "L40S", "H100-PCIe", "A10"]
    assert all((GPUS[name].fp32_tflops, GPUS[name].bandwidth_gb_s) == (None, None) for name in unknown)
    for name in ("p2.xlarge", "g3s.xlarge"):
        assert (INSTANCES[name].vcpus, INSTANCES[name].memory_gib) == (None, None)
        assert [price.spot_per_hour for price in INSTANCES[name].prices] == [None]


def test_todays_gpus_and_all_three_large_providers_are_there() -> None:
    assert {"T4", "L4", "A10G", "V100", "A100", "A100-80GB", "H100", "H200", "B200", "K80", "M60"} <= set(GPUS)
    assert {one.provider for one in CATALOGUE.instances} == {"aws", "gcp", "azure", "lambda"}


def test_every_record_names_a_source_that_is_told() -> None:
    named = {one.source for one in CATALOGUE.instances}
    named |= {price.source for one in CATALOGUE.instances for price in one.prices}
    named |= {source for gpu in CATALOGUE.gpus for source in (gpu.source, *gpu.other_sources.values())}
    assert named == set(SOURCES)
    assert {one.gpu for one in CATALOGUE.instances} <= set(GPUS)


def test_commits_dates_and_licences_of_sources_stand_in_the_notes(quoted: Path) -> None:
    notes = (quoted / "SOURCES.md").read_text(encoding="utf-8")
    for source in CATALOGUE.sources:
        told: list[Any] = [source.licence, source.date]
        if source.where is not None:
            repository, path, *rest = re.split(r", (?:commit )?", source.where)
            told += [repository, path, *rest]
        for fact in told:
            assert fact is None or fact in notes, (source.name, fact)


def test_one_record_stands_on_each_line() -> None:
    lines = SHIPPED.read_text(encoding="utf-8").splitlines()
    records = len(CATALOGUE.sources) + len(CATALOGUE.gpus) + len(CATALOGUE.instances)
    assert sum(line.startswith('{"name"') for line in lines) == records
    assert max(len(line) for line in lines) < 1000


def test_a_host_with_several_choices_of_gpus_is_an_instance_for_each() -> None:
    hosts: dict[str, Instance] = {name: one for name, one in INSTANCES.items() if name.startswith("n1-highmem-4+")}
    assert {(name, one.gpu, one.gpu_count) for name, one in hosts.items()} == {
        ("n1-highmem-4+1xP100", "P100", 1.0),
        ("n1-highmem-4+1xT4", "T4", 1.0),
        ("n1-highmem-4+1xV100", "V100", 1.0),
    }
