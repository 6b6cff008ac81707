"""The latency at a size between two measured ones, as one report: table of the curve, picture and rows."""

from rich.table import Table

from profet.predictors.scalers.published import SizeScaler
from profet.quantities import format_ms
from profet.reports.report import Picture, Report
from profet.reports.scaler_curve import ScaledCurve, curve_answer, curve_facts, curve_rows
from profet.reports.scaler_picture import draw_curve
from profet.reports.tables import plain

_ROLES = {"measured": "measured", "asked": "predicted, asked about", "between": "predicted"}


def curve_report(curve: ScaledCurve) -> Report:
    """Put together what the curve says."""
    scaler = curve.scaler
    low, high = curve.ends
    caption = (
        f"Latency of a training step over the whole range from {low} to {high}: measured at both ends (squares),"
        f" predicted between them (line), and at {curve.at:g}, which was asked about (diamond)."
    )
    fitted_on = "all instances together" if scaler.instance is None else scaler.instance
    measured = f"{scaler.models} measured curves from {scaler.smallest} to {scaler.largest}"
    return Report(
        title=f"Step latency on {curve.instance} by {scaler.axis}",
        summary=(f"{curve_answer(curve)}.",),
        facts=curve_facts(curve),
        tables=(_curve_table(curve),),
        pictures=(Picture("The curve", caption, lambda: draw_curve(curve)),),
        rows=tuple(curve_rows(curve)),
        warnings=curve.warnings,
        definitions={
            "share of the way": "How far the latency is from the smaller size's to the larger one's: "
            + (
                "a polynomial of the size, fitted on measured curves; its coefficients are among the facts."
                if isinstance(scaler, SizeScaler)
                else "straight in the work, bent as measured curves between like latencies are."
            )
        },
        made_from={"curve fitted on": f"{fitted_on}, {measured}"},
    )


def _curve_table(curve: ScaledCurve) -> Table:
    table = Table(title=f"A step on {curve.instance} by {curve.scaler.axis}", title_justify="left")
    for column in (curve.scaler.axis, "ms a step", "share of the way"):
        table.add_column(column, justify="right")
    table.add_column("how it is known")
    rise_ms = curve.max_ms - curve.min_ms
    for size in curve.named_sizes:
        latency_ms = curve.latency_at(size)
        share = f"{100 * (latency_ms - curve.min_ms) / rise_ms:.1f} %" if rise_ms else "–"
        table.add_row(f"{size:g}", format_ms(latency_ms), share, plain(_ROLES[curve.role(size)]))
    return table
