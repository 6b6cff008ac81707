"""Saves a result as a file that the visitor keeps: the same report as the command line writes."""

import tempfile
from enum import StrEnum
from pathlib import Path

from fastapi import Response

from profet.reports.pictures import save_picture
from profet.reports.report import Report, save_report


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


def saved(report: Report, form: Form, name: str) -> Response:
    """Return a report, or its first picture, as a file to keep.

    Args:
        report: of the result.
        form: of the file.
        name: of the file, without its ending.

    Raises:
        OutputError: there is no room to make it.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.{form}"
        if form is Form.PNG:
            save_picture(report.pictures[0].draw(), path, force=True)
        else:
            save_report(report, path, force=True)
        content = path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{path.name}"', "Cache-Control": "no-store"}
    return Response(content, headers=headers, media_type=_MEDIA_TYPES[form])
