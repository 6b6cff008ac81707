"""Latency at a batch or input size between two measured ones, live while a slider moves."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from profet.errors import InputError, ProfetError
from profet.predictors.scalers.choice import bundle_scaler
from profet.predictors.scalers.published import SIZES
from profet.quantities import parse_latency_ms
from profet.reports.report import Report
from profet.reports.scaler_curve import ScaledCurve
from profet.web.pages.charts import Axis, Plot, Point
from profet.web.pages.page import Page, asked
from profet.web.pages.saving import Form, saved

router = APIRouter()

_ROLES = {"measured": "measured", "asked": "asked", "between": "predicted"}


def _ends(page: Page) -> tuple[int, int]:
    """Return the two sizes that were measured; the usual ones of the axis unless given."""
    usual = SIZES[_axis(page)]
    low, high = page.fields.whole("from") or usual[0], page.fields.whole("to") or usual[-1]
    if not low < high:
        raise InputError(f"--to: {high} is not above {low}; give the smaller size first")
    return low, high


def _axis(page: Page) -> str:
    axis = page.fields.text("axis", "batch")
    if axis not in SIZES:
        raise InputError(f"--axis: {axis[:40]!r} is none; choose one of: {', '.join(SIZES)}")
    return axis


def _at(page: Page, ends: tuple[int, int]) -> int:
    """Return the size asked about; where the axis has just changed, the nearest that is on it."""
    asked_for = page.fields.whole("at") or round((ends[0] * ends[1]) ** 0.5)
    return min(max(asked_for, ends[0]), ends[1])


def _curve(page: Page) -> ScaledCurve:
    ends = _ends(page)
    low_ms, high_ms = (page.fields.read(name, parse_latency_ms) for name in ("min", "max"))
    if low_ms is None or high_ms is None:
        raise InputError("--min and --max: both are needed; the curve is laid through them")
    if high_ms < low_ms:
        raise InputError(f"--max: {high_ms:g} ms is below {low_ms:g} ms; --min belongs to size {ends[0]}")
    instance = page.fields.text("instance")
    scaler, warnings = bundle_scaler(page.service.bundle, instance, _axis(page))
    return ScaledCurve.through(scaler, instance, _at(page, ends), (low_ms, high_ms), ends, warnings)


@router.get("/scale")
def show(page: Annotated[Page, Depends(asked)]) -> Response:
    """Show the form, and the curve where both ends are given."""
    bundle = page.service.bundle
    known = sorted({name for pair in bundle.pairs for name in (pair.anchor, pair.target)})
    choices: dict[str, Any] = {"instances": known, "axes": list(SIZES), "curve": None}
    usual = SIZES["batch"]
    form = {"axis": "batch", "low": usual[0], "high": usual[-1], "at": 64}
    try:
        ends = _ends(page)
        form = {"axis": _axis(page), "low": ends[0], "high": ends[1], "at": _at(page, ends)}
        if "min" not in page.fields or "max" not in page.fields:
            return page.show("scale.html", **choices, form=form)
        curve = _curve(page)
    except ProfetError as error:
        return page.refuse("scale.html", error, **choices, form=form)
    return page.show("scale.html", **{**choices, "curve": curve}, form=form, chart=_chart(curve, page))


@router.get("/scale/report.{form}")
async def save(page: Annotated[Page, Depends(asked)], form: Form) -> Response:
    """Save the curve: the same report as that of the command line."""
    try:
        curve = _curve(page)
    except ProfetError:
        return page.redirect("/scale", str(page.request.query_params))
    return await saved(page, lambda: _report(curve), form, "scale")


def _report(curve: ScaledCurve) -> Report:
    from profet.reports.scaler_report import curve_report

    return curve_report(curve)


def _chart(curve: ScaledCurve, page: Page) -> Plot:
    t, sizes = page.texts, curve.sizes
    latencies = [curve.latency_at(size) for size in sizes]
    x = Axis.over(t(f"scale.{curve.scaler.axis}"), sizes, from_zero=False, may_be_ratio=False)
    y = Axis.over(t("scale.ms"), latencies, may_be_ratio=False)
    points = tuple(
        Point(size, curve.latency_at(size), _ROLES[curve.role(size)])
        for size in curve.named_sizes
        if curve.role(size) != "between"
    )
    line = ("curve", tuple(zip(sizes, latencies, strict=True)))
    return Plot(t("scale.chart"), t("scale.chart_told"), x, y, points, (line,))
