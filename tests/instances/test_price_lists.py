"""Price lists of others: what is read of them, what is left out, and that nothing in them breaks the reader."""

import csv
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.instances.catalogue_file import Source
from profet.instances.ec2instances_json import read_ec2instances
from profet.instances.price_list import PriceList
from profet.instances.skypilot_csv import read_skypilot

SOURCE = Source(name="list", what="a list of the tests", date="2026-01-02")
HEADER = (
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,SpotPrice,Region,AvailabilityZone,GpuInfo"
)
ROW = ("a.large", "T4", "1.0", "4.0", "16.0", "0.5", "0.2", "eu", "eu-a", "{'MemoryInfo': {'SizeInMiB': 16384}}")


def sheet(*rows: tuple[str, ...], header: str = HEADER, delimiter: str = ",") -> str:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter).writerows([header.split(","), *rows])
    return text.getvalue()


def changed(**cells: str) -> tuple[str, ...]:
    return tuple(cells.get(name, cell) for name, cell in zip(HEADER.split(","), ROW, strict=True))


def skypilot(content: str | bytes, folder: Path) -> PriceList:
    path = folder / "vms.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_skypilot(path, "acme", SOURCE)


def test_a_row_becomes_an_instance_with_its_price(tmp_path: Path) -> None:
    [instance] = skypilot(sheet(ROW), tmp_path).instances
    [price] = instance.prices
    assert (instance.name, instance.provider, instance.gpu, instance.gpu_count) == ("a.large", "acme", "T4", 1.0)
    assert (instance.gpu_memory_gib, instance.vcpus, instance.memory_gib) == (16.0, 4.0, 16.0)
    assert (price.region, price.on_demand_per_hour, price.spot_per_hour) == ("eu", 0.5, 0.2)
    assert (price.currency, price.date, price.source) == ("USD", "2026-01-02", "list")


def test_the_lowest_price_of_a_regions_zones_counts_and_that_is_told(tmp_path: Path) -> None:
    cells = (("a", "0.6", "0.3"), ("b", "0.5", "0.1"), ("c", "", ""), ("d", "0.7", "0.2"))
    zones = [changed(Price=price, SpotPrice=spot, AvailabilityZone=zone) for zone, price, spot in cells]
    found = skypilot(sheet(*zones, changed(Region="us")), tmp_path)
    [instance] = found.instances
    assert {price.region: price.spot_per_hour for price in instance.prices} == {"eu": 0.1, "us": 0.2}
    assert instance.prices[0].on_demand_per_hour == 0.5
    assert any("of its zones the lowest" in note for note in found.notes)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (changed(InstanceType=""), "without InstanceType"),
        (changed(AcceleratorName=""), "without a GPU"),
        (changed(AcceleratorName="tpu-v3-8"), "without a GPU"),
        (changed(AcceleratorName="Trainium"), "without a GPU"),
        (changed(AcceleratorCount="0"), "AcceleratorCount"),
        (changed(AcceleratorCount="many"), "AcceleratorCount"),
        (changed(AcceleratorCount="nan"), "AcceleratorCount"),
        (changed(InstanceType="x\x1b[31m"), "cannot be printed"),
        (changed(InstanceType="x" * 500), "too long"),
        (ROW[:3], "end too early"),
    ],
)
def test_rows_that_are_no_machine_with_a_gpu_are_left_out_and_counted(
    tmp_path: Path, row: tuple[str, ...], reason: str
) -> None:
    found = skypilot(sheet(row, row, ROW), tmp_path)
    assert [one.name for one in found.instances] == ["a.large"]
    assert found.records == 3
    [(told, count)] = found.left_out.items()
    assert reason in told
    assert count == 2
    with pytest.raises(InputError, match="no machine with a GPU in it"):
        skypilot(sheet(row), tmp_path)


