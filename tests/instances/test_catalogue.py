"""The catalogue: which price counts, whose instance wins, and what a file may not hold."""

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profet.errors import InputError
from profet.instances.catalogue import Catalogue, age_note, own_path
from profet.instances.catalogue_file import CatalogueFile, read_catalogue_file
from profet.instances.instance import Instance, Price

TODAY = datetime.date(2026, 11, 21)


def priced(*prices: Price, name: str = "box") -> Instance:
    return Instance(name=name, provider="acme", gpu="T4", gpu_count=1.0, prices=prices, source="list")


def at(usd: float | None, region: str | None = None, date: str | None = None, **others: Any) -> Price:
    return Price(on_demand_per_hour=usd, region=region, date=date, **{"source": "list", **others})


def counted(instance: Instance, *arguments: Any, **options: Any) -> float | None:
    price = Catalogue.shipped().price(instance, *arguments, **options)
    return None if price is None else price.per_hour(options.get("spot", False))


def test_of_one_region_the_newest_price_counts_even_if_it_is_higher() -> None:
    assert (
        counted(priced(at(1.0, "eu", "2021"), at(2.0, "eu", "2024-12-05"), at(1.5, "eu", "2024-11")), "eu") == 2.0
    )


def test_a_price_of_unknown_age_counts_only_where_none_has_a_date() -> None:
    assert counted(priced(at(1.0, "eu"), at(2.0, "eu", "2021")), "eu") == 2.0
    assert counted(priced(at(1.0, "eu")), "eu") == 1.0


def test_without_a_region_the_lowest_of_all_regions_counts() -> None:
    assert counted(priced(at(3.0, "us"), at(2.0, "eu"), at(4.0, None, "2026-01-01"))) == 2.0


def test_of_equal_prices_the_newest_is_named() -> None:
    found = Catalogue.shipped().price(priced(at(2.0, "us"), at(2.0, None, "2024"), at(2.0, "eu", "2025")))
    assert found is not None
    assert found.region == "eu"


def test_a_region_without_a_price_has_none_unless_the_user_typed_one_in_for_everywhere() -> None:
    assert counted(priced(at(1.0), at(2.0, "us")), "eu") is None
    assert counted(priced(at(1.0, source="own")), "eu") == 1.0
    assert counted(priced(at(1.0, source="own"), at(2.0, "eu", source="own")), "eu") == 2.0


def test_spot_and_on_demand_prices_and_currencies_are_never_mixed() -> None:
    instance = priced(at(2.0, "eu", spot_per_hour=0.5), at(1.0, "us", currency="EUR"))
    assert counted(instance) == 2.0
    assert counted(instance, spot=True) == 0.5
    assert counted(instance, currency="EUR") == 1.0
    assert counted(instance, currency="CHF") is None
    assert counted(priced(at(2.0)), spot=True) is None


@given(
    st.permutations([at(1.0, "eu"), at(3.0, "eu", "2021"), at(2.0, "us", "2024"), at(4.0), at(2.0, "asia", "2025")])
)
def test_the_order_of_prices_decides_nothing(prices: list[Price]) -> None:
    assert Catalogue.shipped().price(priced(*prices)) == at(2.0, "asia", "2025")


@pytest.mark.parametrize(
    ("date", "note"),
    [
        ("2021", "of 2021: old"),
        ("2026-04", "of 2026-04: old"),
        ("2026-05", None),
        ("2026-05-26", None),
        ("2026-05-25", "of 2026-05-25: old"),
        ("2026", None),
        (None, "of unknown age"),
    ],
)
def test_an_old_price_is_said_to_be_old(date: str | None, note: str | None) -> None:
    assert age_note(at(1.0, date=date), TODAY) == note


def test_the_published_instances_cost_what_the_demo_said_or_what_they_cost_now() -> None:
    catalogue = Catalogue.shipped()
    found = {
        name: counted(catalogue.find(name)) for name in ("g3s.xlarge", "g4dn.xlarge", "p2.xlarge", "p3.2xlarge")
    }
    assert found == {"g3s.xlarge": 0.75, "g4dn.xlarge": 0.526, "p2.xlarge": 0.90, "p3.2xlarge": 3.06}


