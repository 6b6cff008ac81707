"""What a Partitioner is given: networks, units and tables as names or as they are."""

from collections.abc import Sequence
from pathlib import Path

from profet.errors import InputError
from profet.partition.execution.table_choice import fitted_table, measured_table
from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable, load_table
from profet.partition.units import Unit


def given_network(network: str | Network) -> Network:
    """Return the network of a name or path; see find_network."""
    if isinstance(network, Network):
        return network
    if not isinstance(network, str):
        raise InputError(f"network: give a name or the path of an ONNX file as text, not {type(network).__name__}")
    from profet.partition.networks.find import find_network

    return find_network(network)


def given_units(units: str | Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units that ``--device`` names; see resolve_units."""
    if isinstance(units, str):
        from profet.partition.discovery import resolve_units

        return resolve_units(units)
    if not isinstance(units, Sequence) or not units:
        raise InputError("units: give names with commas between, or one or more units")
    given = tuple(unit for unit in units if isinstance(unit, Unit))
    if len(given) < len(units):
        raise InputError("units: each is a Unit; give names as one text with commas between")
    return given


def given_table(
    table: PerformanceTable | str | Path | None, network: Network, units: Sequence[Unit], largest_batch: int
) -> PerformanceTable:
    """Return the table of exactly these units; see table_choice."""
    if table is None:
        return measured_table(network, units, largest_batch)
    if not isinstance(table, PerformanceTable | str | Path):
        raise InputError(f"table: give a performance table or its file, not {type(table).__name__}")
    return fitted_table(table if isinstance(table, PerformanceTable) else load_table(table), network, units)
