"""What a Partitioner is given: networks, units and tables as names or as they are."""

from collections.abc import Sequence
from pathlib import Path

from profet.partition.execution.table_choice import fitted_table, measured_table
from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable, load_table
from profet.partition.units import Unit


def given_network(network: str | Network) -> Network:
    """Return the network of a name or path; see find_network."""
    if isinstance(network, Network):
        return network
    from profet.partition.networks.find import find_network

    return find_network(network)


def given_units(units: str | Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the units that ``--device`` names; see resolve_units."""
    if not isinstance(units, str):
        return tuple(units)
    from profet.partition.discovery import resolve_units

    return resolve_units(units)


def given_table(
    table: PerformanceTable | str | Path | None, network: Network, units: Sequence[Unit], largest_batch: int
) -> PerformanceTable:
    """Return the table of exactly these units; see table_choice."""
    if table is None:
        return measured_table(network, units, largest_batch)
    return fitted_table(table if isinstance(table, PerformanceTable) else load_table(table), network, units)
