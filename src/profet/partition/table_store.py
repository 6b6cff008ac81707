"""Where measured tables are kept: a folder a machine, a file a network and its content."""

from dataclasses import dataclass
from pathlib import Path

import msgspec

from profet.data_folder import alone, data_folder, make_folder
from profet.errors import InputError
from profet.partition.machine import Facts, machine_facts, machine_slug, same_machine, slug
from profet.partition.networks.network import Network
from profet.partition.tables import PerformanceTable, UnitTable, load_table


@dataclass(frozen=True, slots=True)
class TableHeader:
    """What all units of a table have in common.

    Attributes:
        network: the network's name.
        network_sha256: fingerprint of its content.
        machine: facts about the machine.
        source: how its times were taken; None for each unit on its own.
    """

    network: str
    network_sha256: str
    machine: Facts
    source: str | None = None

    def table(self, *units: UnitTable) -> PerformanceTable:
        """Return a table of some units."""
        return PerformanceTable(
            network=self.network,
            network_sha256=self.network_sha256,
            machine=self.machine,
            source=self.source,
            units=units,
        )

    def difference(self, kept: PerformanceTable) -> str | None:
        """Say why the times of a table are not those of this one; None where they are."""
        if kept.network_sha256 != self.network_sha256:
            return "another content of the network"
        if not same_machine(kept.machine, self.machine):
            return "another machine"
        if kept.source != self.source:
            return "other units busy at the same time"
        return None


def store_folder(facts: Facts | None = None) -> Path:
    """Return the folder of a machine's tables; this machine's by default. It need not be there."""
    return data_folder() / "partition" / machine_slug(facts or machine_facts())


def table_path(network: Network, facts: Facts | None = None, together: bool = False) -> Path:
    """Return the file of a network's table; times taken with all units busy have a file of their own."""
    kind = "-together" if together else ""
    return store_folder(facts) / f"{slug(network.name)}-{network.sha256[:8]}{kind}.json"


def list_tables() -> list[Path]:
    """Return the files of all tables of this machine, by name."""
    return sorted(store_folder().glob("*.json"))


def find_table(network: Network, together: bool = False) -> PerformanceTable | None:
    """Return this machine's table of a network, or None where nothing was measured yet.

    Raises:
        InputError: its file is damaged.
    """
    path = table_path(network, together=together)
    return read_kept(path) if path.exists() else None


def read_kept(path: Path) -> PerformanceTable:
    """Read a table that a measurement wrote.

    Raises:
        InputError: it is damaged; says how to go on.
    """
    try:
        return load_table(path)
    except InputError as error:
        raise InputError(f"{error}; name another file, or remove this one and measure again") from None


def save_unit(path: Path, header: TableHeader, unit: UnitTable) -> None:
    """Put one unit's table into a file, beside the units that others have measured meanwhile.

    Args:
        path: the file; its folder is made.
        header: what the units of the file have in common; units of something else are dropped.
        unit: what was measured.

    Raises:
        OutputError: it cannot be written.
    """
    make_folder(path.parent)
    with alone(path.parent):
        kept = read_kept(path) if path.exists() else None
        fits = kept is not None and header.difference(kept) is None
        merged = kept.with_unit(unit) if kept is not None and fits else header.table(unit)
        merged.save(path, force=True)


def update_units(path: Path, learnt: PerformanceTable) -> None:
    """Put what was learnt of some units into their table's file; its other units stay as they are.

    Args:
        path: the file.
        learnt: units under any of their names, those that the file lacks left out.

    Raises:
        InputError: the file is damaged.
        OutputError: it cannot be written.
    """
    with alone(path.parent):
        table = load_table(path)
        known = {name: unit for unit in table.units for name in (unit.full_name, unit.name)}
        for unit in learnt.units:
            old = known.get(unit.name) or known.get(unit.full_name)
            if old is not None:
                table = table.with_unit(msgspec.structs.replace(unit, name=old.name))
        table.save(path, force=True)
