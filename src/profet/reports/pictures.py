"""Saving pictures: the form by the file's name, whole or not at all."""

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from profet.errors import OutputError
from profet.files import check_output, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".png", ".svg", ".pdf")
_DPI = 160


def check_picture(path: str | Path, force: bool) -> None:
    """Refuse a picture that cannot be saved, before any work is done for it.

    Raises:
        OutputError: the name does not end in a known form, or see check_output.
    """
    if Path(path).suffix.lower() not in FORMS:
        raise OutputError(f"{path}: a picture's name must end in {', '.join(FORMS)}")
    check_output(path, force)


def save_picture(figure: "Figure", path: str | Path, force: bool) -> None:
    """Save a figure.

    Raises:
        OutputError: see check_picture; or the disk refused.
    """
    check_picture(path, force)
    content = io.BytesIO()
    form = Path(path).suffix.lower().removeprefix(".")
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # drawn as a box
        figure.savefig(content, format=form, dpi=_DPI, bbox_inches="tight", metadata=metadata)
    write_whole(path, content.getvalue(), force)
