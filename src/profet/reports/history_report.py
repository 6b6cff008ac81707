"""What was recorded, as one report: accuracy by pair, every record, and the errors over time."""

from collections.abc import Sequence

from profet.history.accuracy import PairAccuracy, accuracy_by_pair
from profet.history.measurement import Measurement
from profet.reports.history_picture import MOST_PAIRS, draw_history
from profet.reports.history_tables import (
    history_facts,
    history_table,
    history_warnings,
    record_facts,
    records_table,
)
from profet.reports.report import Picture, Report

_DEFINITIONS = {
    "mean error, median error": "Of |predicted − measured| / measured over the records with a prediction.",
    "bias": "Geometric mean of predicted over measured, less one: above zero, runs are predicted to take too long.",
    "intervals held": "Share of the records with an interval whose measured latency lay inside.",
    "chance allows": "Shares that intervals which hold as often as they say give in 95 % of cases: the central part"
    " of the binomial distribution of so many records.",
    "profiles": "Records of one profile are no independent evidence of how intervals hold on others.",
}
_CAPTION = (
    "How much longer a step took than predicted, by date, one panel a pair: 0 is a perfect prediction. Bars are the"
    " predictions' intervals; crosses are runs outside of them."
)


def history_report(measurements: Sequence[Measurement]) -> Report:
    """Put together what the records say; there is at least one."""
    pairs = accuracy_by_pair(measurements)
    drawn = f" The {MOST_PAIRS} pairs with the most records are drawn." if len(pairs) > MOST_PAIRS else ""
    rows = tuple(record_facts(each) for each in measurements)
    first, last = measurements[0].created, measurements[-1].created
    return Report(
        title="What runs really took beside what was predicted",
        summary=tuple(_summary(pairs)),
        facts={**history_facts(pairs), "records": list(rows)},
        tables=(history_table(pairs), records_table(measurements)),
        pictures=(Picture("Errors over time", _CAPTION + drawn, lambda: draw_history(measurements)),),
        rows=rows,
        warnings=tuple(history_warnings(pairs)),
        definitions=_DEFINITIONS,
        made_from={"records": f"{len(rows)}, from {first:%Y-%m-%d} to {last:%Y-%m-%d}"},
    )


def _summary(pairs: Sequence[PairAccuracy]) -> list[str]:
    predicted = [pair for pair in pairs if pair.mape is not None]
    count = sum(pair.predicted for pair in predicted)
    if not predicted:
        return ["Nothing was predicted for what is recorded so far."]
    mape = sum((pair.mape or 0.0) * pair.predicted for pair in predicted) / count
    said = [
        f"Predictions were wrong by {mape:.1f} % on average over {count} recorded runs of {len(predicted)} pairs."
    ]
    left = [pair for pair in pairs if pair.coverage is not None and pair.coverage.verdict is not None]
    if any(pair.coverage is not None for pair in pairs):
        said.append(
            f"Intervals held less or more often than chance allows in {len(left)} of them."
            if left
            else "Intervals held as often as they said, as far as chance lets one tell."
        )
    return said
