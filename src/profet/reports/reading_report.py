"""What was read of a file, as one report: facts, rows, pictures and the page."""

from pathlib import Path
from typing import Any

from profet.files import STDIN
from profet.profiles.reading import Reading
from profet.quantities import US_PER_MS, format_ms
from profet.reports.reading_picture import draw_devices, draw_reading, draw_steps
from profet.reports.reading_tables import family_name, reading_facts, reading_tables, unmapped_warnings
from profet.reports.report import Picture, Report

_DEFINITIONS = {
    "op family": "What kind of work an operation does, whatever its framework calls it.",
    "share": "Of the device time of a step, idle included.",
    "spread": "Standard deviation over mean of a family's time, over the captured steps.",
    "idle": "The device waits: no operation runs on it.",
}


def reading_report(reading: Reading, source: str) -> Report:
    """Put together what was read.

    Args:
        reading: what was read.
        source: the file's name, as the user gave it.
    """
    profile = reading.profile
    facts = {**reading_facts(reading), "instance": profile.instance, "hardware": profile.hardware}
    return Report(
        title="Where the time of a training step goes",
        summary=tuple(_summary(reading)),
        facts=facts,
        tables=tuple(reading_tables(reading)),
        pictures=tuple(_pictures(reading)),
        rows=tuple(_rows(facts)),
        warnings=(*profile.warnings, *unmapped_warnings(reading)),
        definitions=_DEFINITIONS,
        made_from={"read of": _read_of(reading, source)},
    )


def _read_of(reading: Reading, source: str) -> str:
    profile = reading.profile
    known = (
        "standard input" if source == STDIN else Path(source).name,
        f"{profile.framework} {profile.framework_version or ''}".strip(),
        profile.instance or "",
        f"batch size {profile.batch_size}" if profile.batch_size else "",
        f"{profile.pixels} px" if profile.pixels else "",
    )
    return ", ".join(part for part in known if part)


def _summary(reading: Reading) -> list[str]:
    total_us = reading.profile.device_total_us
    if not total_us:
        return ["No operations were read, only hardware metrics; they are good for their own method alone."]
    families = reading.families()
    first = ", ".join(f"{family_name(each.family)} {100 * each.share:.1f} %" for each in families[:3])
    return [f"One step takes {format_ms(total_us / US_PER_MS)} ms of device time; most of it is {first}."]


def _pictures(reading: Reading) -> list[Picture]:
    if not reading.profile.device_total_us:
        return []
    caption = "Device time of one training step by op family, the longest first, coloured by what bounds it."
    pictures = [Picture("Op families", caption, lambda: draw_reading(reading))]
    if len(reading.steps) > 1:
        caption = "What every captured step took: the time in which the device worked, and the rest, idle."
        pictures.append(Picture("Steps", caption, lambda: draw_steps(reading)))
    if len(reading.devices) > 1:
        caption = "Busy time per step of every GPU in the trace; the one that was read is marked."
        pictures.append(Picture("GPUs", caption, lambda: draw_devices(reading)))
    return pictures


def _rows(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the families; where there are no operations, the hardware metrics."""
    if facts["families"]:
        names = {"us": "us_per_step", "calls": "calls_per_step"}
        return [{names.get(name, name): value for name, value in row.items()} for row in facts["families"]]
    return [{"metric": name, "value": value} for name, value in (facts["hardware"] or {}).items()]
