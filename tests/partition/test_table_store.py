"""Tables are kept by machine and network, without telling whose machine it is."""

import platform
import threading
from pathlib import Path

import pytest

from profet.errors import InputError, OutputError
from profet.partition.machine import machine_facts, machine_slug, same_machine
from profet.partition.networks.network import Network, Tensor
from profet.partition.table_store import (
    TableHeader,
    find_table,
    list_tables,
    save_unit,
    store_folder,
    table_path,
)
from profet.partition.tables import Point, UnitTable, load_table


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path / "data"))


def network(name: str = "tiny", content: str = "ab") -> Network:
    return Network(name, Path("tiny.onnx"), content * 32, Tensor("images", (3,)), (Tensor("means", (3,)),))


def header(of: Network, source: str | None = None) -> TableHeader:
    return TableHeader(of.name, of.sha256, machine_facts(), source)


def unit(name: str, *sizes: int) -> UnitTable:
    points = tuple(Point(batch=size, execution_ms=float(size)) for size in sizes or (1,))
    return UnitTable(name=name, full_name=f"simulated:{name}", backend_version="1", points=points)


def test_a_saved_unit_is_found_again_and_listed():
    assert find_table(network()) is None
    assert list_tables() == []
    save_unit(table_path(network()), header(network()), unit("a", 1, 2))
    table = find_table(network())
    assert table is not None
    assert table.unit("a").points[1].execution_ms == 2.0
    assert list_tables() == [table_path(network())]


def test_another_content_of_a_network_has_another_file():
    assert table_path(network(content="ab")) != table_path(network(content="cd"))
    assert table_path(network(), together=True) != table_path(network())


def test_any_network_name_makes_a_file_in_the_store():
    for name in ("../../etc", "a/b", "", ".", "..", "名前", "x" * 500):
        assert table_path(network(name)).parent == store_folder()
        assert not table_path(network(name)).name.startswith(".")


def test_units_measured_at_the_same_time_do_not_lose_each_other(tmp_path: Path):
    path = tmp_path / "table.json"

    def work(name: str) -> None:
        for last in range(1, 8):
            save_unit(path, header(network()), unit(name, *range(1, last + 1)))

    threads = [threading.Thread(target=work, args=(f"u{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table = load_table(path)
    assert {each.name for each in table.units} == {f"u{number}" for number in range(8)}
    assert all(len(each.points) == 7 for each in table.units)
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["table.json"]


def test_units_of_another_content_are_not_mixed_in(tmp_path: Path):
    path = tmp_path / "table.json"
    save_unit(path, header(network()), unit("a"))
    save_unit(path, header(network(content="cd")), unit("b"))
    assert [each.name for each in load_table(path).units] == ["b"]


def test_a_damaged_file_is_told_with_what_to_do():
    path = table_path(network())
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with pytest.raises(InputError, match="remove"):
        find_table(network())


def test_a_store_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(OutputError, match=r"cannot be made .*; set PROFET_DATA_DIR to a folder"):
        save_unit(table_path(network()), header(network()), unit("a"))


def test_the_machine_is_known_by_its_hardware_and_not_by_its_name():
    facts = machine_facts()
    assert facts["logical_cores"]
    assert facts["cpu"]
    told = " ".join(str(value) for value in facts.values())
    assert not platform.node() or platform.node() not in told
    assert machine_slug(facts) == machine_slug({**facts, "memory_gib": 1.0})


def test_memory_that_changes_does_not_make_another_machine_but_cores_do():
    facts = machine_facts()
    assert same_machine(facts, {**facts, "memory_gib": 1.0})
    assert not same_machine(facts, {**facts, "logical_cores": 3000})
    assert not same_machine(facts, None)
