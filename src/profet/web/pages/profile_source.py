"""The profile that a visitor asks about: the example, a file, pasted text, or the one that was read before."""

from dataclasses import dataclass

import msgspec

from profet.errors import InputError
from profet.profiles.example import example_profile
from profet.profiles.families import op_families
from profet.profiles.profile import IDLE, SCHEMA, Profile
from profet.profiles.reading import FamilyShare, Reading, ReadOptions
from profet.quantities import US_PER_MS
from profet.web.bodies import Upload
from profet.web.pages.page import Page
from profet.web.uploads import read_upload

EXAMPLE = "example"
"""What an address says for the example; other profiles stay out of addresses."""

CARRIED, CARRIED_NAME = "read", "read_name"
"""Fields that carry on what was read, so that nothing has to be sent twice and nothing is kept by the service."""

_PASTED = "the pasted text"


@dataclass(frozen=True)
class ReadProfile:
    """A profile with where it came from.

    Args:
        profile: what was read.
        name: of the file; empty for pasted text.
        example: whether it is the shipped example.
    """

    profile: Profile
    name: str
    example: bool = False

    @property
    def carried(self) -> str:
        """All that was read, in our own format: what the page gives back to ask more about it."""
        return msgspec.json.encode({"schema": SCHEMA, **msgspec.structs.asdict(self.profile)}).decode()

    @property
    def families(self) -> tuple[FamilyShare, ...]:
        """Device time of a step by op family, the longest first."""
        return Reading(self.profile).families()

    @property
    def operations(self) -> list[tuple[str, str, str, float]]:
        """Every operation that was read: side, name, family and µs a step, the longest first."""
        sides = (("device", self.profile.device_us), ("host", self.profile.host_us))
        table = op_families()
        return [
            (side, name, "idle" if name == IDLE else table.place(name).family, us)
            for side, times in sides
            for name, us in sorted(times.items(), key=lambda item: -item[1])
        ]

    @property
    def device_ms(self) -> float:
        """Device time of a step, idle included."""
        return self.profile.device_total_us / US_PER_MS


def sent_profile(page: Page) -> Upload | None:
    """Return the profile that came with a page; None where none did.

    A file wins over pasted text, and that over what was read before and over the example: what was given last is
    what is meant.

    Raises:
        InputError: a form was sent without any.
    """
    fields = page.fields
    if page.upload is not None:
        return page.upload
    if page.posted and "text" in fields:
        return Upload(_PASTED, fields.text("text").encode(), None)
    if page.posted and is_carried(page):
        return Upload(fields.shown(CARRIED_NAME) or _PASTED, fields.text(CARRIED).encode(), None)
    if fields.text("profile") == EXAMPLE:
        return Upload(EXAMPLE, example_profile().to_json().encode(), None)
    if page.posted:
        raise InputError("no profile was given; choose a file, paste one, or take the example")
    return None


def is_carried(page: Page) -> bool:
    """Whether a page is asked about the profile that was read before."""
    return page.fields.text("profile") == CARRIED and CARRIED in page.fields


def is_example(page: Page) -> bool:
    """Whether a page is asked about the example, so that its address can hold everything."""
    return page.upload is None and "text" not in page.fields and page.fields.text("profile") == EXAMPLE


def read_options(page: Page) -> ReadOptions:
    """Return what a page says of the profile's file; what was read before needs it no more."""
    return ReadOptions(steps=None if is_carried(page) else page.fields.whole("steps"))


async def read_profile(page: Page) -> ReadProfile | None:
    """Return the profile that a page is asked about; None where it is asked about none.

    Raises:
        InputError: it cannot be read, or a form was sent without any.
        RefusedError: reading it takes too much.
    """
    upload = sent_profile(page)
    if upload is None:
        return None
    reading = await read_upload(page.service, upload, read_options(page))
    return ReadProfile(reading.profile, "" if upload.name == _PASTED else upload.name, is_example(page))
