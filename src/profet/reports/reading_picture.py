"""The picture of what was read of a file: a step's device time by op family."""

from pathlib import Path

from matplotlib.figure import Figure

from profet.errors import OutputError
from profet.printable import one_line
from profet.profiles.families import IDLE_FAMILY, op_families
from profet.profiles.reading import Reading
from profet.quantities import US_PER_MS, format_ms
from profet.reports.pictures import save_picture

_COLOURS = {"compute": "#0072b2", "memory": "#56b4e9", "launch": "#cc79a7", "copy": "#e69f00", "idle": "#bbbbbb"}
_MEANING = {
    "compute": "bound by arithmetic",
    "memory": "bound by memory",
    "launch": "many tiny kernels",
    "copy": "copies between host and device",
    "idle": "the device waits",
}
_HOST_COLOUR, _INK = "#999999", "#222222"
_LEAST_SHARE = 0.005


def draw_reading(reading: Reading) -> Figure:
    """Draw one bar an op family, the longest first, in the colour of what bounds it."""
    kinds = op_families().kinds
    families = [each for each in reading.families() if each.share >= _LEAST_SHARE]
    figure = Figure(figsize=(7.6, 1.6 + 0.36 * len(families)))
    axes = figure.subplots()
    longest = max(each.us for each in families) / US_PER_MS
    for place, each in enumerate(families):
        kind = kinds[each.family]
        axes.barh(place, each.us / US_PER_MS, color=_COLOURS.get(kind, _HOST_COLOUR), height=0.66)
        text = f"{format_ms(each.us / US_PER_MS)} ms  ({100 * each.share:.1f} %)"
        axes.text(each.us / US_PER_MS + 0.012 * longest, place, text, va="center", color=_INK, fontsize=9)
    names = ["idle" if each.family == IDLE_FAMILY else each.family.replace("_", " ") for each in families]
    axes.set_yticks(range(len(families)), names, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(0, longest * 1.3)
    axes.set_xlabel("device time of one training step (ms)")
    where = f" on {one_line(reading.profile.instance)}" if reading.profile.instance else ""
    total = format_ms(reading.profile.device_total_us / US_PER_MS)
    axes.set_title(f"Where a step of {total} ms goes{where}", loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    shown = dict.fromkeys(kinds[each.family] for each in families)
    for kind in (each for each in _COLOURS if each in shown):
        axes.barh(0, 0, color=_COLOURS[kind], label=_MEANING[kind])
    axes.legend(loc="lower right", fontsize=8, frameon=False)
    return figure


def save_reading_picture(reading: Reading, path: str | Path, force: bool = False) -> None:
    """Draw what was read and save it as PNG, SVG or PDF.

    Raises:
        OutputError: see save_picture; or there are no device times to draw.
    """
    if not reading.profile.device_total_us:
        raise OutputError(f"{path}: no device time, so there are no op families to draw; leave out --plot")
    save_picture(draw_reading(reading), path, force)
