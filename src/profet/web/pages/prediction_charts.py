"""Charts of a prediction: latency and cost beside each other."""

from profet.quantities import format_money, format_ms
from profet.reports.step_costs import StepCost, StepCosts
from profet.web.pages.charts import Bar, Bars
from profet.web.pages.language import Texts


def draw_prediction(costs: StepCosts, what: str, t: Texts) -> list[Bars]:
    """Draw latency and cost of every instance, in the same order; no cost where no price is known.

    Args:
        costs: of many steps, the fastest instance first.
        what: they are the costs of; see what_costs.
        t: the page's texts.
    """
    rows = costs.instances
    latency = tuple(
        Bar(
            _label(row, t),
            f"{format_ms(row.latency_ms)} ms",
            row.latency_ms,
            row.low_ms,
            row.high_ms,
            "measured" if row.measured else "predicted",
        )
        for row in rows
    )
    charts = [Bars(t("predict.latency_chart"), t("predict.latency_chart_told"), latency)]
    if any(row.cost is not None for row in rows):
        cost = tuple(
            Bar(_label(row, t), _cost(row, t), row.cost, row.cost_low, row.cost_high, "cost") for row in rows
        )
        charts.append(Bars(what, t("predict.cost_chart_told"), cost))
    return charts


def what_costs(costs: StepCosts, batch_size: int | None, t: Texts) -> str:
    """Say what costs are of: so many samples, or steps where the batch size is not known."""
    if batch_size is None:
        return t("predict.cost_of_steps", steps=f"{costs.steps:,.0f}")
    return t("predict.cost_of_samples", batch_size=batch_size)


def _label(row: StepCost, t: Texts) -> str:
    return t("predict.measured_label", instance=row.instance) if row.measured else row.instance


def _cost(row: StepCost, t: Texts) -> str:
    if row.cost is None or row.currency is None:
        return t("predict.no_price")
    return format_money(row.cost, row.currency)
