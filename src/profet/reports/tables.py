"""Terminal tables of a prediction and of a profile."""

from rich.table import Table
from rich.text import Text

from profet.predictors.answer import GAP
from profet.predictors.card import Prediction, TargetPrediction
from profet.predictors.manifest import MeasuredError
from profet.printable import one_line
from profet.quantities import format_ms

_LEAST_SHARE = 0.01


def plain(text: str) -> Text:
    """Return text that the terminal shows as it is, whatever brackets it holds."""
    return Text(one_line(text))


def prediction_table(prediction: Prediction) -> Table:
    """Show one line a target, fastest first."""
    known = prediction.anchor_latency_ms
    measured = f"{format_ms(known)} ms measured there" if known else "latency there unknown"
    table = Table(title=f"Training step predicted from {prediction.anchor} ({measured})", title_justify="left")
    level = next((p.interval for p in prediction.predictions if p.interval is not None), None)
    table.add_column("target")
    table.add_column("step latency", justify="right")
    if level is not None:
        table.add_column(f"{100 * level:g} % interval", justify="right")
    table.add_column("speed-up", justify="right")
    table.add_column("error on unseen models", justify="right")
    for answer in sorted(prediction.predictions, key=lambda each: each.latency_ms):
        speed_up = f"{known / answer.latency_ms:.2f}×" if known else "–"
        cells: list[str | Text] = [plain(answer.target), f"{format_ms(answer.latency_ms)} ms"]
        if level is not None:
            cells.append(_interval(answer))
        table.add_row(*cells, speed_up, _error(answer.card.model_left_out))
    return table


def _interval(answer: TargetPrediction) -> str:
    if answer.low_ms is None or answer.high_ms is None:
        return "–"
    return f"{format_ms(answer.low_ms)} – {format_ms(answer.high_ms)} ms"


def _error(error: MeasuredError | None) -> str:
    return "not measured" if error is None else f"{error.mape:.1f} %"


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
    shown = [each for each in answer.card.families if each.target_ms >= _LEAST_SHARE * answer.latency_ms]
    for each in shown:
        speed_up = f"{each.anchor_ms / each.target_ms:.2f}×" if each.anchor_ms > 0 else "–"
        name = "gap (device waits)" if each.family == GAP else each.family.replace("_", " ")
        times.add_row(name, format_ms(each.anchor_ms), format_ms(each.target_ms), speed_up)
    rest = [each for each in answer.card.families if each not in shown]
    if rest:
        sums = (sum(each.anchor_ms for each in rest), sum(each.target_ms for each in rest))
        times.add_row(f"{len(rest)} more", *map(format_ms, sums), "")
    return times
