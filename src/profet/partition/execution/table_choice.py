"""Which performance table a batch is split by: the one given, or this machine's, with missing units measured."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from profet.errors import InputError
from profet.partition.backends.protocol import UnitError
from profet.partition.machine import machine_facts, same_machine
from profet.partition.networks.network import Network
from profet.partition.runtime_version import runtime_version
from profet.partition.tables import PerformanceTable, UnitTable
from profet.partition.units import Unit

if TYPE_CHECKING:
    from profet.partition.measurement.listening import Listener

_LEAST_MEASURED = 4
_FAR_BELOW = 4


def fitted_table(table: PerformanceTable, network: Network, units: Sequence[Unit]) -> PerformanceTable:
    """Return a table of exactly these units, under their names and limits, with warnings where it may be off.

    Args:
        table: as it was measured or imported.
        network: what is to be run.
        units: where.

    Raises:
        InputError: it is of another network, or lacks a unit.
    """
    if table.network_sha256 is not None and table.network_sha256 != network.sha256:
        raise InputError(
            f"the table is of {table.network} with fingerprint {table.network_sha256[:12]}, not of {network.name}"
            f" with {network.sha256[:12]}; measure this one, or give its own table"
        )
    warnings = list(table.warnings)
    if table.network_sha256 is None and table.network != network.name:
        raise InputError(f"the table is of {table.network}, not of {network.name}; give the table of this network")
    if table.machine is not None and not same_machine(table.machine, machine_facts()):
        warnings.append(
            f"the table was measured on another machine ({table.machine.get('cpu')}); measure on this one"
        )
    fitted = []
    for unit in units:
        known = table.unit(unit.name if unit.name in {each.name for each in table.units} else unit.full_name)
        warnings.extend(_doubts(known, unit))
        fitted.append(_limited(known, unit))
    return msgspec.structs.replace(table, units=tuple(fitted), warnings=tuple(warnings))


def _doubts(known: UnitTable, unit: Unit) -> list[str]:
    """Say why the times of a unit may not be those of now."""
    doubts = []
    if known.full_name != unit.full_name and ":" in known.full_name:
        doubts.append(f"unit {unit.name}: was measured as {known.full_name}, and now is {unit.full_name}")
    version = runtime_version(unit)
    if known.backend_version is not None and version is not None and known.backend_version != version:
        doubts.append(
            f"unit {unit.name}: was measured with {unit.backend} {known.backend_version}, and {version} is"
            " installed; measure again"
        )
    return doubts


def _limited(known: UnitTable, unit: Unit) -> UnitTable:
    limits = [limit for limit in (known.largest_batch, unit.largest_batch) if limit is not None]
    return msgspec.structs.replace(known, name=unit.name, largest_batch=min(limits, default=None))


def measured_table(
    network: Network, units: Sequence[Unit], max_batch: int, listener: "Listener | None" = None
) -> PerformanceTable:
    """Return this machine's table of the network; units that it does not know are measured first.

    Args:
        network: what is to be run.
        units: where; those that are broken are missing from the table.
        max_batch: largest batch that will be run.
        listener: told of what is measured.

    Raises:
        UnitError: no unit works.
    """
    from profet.partition.measurement.listening import Listener
    from profet.partition.measurement.measure import measure_units
    from profet.partition.measurement.options import MAX_BATCH, MeasureOptions
    from profet.partition.table_store import read_kept, table_path

    path = table_path(network)
    kept = read_kept(path) if Path(path).exists() else None
    known = set()
    if kept is not None and kept.network_sha256 == network.sha256:
        versions = {unit.full_name: runtime_version(unit) for unit in units}
        known = {
            table.full_name
            for table in kept.units
            if table.full_name in versions and table.backend_version == versions[table.full_name]
        }
    if kept is None or any(unit.full_name not in known for unit in units):
        options = MeasureOptions(max_batch=max(_LEAST_MEASURED, min(max_batch, MAX_BATCH)))
        missing = [unit for unit in units if unit.full_name not in known]
        old = () if kept is None else tuple(each for each in kept.units if each.full_name in known)
        fresh: tuple[UnitTable, ...] = ()
        try:
            measured = measure_units(network, missing, options, None, listener)
            kept, fresh = measured, measured.units
        except UnitError as error:
            if kept is None or not old:
                raise
            (listener or Listener()).warn(f"{error}; the other units run without it")
        kept = msgspec.structs.replace(kept, units=_named_apart((*old, *fresh)))
    names = {each.full_name for each in kept.units}
    table = fitted_table(kept, network, [unit for unit in units if unit.full_name in names])
    short = _stops_short(table, min(max_batch, MAX_BATCH))
    return msgspec.structs.replace(table, warnings=(*table.warnings, *short))


def _stops_short(table: PerformanceTable, wanted: int) -> list[str]:
    """Say which units were measured at small sizes alone, as when a measurement was stopped."""
    return [
        f"unit {unit.name}: was measured up to a batch of {unit.points[-1].batch} only, so larger chunks are not"
        " thought of; profet partition measure goes on with them"
        for unit in table.units
        if unit.points[-1].batch * _FAR_BELOW < min(wanted, unit.largest_batch or wanted)
    ]


def _named_apart(tables: Sequence[UnitTable]) -> tuple[UnitTable, ...]:
    """Return the tables under their exact names: short ones may stand for another unit by now."""
    return tuple(msgspec.structs.replace(each, name=each.full_name) for each in tables)
