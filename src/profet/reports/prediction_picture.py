"""Pictures of a prediction: latency beside cost on every instance, and where the time goes."""

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.manifest import LEARNT
from profet.quantities import format_money, format_ms
from profet.reports.axes import SMALL, finish_axes, legend_below
from profet.reports.colours import COST, INK, MEASURED, MUTED, PREDICTED
from profet.reports.family_rows import family_rows
from profet.reports.row_axes import name_rows, note_below, short, whisker, write_beside
from profet.reports.step_costs import StepCost, StepCosts

_HEIGHT = 0.62
_PAIR_HEIGHT = 0.38
_NOTE_CHARACTERS = 150
_ROOM = 1.25
"""How much longer the axis is than the longest bar, for the figure beside it."""


def draw_prediction(prediction: Prediction, costs: StepCosts) -> Figure:
    """Draw a row an instance, fastest first: its step latency, beside it what many steps cost there."""
    rows = costs.instances
    notes = _notes(prediction, rows)
    figure = Figure(figsize=(10.4, 1.2 + 0.45 * len(rows) + 0.16 * len(notes)), layout="constrained")
    latency, cost = figure.subplots(1, 2, sharey=True)
    _latency_bars(latency, rows, _errors(prediction))
    _cost_bars(cost, rows)
    marks = {each.target: each.basis for each in prediction.predictions if each.basis != LEARNT}
    marks |= {row.instance: "measured" for row in rows if row.measured}
    names = (
        f"{short(row.instance)} ({marks[row.instance]})" if row.instance in marks else row.instance for row in rows
    )
    name_rows(latency, names)
    cost.tick_params(left=False, labelleft=False)
    currency = next((f" ({row.currency})" for row in rows if row.currency), "")
    latency.set_xlabel("latency of one training step (ms)")
    cost.set_xlabel(f"cost{currency}")
    finish_axes(latency, f"One profile from {short(prediction.anchor)}: a step elsewhere")
    finish_axes(cost, f"What {costs.what} cost")
    note_below(figure, "\n".join(notes))
    return figure


def _latency_bars(axes: Axes, rows: tuple[StepCost, ...], errors: dict[str, float]) -> None:
    """Draw latencies; where there is no interval, the whisker is one mean error of the pair to both sides."""
    longest = 0.0
    for place, row in enumerate(rows):
        error = errors.get(row.instance, 0.0) * row.latency_ms
        low = row.latency_ms - error if row.low_ms is None else row.low_ms
        high = row.latency_ms + error if row.high_ms is None else row.high_ms
        colour, hatch = (MEASURED, "///") if row.measured else (PREDICTED, None)
        axes.barh(place, row.latency_ms, color=colour, height=_HEIGHT, hatch=hatch, edgecolor="white")
        whisker(axes, place, row.latency_ms, low, high)
        write_beside(axes, place, high, f"{format_ms(row.latency_ms)} ms")
        longest = max(longest, high)
    axes.set_xlim(0, longest * _ROOM)


def _cost_bars(axes: Axes, rows: tuple[StepCost, ...]) -> None:
    most = max((row.cost_high or row.cost or 0.0 for row in rows), default=0.0)
    for place, row in enumerate(rows):
        if row.cost is None or row.currency is None:
            write_beside(axes, place, 0, "price unknown", MUTED)
            continue
        axes.barh(place, row.cost, color=COST, height=_HEIGHT)
        if row.cost_low is not None and row.cost_high is not None:
            whisker(axes, place, row.cost, row.cost_low, row.cost_high)
        write_beside(axes, place, row.cost_high or row.cost, format_money(row.cost, row.currency))
    axes.set_xlim(0, most * _ROOM or 1.0)


def _errors(prediction: Prediction) -> dict[str, float]:
    """Return the mean relative error of each pair on models left out, by target; none beside intervals."""
    if _level(prediction) is not None:
        return {}
    cards = {each.target: each.card.model_left_out for each in prediction.predictions}
    return {target: error.mape / 100 for target, error in cards.items() if error is not None}


def _level(prediction: Prediction) -> float | None:
    return next((p.interval for p in prediction.predictions if p.interval is not None), None)


def _notes(prediction: Prediction, rows: tuple[StepCost, ...]) -> list[str]:
    level = _level(prediction)
    whiskers = "mean absolute percentage error of this pair on models left out of training"
    if level is not None:
        whiskers = f"{100 * level:g} % intervals, calibrated on models left out of training"
    notes = [f"Whiskers: {whiskers}.", *_price_notes(rows)]
    return [line for note in notes for line in textwrap.wrap(note, _NOTE_CHARACTERS)]


def _price_notes(rows: tuple[StepCost, ...]) -> list[str]:
    """Say of when and where the prices are, those alike together, and that they are old where they are."""
    told: dict[str, list[str]] = {}
    for row in rows:
        if row.price_per_hour is not None:
            when = row.price_note or f"of {row.price_date}"
            where = "region unknown" if row.region is None else short(row.region)
            told.setdefault(f"Prices ({when}; {where})", []).append(short(row.instance))
    return [f"{what}: {', '.join(names)}." for what, names in told.items()]


def draw_families(anchor: str, answer: TargetPrediction) -> Figure:
    """Draw a pair of bars a family, on the anchor and as predicted on the target; the largest there first."""
    rows = family_rows(answer)
    figure = Figure(figsize=(8.6, 1.5 + 0.5 * len(rows)), layout="constrained")
    axes = figure.subplots()
    here, there = [row.anchor_ms for row in rows], [row.target_ms for row in rows]
    for side, times, label, colour, hatch in (
        (-0.5, here, f"on {short(anchor)}", MEASURED, "///"),
        (0.5, there, f"on {short(answer.target)}, as predicted", PREDICTED, None),
    ):
        places = [place + side * _PAIR_HEIGHT for place in range(len(rows))]
        bars = axes.barh(places, times, _PAIR_HEIGHT, color=colour, hatch=hatch, edgecolor="white", label=label)
        axes.bar_label(bars, [format_ms(time) for time in times], padding=3, fontsize=SMALL, color=INK)
    name_rows(axes, (row.name for row in rows))
    axes.margins(x=0.1)
    axes.set_xlabel("time in one training step (ms)")
    finish_axes(axes, f"Where a step goes on {short(anchor)} and on {short(answer.target)}")
    legend_below(figure)
    return figure
