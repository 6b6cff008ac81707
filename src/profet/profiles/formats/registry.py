"""Recognises what a file is by its content and hands it to its reader."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import msgspec

from profet.errors import InputError
from profet.files import STDIN, read_bounded
from profet.names import suggest
from profet.profiles.formats import json_documents, op_stats_csv, profet_json
from profet.profiles.formats.options import ReadOptions
from profet.profiles.profile import SCHEMA_FAMILY, Profile

MAX_PROFILE_BYTES = 32 * 1024 * 1024


class _JsonReader(Protocol):
    def __call__(self, document: object, where: str, options: ReadOptions) -> Profile: ...


def _read_own(document: object, where: str, options: ReadOptions) -> Profile:
    if not isinstance(document, dict):
        raise InputError(f'{where}: not a profile; expected an object with "schema": "{SCHEMA_FAMILY}N"')
    profile = Profile.from_document(document, where)
    if options.steps is not None and options.steps != profile.steps:
        raise InputError(
            f"{where}: states that it covers {profile.steps} steps, already divided by; leave out --steps"
        )
    if not profile.has_device_operations and not profile.hardware:
        raise InputError(f"{where}: device_us has no device operations; record a step that runs on the GPU")
    if options.step_latency_ms is not None:
        profile = msgspec.structs.replace(profile, step_latency_ms=options.step_latency_ms)
    return profile


def _read_json(content: bytes, where: str, options: ReadOptions) -> Profile:
    document = json_documents.parse(content, where)
    reader: _JsonReader
    if isinstance(document, dict) and str(document.get("schema")).startswith(SCHEMA_FAMILY):
        reader = _read_own
    elif isinstance(document, list):
        reader = profet_json.read
    else:
        raise InputError(
            f"{where}: JSON, but neither PROFET's (a list with one object of Device_* and Host_* times)"
            f' nor ours (an object with "schema": "{SCHEMA_FAMILY}N")'
        )
    return reader(document, where, options)


def _parsed(reader: _JsonReader) -> Callable[[bytes, str, ReadOptions], Profile]:
    return lambda content, where, options: reader(json_documents.parse(content, where), where, options)


FORMATS: dict[str, Callable[[bytes, str, ReadOptions], Profile]] = {
    "profet-profile": _parsed(_read_own),
    "profet-json": _parsed(profet_json.read),
    "op-stats-csv": op_stats_csv.read,
}
"""Readers by the name that --format takes."""


def read_profile(path: str | Path, options: ReadOptions | None = None, file_format: str = "auto") -> Profile:
    """Read a profile from a file, or from standard input for ``-``.

    Args:
        path: the file; its content says what it is, not its name.
        options: what the caller knows of the capture.
        file_format: one of FORMATS, or ``"auto"`` to recognise it.

    Raises:
        InputError: it cannot be read, is no known format, or holds what no profile can.
    """
    options = options or ReadOptions()
    where = "standard input" if str(path) == STDIN else str(path)
    if file_format != "auto" and file_format not in FORMATS:
        raise InputError(f"--format {file_format}: unknown; {suggest(file_format, FORMATS)}")
    content = read_bounded(path, MAX_PROFILE_BYTES, "profile")
    if file_format != "auto":
        return FORMATS[file_format](content, where, options)
    if json_documents.looks_like_json(content):
        return _read_json(content, where, options)
    if op_stats_csv.looks_like_op_stats(content):
        return op_stats_csv.read(content, where, options)
    raise InputError(
        f"{where}: not a format known here; expected PROFET's JSON, a TensorFlow op-stats CSV"
        " (columns Host/device, Type or Operation Type, Total time (us)) or a profile of ours"
    )