@pytest.mark.parametrize("cell", ["0", "0.0", "", "-1", "nan", "inf", "free", "1_0"])
def test_a_price_that_is_none_is_unknown_and_told(tmp_path: Path, cell: str) -> None:
    found = skypilot(sheet(changed(Price=cell)), tmp_path)
    assert found.instances[0].prices[0].on_demand_per_hour is None
    assert any("Price" in note and "unknown" in note for note in found.notes)


def test_a_machine_without_any_price_is_kept_without(tmp_path: Path) -> None:
    assert skypilot(sheet(changed(Price="", SpotPrice="")), tmp_path).instances[0].prices == ()


def test_a_share_of_a_gpu_is_kept_as_one(tmp_path: Path) -> None:
    assert skypilot(sheet(changed(AcceleratorCount="0.125")), tmp_path).instances[0].gpu_count == 0.125


def test_byte_order_marks_line_ends_and_case_of_the_header_change_nothing(tmp_path: Path) -> None:
    text = sheet(ROW)
    plain = skypilot(text.replace("\r\n", "\n"), tmp_path)
    assert skypilot("\ufeff" + text, tmp_path) == plain
    assert skypilot(text, tmp_path) == plain
    assert skypilot(text.replace("\r\n", "\r"), tmp_path) == plain
    assert skypilot(text.replace(HEADER, HEADER.upper()), tmp_path) == plain


def test_semicolons_and_decimal_commas_are_read(tmp_path: Path) -> None:
    row = changed(Price="0,526", SpotPrice="0,1", AcceleratorCount="1,0")
    [instance] = skypilot(sheet(row, delimiter=";"), tmp_path).instances
    assert instance.prices[0].on_demand_per_hour == 0.526
    assert instance.prices[0].spot_per_hour == 0.1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (bytes(range(256)) * 10, "UTF-8"),
        (b"name,cost\na,1\n", "no column InstanceType, AcceleratorName"),
        (sheet(ROW, header=HEADER.replace("Price,Spot", "PriceUSD,Spot")).encode(), "no column Price .*PriceUSD"),
        (sheet(ROW, header=HEADER.replace("SpotPrice", "Price")).encode(), "Price stands twice"),
        (sheet().encode(), "no row"),
        (b'InstanceType,"' + b"x" * 200_000, "not a CSV table"),
    ],
)
def test_a_file_that_is_no_such_table_is_refused_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        skypilot(content, tmp_path)
    assert str(error.value).isprintable()


def test_columns_that_may_be_missing_are_told(tmp_path: Path) -> None:
    header = "Region,Price,InstanceType,AcceleratorName,AcceleratorCount"
    found = skypilot(sheet(("eu", "1", "a", "NVIDIA Tesla V100", "2"), header=header), tmp_path)
    assert (found.instances[0].gpu, found.instances[0].gpu_count, found.instances[0].vcpus) == ("V100", 2.0, None)
    assert [note.split()[1] for note in found.notes] == ["vCPUs", "MemoryGiB", "SpotPrice"]


CELL = st.one_of(st.sampled_from(["", "T4", "1.0", "0", "nan", "eu", "a.large", "-3", "N/A"]), st.text(max_size=12))


@given(st.lists(st.lists(CELL, max_size=11), max_size=12))
def test_whatever_rows_hold_every_row_is_used_or_counted(rows: list[list[str]]) -> None:
    text = sheet(ROW, *map(tuple, rows))
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = skypilot(text.encode("utf-8", "surrogatepass"), Path(folder))
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return
    assert 1 + sum(found.left_out.values()) <= found.records
    assert found.instances[0].name == "a.large"
    for instance in found.instances:
        assert instance.name.isprintable()
        assert len({price.region for price in instance.prices}) == len(instance.prices)