def test_an_unknown_name_or_region_is_refused_with_the_nearest() -> None:
    catalogue = Catalogue.shipped()
    with pytest.raises(InputError, match=r"'g4dn\.xlarg'.*nearest: g4dn\.xlarge"):
        catalogue.find("g4dn.xlarg")
    with pytest.raises(InputError, match=r"'us-east-2'.*nearest: us-east-1"):
        catalogue.check_region("us-east-2")
    catalogue.check_region("us-east-1")


def test_the_users_own_wins_over_a_shipped_one_of_the_same_name(own_folder: Path) -> None:
    assert Catalogue.load().find("g4dn.xlarge").provider == "aws"
    own_folder.mkdir()
    CatalogueFile(instances=(priced(at(0.1), name="g4dn.xlarge"), priced(name="mine"))).save(own_path())
    catalogue = Catalogue.load()
    assert catalogue.find("g4dn.xlarge").provider == "acme"
    assert catalogue.own == {"g4dn.xlarge", "mine"}
    assert len(catalogue.instances) == len(Catalogue.shipped().instances) + 1


def test_a_catalogue_may_be_named(own_folder: Path, tmp_path: Path) -> None:
    CatalogueFile(instances=(priced(name="mine"),)).save(tmp_path / "other.json")
    assert "mine" in Catalogue.load(tmp_path / "other.json").instances
    with pytest.raises(InputError, match="no such file"):
        Catalogue.load(tmp_path / "missing.json")


INSTANCE = {"name": "x", "provider": "own", "gpu": "T4", "gpu_count": 1, "source": "own"}
PRICE = {"on_demand_per_hour": 1.0, "source": "own"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\x80\x04junk\xff", "not a catalogue"),
        (b"[]", "not a catalogue"),
        (b"{}", "schema"),
        (b'{"schema": "profet/instances/2", "new": 1}', "newer"),
        (b'{"schema": "profet/bundle/1"}', "profet/bundle/1"),
        (b'{"schema": "profet/instances/1", "odd": 1}', "odd"),
        (b"[" * 100_000, "not a catalogue"),
    ],
)
def test_a_damaged_or_newer_file_is_refused_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "instances.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as error:
        read_catalogue_file(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gpu_count": 0}, "gpu_count is 0"),
        ({"gpu_count": -1}, "gpu_count is -1"),
        ({"gpu_count": None}, "gpu and gpu_count"),
        ({"vcpus": 1e300}, "vcpus is 1e"),
        ({"name": ""}, "name"),
        ({"name": "a\x1b[2Jb"}, "printable"),
        ({"name": "a" * 121}, "120"),
        ({"provider": " own"}, "provider"),
        ({"prices": [{**PRICE, "on_demand_per_hour": 0}]}, "on_demand_per_hour is 0"),
        ({"prices": [{**PRICE, "spot_per_hour": -0.1}]}, "spot_per_hour is -0.1"),
        ({"prices": [{**PRICE, "currency": "XYZ"}]}, "XYZ"),
        ({"prices": [{**PRICE, "date": "2024-13"}]}, "2024-13"),
        ({"prices": [{**PRICE, "date": "yesterday"}]}, "yesterday"),
        ({"prices": [{**PRICE, "on_demand_per_hour": "1"}]}, "on_demand_per_hour"),
    ],
)
def test_values_that_cannot_be_are_refused_with_their_place(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "instances.json"
    path.write_text(json.dumps({"schema": "profet/instances/1", "instances": [{**INSTANCE, **change}]}))
    with pytest.raises(InputError, match=words):
        read_catalogue_file(path)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "instances.json"
    document = json.dumps({"schema": "profet/instances/1", "instances": [{**INSTANCE, "vcpus": 4321}]})
    path.write_text(document.replace("4321", number))
    with pytest.raises(InputError, match="not a catalogue"):
        read_catalogue_file(path)


def test_a_name_that_stands_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "instances.json"
    path.write_text(json.dumps({"schema": "profet/instances/1", "instances": [INSTANCE, INSTANCE]}))
    with pytest.raises(InputError, match="instance x stands twice"):
        read_catalogue_file(path)


def test_a_file_comes_back_as_it_was_saved_and_a_byte_order_mark_is_no_harm(tmp_path: Path) -> None:
    kept = CatalogueFile(instances=(priced(at(1.0, "eu", "2024"), name="é box"),))
    kept.save(tmp_path / "a.json")
    assert read_catalogue_file(tmp_path / "a.json") == kept
    (tmp_path / "b.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "a.json").read_bytes())
    assert read_catalogue_file(tmp_path / "b.json") == kept
