"""What a service is told when it starts."""

from pathlib import Path

import msgspec

SETTINGS_VARIABLE = "PROFET_WEB_SETTINGS"
"""Where processes that serve together find their settings."""

API = "/api/v1"
"""What the addresses of the API begin with: its version is among them."""

_MIB = 1024 * 1024


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What one request, and all of them together, may take; enough for what profilers write.

    Args:
        body_bytes: of one request, as it is sent.
        json_bytes: of a body or table in JSON, which takes many times its size while it is read.
        held_bytes: of the bodies of all requests of a process together.
        head_bytes: of the head of a request.
        head_seconds: until the head of a request has arrived.
        body_seconds: until its body has.
        taking_seconds: until a client has taken what is to be sent, so that there is room for more.
        answer_seconds: until there is an answer, waiting for other work included.
        requests: that a process works on at the same time; more are told to come back.
        work_seconds: until hard work, such as reading an uploaded trace, is done.
        work_bytes: of memory for it, decompression included.
        processes: that do such work at the same time; other requests wait for one.
        operations: different ones of a profile; each that is unknown is compared to all that are known.
        key_rate: requests a second with one key, to one process; 0 for as many as there are.
        address_rate: the same from one address, where it is not this machine that reads.
    """

    body_bytes: int = 16 * _MIB
    json_bytes: int = _MIB
    held_bytes: int = 256 * _MIB
    head_bytes: int = 64 * 1024
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    taking_seconds: float = 20.0
    answer_seconds: float = 60.0
    requests: int = 64
    work_seconds: float = 20.0
    work_bytes: int = 2048 * _MIB
    processes: int = 2
    operations: int = 8192
    key_rate: float = 100.0
    address_rate: float = 200.0


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Where a service finds what it answers from, and its limits.

    Args:
        bundle_path: trained predictors; None for the shipped ones.
        catalogue_path: the user's own instances; None for those in the data folder.
        history_place: what was recorded, a file or a database's URL; None for the one in the data folder.
        hosts: names by which it may be asked, such as profet.example; any where there are none.
        keys_for_all: whether everything needs a key, not only what writes.
        proxies: addresses whose word is taken for where a request comes from (X-Forwarded-For).
        log_all: whether every request has a line in the log, not only those that write, are refused, or fail.
        limits: see Limits.
    """

    bundle_path: str | None = None
    catalogue_path: str | None = None
    history_place: str | None = None
    hosts: tuple[str, ...] = ()
    keys_for_all: bool = False
    proxies: tuple[str, ...] = ()
    log_all: bool = True
    limits: Limits = Limits()


def as_text(settings: Settings) -> str:
    """Write settings as one line, for a process that is started with them."""
    return msgspec.json.encode(settings).decode()


def from_text(text: str) -> Settings:
    """Read what as_text wrote."""
    return msgspec.json.decode(text, type=Settings)


def pages_folder() -> Path:
    """Return the folder with the pages' own files; it need not be there."""
    return Path(__file__).parent / "static"