@given(st.binary(max_size=300))
def test_whatever_bytes_a_file_holds_the_answer_is_a_list_or_one_line(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for read in (skypilot, ec2):
            with pytest.raises(InputError):
                read(content, Path(folder))


MACHINE = {
    "instance_type": "g9.large",
    "GPU": 2,
    "GPU_model": "NVIDIA A10G",
    "GPU_memory": 48,
    "vCPU": 8,
    "memory": 32.0,
    "pricing": {
        "eu-west-1": {
            "linux": {"ondemand": "1.5", "reserved": {"x": "1"}, "spot_min": "0.4", "spot_avg": "0.5"},
            "mswin": {"ondemand": "0.1"},
            "ebs": "0.02",
        },
        "us-east-1": {"linux": {"ondemand": "0", "spot_min": "N/A", "spot_avg": "0.7"}},
        "cn-north-1": {"linux": {"ondemand": "9"}},
        "me-south-1": {"mswin": {"ondemand": "2"}},
        "sa-east-1": {"linux": {"ondemand": "N/A"}},
    },
    "FPGA": 0,
}


def ec2(document: object, folder: Path) -> PriceList:
    path = folder / "instances.json"
    path.write_bytes(document if isinstance(document, bytes) else json.dumps(document).encode())
    return read_ec2instances(path, SOURCE)


def test_a_machine_of_ec2instances_has_the_linux_prices_of_every_region(tmp_path: Path) -> None:
    found = ec2([MACHINE, {"instance_type": "m5.large", "GPU": 0, "GPU_model": None}], tmp_path)
    [instance] = found.instances
    assert (instance.gpu, instance.gpu_count, instance.gpu_memory_gib) == ("A10G", 2.0, 24.0)
    assert (instance.provider, instance.vcpus, instance.memory_gib) == ("aws", 8.0, 32.0)
    assert {price.region: (price.on_demand_per_hour, price.spot_per_hour) for price in instance.prices} == {
        "eu-west-1": (1.5, 0.4),
        "us-east-1": (None, 0.7),
        "cn-north-1": (9.0, None),
    }
    assert {price.region: price.currency for price in instance.prices}["cn-north-1"] == "CNY"
    assert found.left_out == {"machines without a GPU": 1}


@pytest.mark.parametrize(
    "odd",
    [
        {"vCPU": "N/A", "memory": None, "GPU_memory": "?"},
        {"pricing": {"eu": None, "us": {"linux": "0.5"}, "x": {"linux": {"ondemand": ["1"]}}}},
        {"pricing": None},
        {"GPU": "2", "vCPU": 8.0},
        {"GPU": 0.5},
    ],
)
def test_cells_of_other_types_are_unknown_not_fatal(tmp_path: Path, odd: dict[str, Any]) -> None:
    [instance] = ec2([{**MACHINE, **odd}], tmp_path).instances
    assert instance.gpu == "A10G"


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"GPU": "N/A"}, "without a GPU"),
        ({"GPU": -1}, "without a GPU"),
        ({"GPU_model": "AWS Inferentia"}, "without a GPU"),
        ({"GPU_model": None}, "GPU_model"),
        ({"instance_type": "\x1b[2J"}, "cannot be printed"),
        ({}, "stood before"),
    ],
)
def test_machines_that_cannot_be_used_are_counted(tmp_path: Path, odd: dict[str, Any], reason: str) -> None:
    found = ec2([MACHINE, {**MACHINE, **odd}], tmp_path)
    assert len(found.instances) == 1
    assert [reason in told for told in found.left_out] == [True]


@pytest.mark.parametrize(
    "document", [{}, [], [1], [{"GPU": 1}], "text", [{**MACHINE, "pricing": 3}], b"[" * 100_000, b"{", b"\xff\xfe"]
)
def test_another_form_is_refused_with_what_was_expected(tmp_path: Path, document: object) -> None:
    with pytest.raises(InputError, match=r"ec2instances\.info's instances\.json is a list"):
        ec2(document, tmp_path)


JSON_VALUE = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(MACHINE)), JSON_VALUE, max_size=4))
def test_whatever_a_machine_holds_it_is_used_or_counted_or_refused(odd: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        try:
            found = ec2([MACHINE, {**MACHINE, "instance_type": "other", **odd}], Path(folder))
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return
    assert len(found.instances) + sum(found.left_out.values()) == 2
