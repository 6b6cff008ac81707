"""Terminal tables of a prediction."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.manifest import LEARNT, MeasuredError
from profet.printable import one_line
from profet.quantities import format_money, format_ms
from profet.reports.family_rows import family_rows

if TYPE_CHECKING:
    from profet.reports.step_costs import StepCosts


def plain(text: str) -> Text:
    """Return text that the terminal shows as it is, whatever brackets it holds."""
    return Text(one_line(text))


def prediction_table(prediction: Prediction) -> Table:
    """Show one line a target, fastest first."""
    known = prediction.anchor_latency_ms
    measured = f"{format_ms(known)} ms measured there" if known else "latency there unknown"
    size = f" of {prediction.size_text}" if prediction.moved else ""
    if prediction.moved:
        measured = f"profiled at {prediction.profiled_text}, {measured}"
    table = Table(
        title=f"Training step{size} predicted from {prediction.anchor} ({measured})", title_justify="left"
    )
    level = next((p.interval for p in prediction.predictions if p.interval is not None), None)
    table.add_column("target")
    table.add_column("step latency", justify="right")
    if level is not None:
        table.add_column(f"{100 * level:g} % interval", justify="right")
    table.add_column("speed-up", justify="right")
    table.add_column("error on unseen models", justify="right")
    for answer in sorted(prediction.predictions, key=lambda each: each.latency_ms):
        speed_up = f"{known / answer.latency_ms:.2f}×" if known and not prediction.moved else "–"
        cells: list[str | Text] = [plain(target_name(answer)), f"{format_ms(answer.latency_ms)} ms"]
        if level is not None:
            cells.append(_interval(answer))
        table.add_row(*cells, speed_up, _error(answer.card.model_left_out))
    return table


def target_name(answer: TargetPrediction) -> str:
    """Return a target's name and, where it was not learnt from runs there, how else it came to be known."""
    return answer.target if answer.basis == LEARNT else f"{answer.target} ({answer.basis})"


def _interval(answer: TargetPrediction) -> str:
    if answer.low_ms is None or answer.high_ms is None:
        return "–"
    return f"{format_ms(answer.low_ms)} – {format_ms(answer.high_ms)} ms"


def _error(error: MeasuredError | None) -> str:
    return "not measured" if error is None else f"{error.mape:.1f} %"


def cost_table(costs: "StepCosts") -> Table:
    """Show what many steps cost on each instance, the cheapest first, and of when and where its price is."""
    table = Table(title=f"Cost of {costs.what}, on demand", title_justify="left")
    table.add_column("instance")
    for column in ("step latency", "an hour", "cost", "from", "to"):
        table.add_column(column, justify="right")
    for column in ("price of", "region"):
        table.add_column(column)
    for row in sorted(costs.instances, key=lambda each: (each.cost is None, each.cost)):
        name = plain(f"{row.instance} (measured)" if row.measured else row.instance)
        amounts = (row.price_per_hour, row.cost, row.cost_low, row.cost_high)
        cells = [
            "–" if each is None or row.currency is None else format_money(each, row.currency) for each in amounts
        ]
        when = row.price_note or row.price_date or "–"
        table.add_row(name, f"{format_ms(row.latency_ms)} ms", *cells, plain(when), plain(row.region or "–"))
    return table


def card_tables(prediction: Prediction) -> list[Table]:
    """Show what each prediction rests on: measured errors, members, and where the time goes."""
    tables = []
    for answer in sorted(prediction.predictions, key=lambda each: each.latency_ms):
        card = answer.card
        rests = Table(
            title=f"{prediction.anchor} → {one_line(answer.target)}", title_justify="left", show_header=False
        )
        rests.add_column("fact")
        rests.add_column("value")
        if answer.explanation:
            rests.add_row("how it is known", plain(f"{answer.basis}: {answer.explanation}"))
        rests.add_row("error on models left out", _error(card.model_left_out))
        rests.add_row("error on model families left out", _error(card.family_left_out))
        for name, latency_ms in card.members_ms.items():
            rests.add_row(f"member {name}", f"{format_ms(latency_ms)} ms")
        if card.nearest_workloads:
            rests.add_row("nearest training runs", plain("; ".join(card.nearest_workloads)))
        if card.widened:
            rests.add_row("interval", "widened: no error was measured on such profiles")
        tables.append(rests)
        if card.families:
            tables.append(_family_table(prediction.anchor, answer))
    return tables


def _family_table(anchor: str, answer: TargetPrediction) -> Table:
    times = Table(title="Where the time goes, ms a step", title_justify="left")
    for column in ("family", anchor, answer.target, "speed-up"):
        times.add_column(plain(column), justify="left" if column == "family" else "right")
    for row in family_rows(answer):
        speed_up = f"{row.anchor_ms / row.target_ms:.2f}×" if row.anchor_ms > 0 and row.target_ms > 0 else "–"
        times.add_row(
            row.name, format_ms(row.anchor_ms), format_ms(row.target_ms), "" if row.together else speed_up
        )
    return times
