"""Terminal tables of a prediction and of a profile."""

from rich.table import Table
from rich.text import Text

from profet.predictors.prediction import Prediction
from profet.printable import one_line
from profet.profiles.profile import Profile
from profet.quantities import US_PER_MS, format_ms

_LARGEST_OPERATIONS = 12


def plain(text: str) -> Text:
    """Return text that the terminal shows as it is, whatever brackets it holds."""
    return Text(one_line(text))


def prediction_table(prediction: Prediction) -> Table:
    """Show one line a target, fastest first."""
    known = prediction.anchor_latency_ms
    measured = f"{format_ms(known)} ms measured there" if known else "latency there unknown"
    table = Table(title=f"Training step predicted from {prediction.anchor} ({measured})", title_justify="left")
    table.add_column("target")
    table.add_column("step latency", justify="right")
    table.add_column("speed-up", justify="right")
    table.add_column("error on unseen models", justify="right")
    for answer in sorted(prediction.predictions, key=lambda each: each.latency_ms):
        speed_up = f"{known / answer.latency_ms:.2f}×" if known else "–"
        error = f"{answer.measured_error.mape:.1f} %" if answer.measured_error else "not measured"
        table.add_row(plain(answer.target), f"{format_ms(answer.latency_ms)} ms", speed_up, error)
    return table


def profile_table(profile: Profile) -> Table:
    """Show the operations that take most of a step on the device."""
    total_us = profile.device_total_us
    where = f" on {profile.instance}" if profile.instance else ""
    table = Table(
        title=f"Device time of one step{where}: {format_ms(total_us / US_PER_MS)} ms"
        f" ({profile.steps} steps captured)",
        title_justify="left",
    )
    table.add_column("operation")
    table.add_column("ms per step", justify="right")
    table.add_column("share", justify="right")
    largest = sorted(profile.device_us.items(), key=lambda item: -item[1])
    for name, time_us in largest[:_LARGEST_OPERATIONS]:
        table.add_row(plain(name), format_ms(time_us / US_PER_MS), f"{100 * time_us / (total_us or 1):.1f} %")
    rest_us = sum(time_us for _, time_us in largest[_LARGEST_OPERATIONS:])
    if rest_us:
        count = len(largest) - _LARGEST_OPERATIONS
        table.add_row(f"{count} others", format_ms(rest_us / US_PER_MS), f"{100 * rest_us / total_us:.1f} %")
    return table
