"""Terminal tables and JSON facts of what was read of a file: op families, steps, devices."""

from dataclasses import asdict
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from profet.profiles.families import IDLE_FAMILY, op_families
from profet.profiles.profile import IDLE
from profet.profiles.reading import Reading
from profet.quantities import US_PER_MS, format_ms
from profet.reports.tables import plain

_LARGEST_OPERATIONS = 2
_MOST_STEPS = 12
_MOST_METRICS = 200
_NAME_CHARACTERS = 48


def reading_tables(reading: Reading) -> list[Table]:
    """Show where a step's time goes, and where it is a trace's, its steps and devices."""
    if not reading.profile.device_us:
        return [_hardware_table(reading)]
    tables = [_family_table(reading)]
    if len(reading.steps) > 1:
        tables.append(_step_table(reading))
    if len(reading.devices) > 1:
        tables.append(_device_table(reading))
    return tables


def unmapped_warnings(reading: Reading) -> list[str]:
    """Say which operations no rule of the table of op families knows."""
    unmapped = reading.unmapped()
    if not unmapped:
        return []
    share = sum(unmapped.values()) / (reading.profile.device_total_us or 1.0)
    named = ", ".join(name[:_NAME_CHARACTERS] for name in list(unmapped)[:3])
    more = f" and {len(unmapped) - 3} more" if len(unmapped) > 3 else ""
    return [
        f"{100 * share:.3g} % of the step is in operations that no rule knows ({named}{more}): placed by the likest"
        " name; --rules FILE places them as you say"
    ]


def reading_facts(reading: Reading) -> dict[str, Any]:
    """Return the same as plain values for a JSON document; times are µs per step."""
    profile = reading.profile
    spread = _spreads(reading)
    return {
        "steps": profile.steps,
        "device_us": profile.device_total_us,
        "idle_us": profile.device_us.get(IDLE, 0.0),
        "operations": {"host": len(profile.host_us), "device": len(profile.device_us)},
        "families": [
            {
                "family": each.family,
                "us": each.us,
                "share": each.share,
                "calls": each.calls,
                "spread": spread.get(each.family),
            }
            for each in reading.families()
        ],
        "per_step": [asdict(step) for step in reading.steps],
        "odd_steps": list(reading.odd_steps),
        "devices": [asdict(device) for device in reading.devices],
        "unmapped": reading.unmapped(),
        "warnings": profile.warnings,
    }


def _family_table(reading: Reading) -> Table:
    profile = reading.profile
    where = f" on {profile.instance}" if profile.instance else ""
    captured = f"{profile.steps} step{'s' if profile.steps > 1 else ''} captured"
    total = format_ms(profile.device_total_us / US_PER_MS)
    table = Table(title=f"Device time of one step{where}: {total} ms ({captured})", title_justify="left")
    families, spread = reading.families(), _spreads(reading)
    with_calls = any(each.calls for each in families)
    table.add_column("op family")
    table.add_column("ms per step", justify="right")
    table.add_column("share", justify="right")
    if spread:
        table.add_column("spread over steps", justify="right")
    if with_calls:
        table.add_column("calls per step", justify="right")
    table.add_column("largest operations")
    largest = _largest(reading)
    for each in families:
        cells: list[str | Text] = [
            plain(family_name(each.family)),
            format_ms(each.us / US_PER_MS),
            f"{100 * each.share:.1f} %",
        ]
        if spread:
            cells.append(f"± {100 * spread[each.family]:.0f} %" if each.family in spread else "–")
        if with_calls:
            cells.append(f"{each.calls:.4g}" if each.calls else "–")
        table.add_row(*cells, plain(largest.get(each.family, "")))
    return table


def family_name(family: str) -> str:
    """Return an op family as it is shown to people."""
    return "idle (device waits)" if family == IDLE_FAMILY else family.replace("_", " ")


def _largest(reading: Reading) -> dict[str, str]:
    """Return the names that take most time in each family."""
    named: dict[str, list[str]] = {}
    for name, time in sorted(reading.profile.device_us.items(), key=lambda item: -item[1]):
        here = named.setdefault(op_families().place(name).family, [])
        if time > 0 and name != IDLE and len(here) < _LARGEST_OPERATIONS:
            here.append(name if len(name) <= _NAME_CHARACTERS else f"{name[: _NAME_CHARACTERS - 1]}…")
    return {family: ", ".join(names) for family, names in named.items()}


def _spreads(reading: Reading) -> dict[str, float]:
    """Return standard deviation over mean of each family's time over the steps; empty for a single step."""
    if len(reading.steps) < 2:
        return {}
    names = {name for step in reading.steps for name in step.families_us}
    times = {name: [step.families_us.get(name, 0.0) for step in reading.steps] for name in names}
    times[IDLE_FAMILY] = [step.idle_us for step in reading.steps]
    return {name: float(np.std(each, ddof=1) / np.mean(each)) for name, each in times.items() if np.mean(each) > 0}


def _step_table(reading: Reading) -> Table:
    lengths = np.array([step.length_us for step in reading.steps]) / US_PER_MS
    middle, low, high = (format_ms(float(each)) for each in (np.median(lengths), lengths.min(), lengths.max()))
    table = Table(title=f"{len(lengths)} steps: median {middle} ms, from {low} to {high} ms", title_justify="left")
    odd = set(reading.odd_steps)
    for column in ("step", "ms", "device busy", "idle", *([""] if odd else [])):
        table.add_column(column, justify="left" if column in {"step", ""} else "right")
    shown = [step for step in reading.steps if step.label in odd][:_MOST_STEPS]
    if len(reading.steps) <= _MOST_STEPS:
        shown = list(reading.steps)
    for step in shown:
        times = (format_ms(each / US_PER_MS) for each in (step.length_us, step.busy_us, step.idle_us))
        table.add_row(plain(step.label), *times, *(["unlike the others"] if step.label in odd else []))
    if len(shown) < len(reading.steps):
        table.add_row(f"{len(reading.steps) - len(shown)} more")
    return table


def _device_table(reading: Reading) -> Table:
    table = Table(title="GPUs in the trace", title_justify="left")
    for column in ("GPU", "name", "busy ms per step", ""):
        table.add_column(column, justify="right" if column.startswith("busy") else "left")
    first = sorted(reading.devices, key=lambda each: not each.chosen)[:_MOST_STEPS]
    for device in sorted(first, key=lambda each: each.number):
        name = plain(device.name or "–")
        table.add_row(
            str(device.number), name, format_ms(device.busy_us / US_PER_MS), "read" if device.chosen else ""
        )
    return table


def _hardware_table(reading: Reading) -> Table:
    table = Table(title="Hardware metrics of one run (no operations)", title_justify="left")
    table.add_column("metric")
    table.add_column("value", justify="right")
    metrics = list((reading.profile.hardware or {}).items())
    for name, metric in metrics[:_MOST_METRICS]:
        table.add_row(plain(name), "–" if metric is None else f"{metric:.6g}")
    if len(metrics) > _MOST_METRICS:
        table.add_row(f"{len(metrics) - _MOST_METRICS} more", "")
    return table
