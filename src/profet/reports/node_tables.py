"""Terminal tables and JSON facts of the units of other machines, which a Ray cluster joins."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from profet.partition.node_names import RAY
from profet.reports.tables import plain

if TYPE_CHECKING:
    from profet.partition.remote.units import LookedAt


def node_facts(looked: "Sequence[LookedAt]") -> list[dict[str, Any]]:
    """Return each node with its units, or why they are not known, as plain values for a JSON document."""
    return [
        {
            "node": each.node.name,
            "address": each.node.address,
            "machine": None if each.there is None else each.there.machine,
            "units": _units(each),
            "problem": each.problem or None,
        }
        for each in looked
    ]


def _units(looked: "LookedAt") -> list[dict[str, Any]]:
    if looked.there is None:
        return []
    prefix = f"{RAY}{looked.node.name}:"
    short_of = {unit: f"{prefix}{short}" for short, unit in looked.there.short.items()}
    return [
        {
            "unit": f"{prefix}{one.name}:{device.device}",
            "short_name": short_of.get(f"{one.name}:{device.device}"),
            "kind": device.kind,
            "device_name": device.device_name,
            "backend": one.name,
            "backend_version": one.version,
            "note": device.note,
        }
        for one in looked.there.found
        for device in one.devices
    ]


def node_table(facts: Sequence[dict[str, Any]]) -> Table:
    """Show the same as one table."""
    table = Table(title="Units of the Ray cluster's nodes", title_justify="left")
    for column in ("--device", "short", "device", "version", "status"):
        table.add_column(column, overflow="fold")
    for node in facts:
        for unit in node["units"]:
            cells = [unit["unit"], unit["short_name"] or "", unit["device_name"], unit["backend_version"]]
            table.add_row(*map(plain, cells), plain(f"ready; {unit['note']}" if unit["note"] else "ready"))
        if node["problem"] is not None:
            table.add_row(plain(f"{RAY}{node['node']}"), "", plain(node["address"]), "", plain(node["problem"]))
    return table
