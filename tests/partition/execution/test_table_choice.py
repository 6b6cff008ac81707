"""Which table a batch is split by."""

from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

from profet.errors import InputError
from profet.partition.execution.table_choice import fitted_table, measured_table
from profet.partition.measurement.listening import Listener
from profet.partition.networks.network import Network
from profet.partition.table_store import table_path
from profet.partition.tables import PerformanceTable, load_table
from profet.partition.units import Unit, parse_unit
from tests.partition.execution.conftest import performance_table, simulated

TABLE = performance_table(a=(1.0, 1.0), b=(2.0, 2.0), c=(3.0, 3.0))


class Heard(Listener):
    """Which units were measured."""

    def __init__(self) -> None:
        self.units: list[str] = []

    def starts(self, unit: Unit, sizes: int | None) -> None:
        self.units.append(unit.name)


def test_a_table_is_fitted_to_the_units_in_their_order(toy: Network) -> None:
    fitted = fitted_table(TABLE, toy, [simulated("c", 3, 3), simulated("a", 1, 1)])
    assert [unit.name for unit in fitted.units] == ["c", "a"]
    assert fitted.warnings == ()


def test_a_unit_keeps_the_smaller_of_its_limits(toy: Network) -> None:
    limited = msgspec.structs.replace(TABLE.unit("a"), largest_batch=16)
    units = [parse_unit(f"simulated:a:largest={most}").named("a") for most in (8, 99)]
    table = TABLE.with_unit(limited)
    assert [fitted_table(table, toy, [unit]).units[0].largest_batch for unit in units] == [8, 16]


def test_a_unit_that_was_measured_as_another_one_is_warned_of(toy: Network) -> None:
    other = msgspec.structs.replace(TABLE.unit("a"), full_name="openvino:cpu@3")
    (warning,) = fitted_table(TABLE.with_unit(other), toy, [simulated("a", 1, 1)]).warnings
    assert "was measured as openvino:cpu@3, and now is simulated:a" in warning


def test_a_table_of_another_network_is_refused(toy: Network) -> None:
    other = PerformanceTable(network="toy", network_sha256="00" * 32, units=TABLE.units)
    with pytest.raises(InputError, match="fingerprint 000000000000, not of toy with 5a5a5a5a5a5a"):
        fitted_table(other, toy, [simulated("a", 1, 1)])


def test_only_units_that_are_not_known_are_measured(
    toy: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    first, second = (parse_unit(f"simulated:{name}:image=0.2").named(name) for name in ("first", "second"))
    heard = Heard()
    assert [unit.name for unit in measured_table(toy, [first], 4, heard).units] == ["first"]
    table = measured_table(toy, [second, first], 4, heard)
    assert [unit.name for unit in table.units] == ["second", "first"]
    assert heard.units == ["first", "second"]
    assert [point.batch for point in table.units[0].points] == [1, 2, 3, 4]
    kept = load_table(table_path(toy))
    assert {unit.full_name for unit in kept.units} == {first.full_name, second.full_name}


def test_a_unit_whose_measurement_was_stopped_early_is_warned_of(
    toy: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    unit = parse_unit("simulated:early:image=0.1").named("early")
    assert measured_table(toy, [unit], 4).warnings == ()
    assert measured_table(toy, [unit], 16).warnings == ()
    (warning,) = measured_table(toy, [unit], 64).warnings
    assert "unit early: was measured up to a batch of 4 only" in warning
    limited = parse_unit("simulated:early:largest=2:image=0.1").named("early")
    assert measured_table(toy, [limited], 64).warnings == ()


def test_a_unit_that_breaks_does_not_keep_those_that_are_known_from_running(
    toy: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    good, broken = parse_unit("simulated:good:image=0.2"), parse_unit("simulated:bad:noise=loud")
    measured_table(toy, [good], 4)

    class Warned(Listener):
        texts: ClassVar[list[str]] = []

        def warn(self, text: str) -> None:
            self.texts.append(text)

    table = measured_table(toy, [good, broken], 4, Warned())
    assert [unit.name for unit in table.units] == [good.name]
    assert any("the other units run without it" in text for text in Warned.texts)
