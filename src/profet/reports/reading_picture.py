"""Pictures of what was read of a file: a step's device time by op family, its steps, and its GPUs."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from profet.printable import one_line
from profet.profiles.families import op_families
from profet.profiles.reading import Reading
from profet.quantities import US_PER_MS, format_ms
from profet.reports.axes import finish_axes, legend_below
from profet.reports.colours import GREY, HATCHES, INK, KINDS, MEASURED, PREDICTED
from profet.reports.reading_tables import family_name
from profet.reports.row_axes import name_rows, write_beside

_MEANING = {
    "compute": "bound by arithmetic",
    "memory": "bound by memory",
    "launch": "many tiny kernels",
    "copy": "copies between host and device",
    "idle": "the device waits",
}
_HATCH = dict(zip(KINDS, HATCHES, strict=True))
_HEIGHT = 0.66
_ROOM = 1.3
"""How much longer the axis is than the longest bar, for the figure beside it."""
_LEAST_SHARE = 0.005
_MOST_GPUS = 16
_NAME_CHARACTERS = 40


def draw_reading(reading: Reading) -> Figure:
    """Draw one bar an op family, the longest first, in the colour of what bounds it."""
    kinds = op_families().kinds
    families = [each for each in reading.families() if each.share >= _LEAST_SHARE]
    figure = Figure(figsize=(7.6, 1.6 + 0.36 * len(families)), layout="constrained")
    axes = figure.subplots()
    for place, each in enumerate(families):
        kind, ms = kinds[each.family], each.us / US_PER_MS
        axes.barh(place, ms, _HEIGHT, color=KINDS.get(kind, GREY), hatch=_HATCH.get(kind, ""), edgecolor="white")
        write_beside(axes, place, ms, f"{format_ms(ms)} ms  ({100 * each.share:.1f} %)")
    name_rows(axes, [family_name(each.family) for each in families])
    axes.set_xlim(0, _ROOM * families[0].us / US_PER_MS)
    axes.set_xlabel("device time of one training step (ms)")
    where = f" on {one_line(reading.profile.instance)}" if reading.profile.instance else ""
    total = format_ms(reading.profile.device_total_us / US_PER_MS)
    finish_axes(axes, f"Where a step of {total} ms goes{where}")
    shown = {kinds[each.family] for each in families}
    for kind in (each for each in KINDS if each in shown):
        axes.barh(0, 0, color=KINDS[kind], hatch=_HATCH[kind], edgecolor="white", label=_MEANING[kind])
    legend_below(figure, columns=len(KINDS))
    return figure


def draw_steps(reading: Reading) -> Figure:
    """Draw what every step took in its order, the device's work below and its idle time above."""
    figure = Figure(figsize=(7.6, 3.6), layout="constrained")
    axes = figure.subplots()
    places = range(len(reading.steps))
    busy_ms = [step.busy_us / US_PER_MS for step in reading.steps]
    idle_ms = [step.idle_us / US_PER_MS for step in reading.steps]
    axes.bar(places, busy_ms, color=KINDS["compute"], width=0.8, label="device busy")
    axes.bar(places, idle_ms, 0.8, busy_ms, color=KINDS["idle"], hatch="///", edgecolor="white", label="idle")
    odd = set(reading.odd_steps)
    marked = [place for place in places if reading.steps[place].label in odd]
    if marked:
        tops = [busy_ms[place] + idle_ms[place] for place in marked]
        axes.plot(marked, tops, "v", color=INK, markersize=6, label="unlike the others")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.xaxis.set_major_formatter(lambda place, _: _label(reading, place))
    axes.set_xlabel("step")
    axes.set_ylabel("ms")
    finish_axes(axes, f"{len(reading.steps)} captured steps", "y")
    legend_below(figure)
    return figure


def _label(reading: Reading, place: float) -> str:
    inside = 0 <= place < len(reading.steps) and place == int(place)
    return one_line(reading.steps[int(place)].label)[:_NAME_CHARACTERS] if inside else ""


def draw_devices(reading: Reading) -> Figure:
    """Draw the busy time per step of each GPU; the one that was read is among them."""
    chosen_first = sorted(reading.devices, key=lambda each: not each.chosen)[:_MOST_GPUS]
    devices = sorted(chosen_first, key=lambda each: each.number)
    figure = Figure(figsize=(7.6, 1.4 + 0.36 * len(devices)), layout="constrained")
    axes = figure.subplots()
    for place, each in enumerate(devices):
        ms = each.busy_us / US_PER_MS
        axes.barh(place, ms, _HEIGHT, color=PREDICTED if each.chosen else MEASURED)
        write_beside(axes, place, ms, f"{format_ms(ms)} ms{'  (read)' if each.chosen else ''}")
    name_rows(
        axes, [f"GPU {each.number}{f' ({each.name})' if each.name else ''}"[:_NAME_CHARACTERS] for each in devices]
    )
    axes.set_xlim(0, _ROOM * max(each.busy_us for each in devices) / US_PER_MS or 1.0)
    axes.set_xlabel("busy time of one training step (ms)")
    more = f", {len(devices)} of {len(reading.devices)}" if len(devices) < len(reading.devices) else ""
    finish_axes(axes, f"GPUs in the trace{more}")
    return figure
