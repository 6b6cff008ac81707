"""What a visitor asks about: a file, pasted text, what was read before, or the example."""

from profet.errors import InputError
from profet.web.bodies import Upload
from profet.web.pages.page import Page

EXAMPLE = "example"
"""What an address says for the example; anything else stays out of addresses."""

PASTED = "the pasted text"
"""What errors call text that was pasted."""

_CARRIED, _CARRIED_NAME = "read", "read_name"
"""Fields that carry on what was read, so that nothing has to be sent twice and nothing is kept by the service."""


def sent(page: Page, field: str, example: bytes) -> Upload | None:
    """Return what came with a page; None where nothing did.

    A file wins over pasted text, and that over what was read before and over the example: what was given last is
    what is meant.

    Args:
        page: what was asked.
        field: that says which of them is meant; named after what is sent, "profile" or "table".
        example: content of the example.

    Raises:
        InputError: a form was sent without any.
    """
    fields = page.fields
    if page.upload is not None:
        return page.upload
    if page.posted and "text" in fields:
        return Upload(PASTED, fields.text("text").encode(), None)
    if page.posted and is_carried(page, field):
        return Upload(fields.shown(_CARRIED_NAME) or PASTED, fields.text(_CARRIED).encode(), None)
    if fields.text(field) == EXAMPLE:
        return Upload(EXAMPLE, example, None)
    if page.posted:
        raise InputError(f"no {field} was given; choose a file, paste one, or take the example")
    return None


def is_carried(page: Page, field: str) -> bool:
    """Whether a page is asked about what was read before."""
    return page.fields.text(field) == _CARRIED and _CARRIED in page.fields


def is_example(page: Page, field: str) -> bool:
    """Whether a page is asked about the example, so that its address can hold everything."""
    return page.upload is None and "text" not in page.fields and page.fields.text(field) == EXAMPLE


def shown_name(upload: Upload) -> str:
    """Return what the page calls what was sent: its file's name, or nothing for pasted text."""
    return "" if upload.name == PASTED else upload.name
