"""measure_units: the table of a network on some units, from the store, completed by measuring what is missing."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import msgspec

from profet.errors import InputError
from profet.files import check_output
from profet.partition.backends.protocol import UnitError
from profet.partition.backends.registry import backend
from profet.partition.machine import machine_facts
from profet.partition.measurement.clock import UnitClock
from profet.partition.measurement.company import Company
from profet.partition.measurement.device_names import device_name
from profet.partition.measurement.listening import Listener
from profet.partition.measurement.options import MeasureOptions
from profet.partition.measurement.quiet import busy_warning
from profet.partition.measurement.unit_measurement import UnitMeasurement
from profet.partition.networks.network import Network
from profet.partition.runtime_version import runtime_version
from profet.partition.table_store import TableHeader, read_kept, save_unit, table_path
from profet.partition.tables import PerformanceTable, Point, UnitTable
from profet.partition.units import Unit


def measure_units(
    network: Network,
    units: Sequence[Unit],
    options: MeasureOptions | None = None,
    path: str | Path | None = None,
    listener: Listener | None = None,
) -> PerformanceTable:
    """Measure the sizes of each unit that the table lacks; each is saved as soon as it is known.

    Args:
        network: what is run.
        units: measured one after the other, each in a process of its own.
        options: sizes, repeats and what is kept; the defaults for None.
        path: the table's file; the store's for None.
        listener: told of what happens.

    Returns:
        The table of these units, without those that are broken.

    Raises:
        UnitError: no unit works.
        InputError: the file is damaged, or is the table of another network.
        OutputError: the file cannot be written.
    """
    campaign = Campaign(network, units, options or MeasureOptions(), path, listener or Listener())
    return campaign.run()


class Campaign:
    """The measurement of some units of one network into one file; see measure_units.

    Attributes:
        path: the table's file.
    """

    def __init__(
        self,
        network: Network,
        units: Sequence[Unit],
        options: MeasureOptions,
        path: str | Path | None,
        listener: Listener,
    ) -> None:
        self._network = network
        self._units = units
        self._options = options
        self._listener = listener
        together = options.together and len(units) > 1
        self._named = path is not None
        self.path = check_output(path, force=True) if path is not None else table_path(network, together=together)
        names = ", ".join(sorted(unit.full_name for unit in units))
        source = f"measured with all of these busy: {names}" if together else None
        self._header = TableHeader(network.name, network.sha256, machine_facts(), source)

    def run(self) -> PerformanceTable:
        """Measure; see measure_units."""
        kept = self._kept()
        tables: list[UnitTable] = []
        broken: list[UnitError] = []
        for unit in self._units:
            table, error = self._unit_table(unit, kept)
            if table is not None:
                tables.append(msgspec.structs.replace(table, name=unit.name))
            if error is not None:
                broken.append(error)
        if not tables:
            raise UnitError("; ".join(str(error) for error in broken))
        for error in broken:
            self._listener.warn(f"{error}; the other units were measured")
        return self._header.table(*tables)

    def _unit_table(self, unit: Unit, kept: PerformanceTable | None) -> tuple[UnitTable | None, UnitError | None]:
        """Return what is known of a unit in the end, and what broke it, if something did."""
        version = runtime_version(unit)
        if version is None:
            missing = f"{unit.name}: {unit.backend} is not installed; to get it: {backend(unit.backend).install}"
            return None, UnitError(missing)
        device = device_name(unit, self._header.machine)
        before = next((table for table in kept.units if table.full_name == unit.full_name), None) if kept else None
        known = None if self._options.again else self._known(unit, version, device, kept)
        name = unit.name if before is None else before.name  # cpu and its exact name are one unit

        def empty(point: Point) -> UnitTable:
            return UnitTable(
                name=name,
                full_name=unit.full_name,
                device_name=device,
                backend_version=version,
                points=(point,),
            )

        def save(table: UnitTable) -> None:
            save_unit(self.path, self._header, table)

        measurement = UnitMeasurement(unit, empty, known, self._options, save, self._listener)
        try:
            self._measure(unit, measurement)
        except UnitError as error:
            if measurement.table is not None:
                self._listener.warn(f"{error}; the sizes measured before are kept")
                return measurement.table, None
            return None, error
        return measurement.table, None

    def _measure(self, unit: Unit, measurement: UnitMeasurement) -> None:
        missing = measurement.missing()
        done = 0 if measurement.table is None else len(measurement.table.points)
        if missing == 0:
            self._listener.note(f"{unit.name}: all sizes were measured before; --again measures them anew")
            return
        if done:
            self._listener.note(f"{unit.name}: {done} sizes were measured before; goes on with the others")
        busy = busy_warning(unit)
        if busy is not None:
            self._listener.warn(busy)
        self._listener.starts(unit, missing)
        others = [other for other in self._units if other != unit] if self._options.together else []
        company = Company(others, self._network) if others else None
        clock = UnitClock(unit, self._network, self._options.rule, self._options.max_seconds)
        with company or nullcontext(), clock:
            for warning in clock.start():
                self._listener.warn(warning)
            measurement.run(clock)
        for lost in company.lost if company is not None else ():
            self._listener.warn(lost)
        measurement.warn()

    def _kept(self) -> PerformanceTable | None:
        """Return what the file holds of this network on this machine."""
        if not self.path.exists():
            return None
        kept = read_kept(self.path)
        if kept.network != self._network.name:
            is_of = f"is the table of {kept.network}, not of {self._network.name}"
            raise InputError(f"{self.path}: {is_of}; name another file")
        if kept.network_sha256 is None:
            raise InputError(f"{self.path}: was imported, so its times are not this machine's; name another file")
        difference = self._header.difference(kept)
        if difference is None:
            return kept
        if self._named and not self._options.again and kept.network_sha256 == self._network.sha256:
            remedy = "name another file, or measure its units anew with --again"
            raise InputError(f"{self.path}: was measured with {difference}; {remedy}")
        self._listener.note(f"{self.path}: was measured with {difference}; everything is measured anew")
        return None

    def _known(
        self, unit: Unit, version: str, device: str | None, kept: PerformanceTable | None
    ) -> UnitTable | None:
        """Return what the kept table says of exactly this unit, version and device."""
        for table in kept.units if kept is not None else ():
            was, now = table.full_name, unit.full_name
            if was == now and table.backend_version != version:
                was, now = f"measured with {unit.backend} {table.backend_version}", version
            elif was == now and table.device_name != device:
                was, now = f"measured on {table.device_name}", str(device)
            elif was == now:
                return table
            elif table.name != unit.name:
                continue
            self._listener.note(f"{unit.name}: was {was}, now it is {now}; it is measured anew")
        return None
