"""Saving pictures: the form by the file's name, whole or not at all; and as a part of a page."""

import io
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from profet.errors import OutputError
from profet.files import check_output, write_whole
from profet.printable import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMS = (".png", ".svg", ".pdf")
_DPI = 160
_NO_METADATA = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "inline": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]*)\)")


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
    write_whole(path, _drawn(figure, Path(path).suffix.lower().removeprefix(".")), force)


def inline_svg(figure: "Figure", prefix: str, label: str) -> str:
    """Return a figure as an SVG element for a page of HTML.

    Nothing in it points outside itself, and its ids are unlike those of the page's other pictures.

    Args:
        figure: what to draw.
        prefix: of its ids, unlike that of any other picture of the page.
        label: what is to be seen, for those who cannot.
    """
    root = ElementTree.fromstring(_drawn(figure, "inline"))  # noqa: S314 (written by ourselves just now)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)  # HTML knows what an svg element is; no address is needed
        if (link := element.attrib.pop(_LINK, None)) is not None:
            element.set("href", f"#{prefix}{link[1:]}" if link.startswith("#") else link)
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, prefix + value)
            elif "url(#" in value:
                element.set(name, _REFERENCE.sub(rf"url(#{prefix}\1)", value))
    for parent in list(root.iter("defs")):
        for style in parent.findall("style"):
            parent.remove(style)  # it would hold for the whole page, whose own styles say the same of pictures
    root.attrib.update({"role": "img", "aria-label": label})
    return ElementTree.tostring(root, encoding="unicode")


def _drawn(figure: "Figure", form: str) -> bytes:
    """Return the file; every text in it is shown as it is, though a name may hold what looks like a formula."""
    from matplotlib import rc_context
    from matplotlib.text import Text

    for artist in figure.findobj(Text):
        if isinstance(artist, Text):
            artist.set_parse_math(False)
            artist.set_text("\n".join(map(one_line, artist.get_text().split("\n"))))
    content = io.BytesIO()
    with warnings.catch_warnings(), rc_context({"text.parse_math": False, "svg.hashsalt": "profet"}):
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # drawn as a box
        warnings.filterwarnings("ignore", message="constrained_layout not applied")  # names too long to fit
        figure.savefig(
            content,
            format="svg" if form == "inline" else form,
            dpi=_DPI,
            bbox_inches=None if figure.get_layout_engine() else "tight",  # a layout of its own fits already
            metadata=_NO_METADATA[form],
        )
    return content.getvalue()
