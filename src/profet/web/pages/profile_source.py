"""The profile that a visitor asks about: the example, a file, pasted text, or the one that was read before."""

from dataclasses import dataclass
from functools import cached_property

import msgspec

from profet.profiles.example import example_profile
from profet.profiles.families import op_families
from profet.profiles.profile import IDLE, SCHEMA, Profile
from profet.profiles.reading import FamilyShare, Reading, ReadOptions
from profet.web.bodies import Upload
from profet.web.pages.page import Page
from profet.web.pages.sent import is_carried, is_example, sent, shown_name
from profet.web.uploads import read_upload

FIELD = "profile"
"""The field that says which profile is meant."""


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

    @cached_property
    def families(self) -> tuple[FamilyShare, ...]:
        """Device time of a step by op family, the longest first."""
        return Reading(self.profile).families()

    @cached_property
    def operations(self) -> list[tuple[str, str, str, float]]:
        """Every operation that was read: side, name, family and µs a step, the longest first."""
        sides = (("device", self.profile.device_us), ("host", self.profile.host_us))
        table = op_families()
        return [
            (side, name, "idle" if name == IDLE else table.place(name).family, us)
            for side, times in sides
            for name, us in sorted(times.items(), key=lambda item: -item[1])
        ]


def sent_profile(page: Page) -> Upload | None:
    """Return the profile that came with a page; None where none did.

    Raises:
        InputError: a form was sent without any.
    """
    return sent(page, FIELD, example_profile().to_json().encode())


def read_options(page: Page) -> ReadOptions:
    """Return what a page says of the profile's file; what was read before needs it no more."""
    return ReadOptions(steps=None if is_carried(page, FIELD) else page.fields.whole("steps"))


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
    return ReadProfile(reading.profile, shown_name(upload), is_example(page, FIELD))
