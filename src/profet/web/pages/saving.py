"""Saves a result as a file that the visitor keeps: the same report as the command line writes."""

import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from fastapi import Response
from fastapi.concurrency import run_in_threadpool

from profet.reports.report import Report, save_report
from profet.web.pages.page import Page


class Form(StrEnum):
    """Forms of a saved result."""

    HTML = "html"
    CSV = "csv"
    JSON = "json"
    PNG = "png"


_MEDIA_TYPES = {
    Form.HTML: "text/html; charset=utf-8",
    Form.CSV: "text/csv; charset=utf-8",
    Form.JSON: "application/json",
    Form.PNG: "image/png",
}


async def saved(page: Page, make: Callable[[], Report], form: Form, name: str) -> Response:
    """Return a report, or its first picture, as a file to keep; reports are drawn one after the other.

    Args:
        page: that asks for it.
        make: makes the report; in a thread.
        form: of the file.
        name: of the file, without its ending.

    Raises:
        OutputError: there is no room to make it.
    """
    async with page.service.drawing:
        return await run_in_threadpool(lambda: _saved(make(), form, name))


def _saved(report: Report, form: Form, name: str) -> Response:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{form}"
        if form is Form.PNG:
            from profet.reports.pictures import save_picture

            save_picture(report.pictures[0].draw(), path, force=True)
        else:
            save_report(report, path, force=True)
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{path.name}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=_MEDIA_TYPES[form])
