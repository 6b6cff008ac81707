"""Terminal tables and JSON facts of the units of a machine, and of what it lacks."""

import os
from collections.abc import Sequence
from typing import Any

from rich.table import Table

from profet.partition.cores import usable_cores
from profet.partition.discovery import FoundBackend, short_names
from profet.partition.machine import machine_facts
from profet.partition.missing import Missing
from profet.partition.units import format_cores
from profet.reports.tables import plain


def unit_facts(found: Sequence[FoundBackend], missing: Sequence[Missing]) -> dict[str, Any]:
    """Return the units, what is missing and the machine as plain values for a JSON document."""
    short_of = {unit: short for short, unit in short_names(found).items()}
    units = [
        {
            "unit": f"{one.name}:{device.device}",
            "short_name": short_of.get(f"{one.name}:{device.device}"),
            "kind": device.kind,
            "device_name": device.device_name,
            "backend": one.name,
            "backend_version": one.version,
            "note": device.note,
        }
        for one in found
        for device in one.devices
    ]
    lacking = [{"what": each.what, "why": each.why, "how": each.how} for each in missing]
    machine = {**machine_facts(), "all_cores": os.cpu_count() or 1, "usable_cores": list(usable_cores())}
    return {"units": units, "missing": lacking, "machine": machine}


def unit_tables(facts: dict[str, Any]) -> list[Table]:
    """Show the same as tables."""
    tables = [_units_table(facts)]
    if facts["missing"]:
        tables.append(_missing_table(facts))
    return tables


def _units_table(facts: dict[str, Any]) -> Table:
    machine = facts["machine"]
    usable = tuple(machine["usable_cores"])
    cores = f"{machine['all_cores']} logical cores"
    if len(usable) < machine["all_cores"]:
        cores += f", of which this process may use {format_cores(usable)} alone"
    memory = "" if machine["memory_gib"] is None else f", {machine['memory_gib']:g} GiB"
    table = Table(title=f"Units of this machine: {machine['cpu']}, {cores}{memory}", title_justify="left")
    table.add_column("--device", no_wrap=True)
    table.add_column("short", no_wrap=True)
    for column in ("device", "version", "status"):
        table.add_column(column, overflow="fold")
    for unit in facts["units"]:
        cells = [plain(unit["unit"]), unit["short_name"] or "", plain(unit["device_name"])]
        status = f"ready; {unit['note']}" if unit["note"] else "ready"
        table.add_row(*cells, plain(unit["backend_version"]), plain(status))
    return table


def _missing_table(facts: dict[str, Any]) -> Table:
    table = Table(title="Missing", title_justify="left")
    table.add_column("what", no_wrap=True)
    table.add_column("why", overflow="fold")
    table.add_column("how to get it", overflow="fold")
    for each in facts["missing"]:
        table.add_row(plain(each["what"]), plain(each["why"]), plain(each["how"]))
    return table
