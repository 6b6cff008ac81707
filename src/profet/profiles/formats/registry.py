"""Recognises what a file is by its content and hands it to its reader."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from profet.errors import InputError
from profet.names import suggest
from profet.profiles.formats import json_documents, op_stats_csv, profet_json
from profet.profiles.formats.recognition import SIGNS
from profet.profiles.formats.source import Source, checked_source, open_source
from profet.profiles.profile import SCHEMA_FAMILY, Profile
from profet.profiles.reading import Reading, ReadOptions

MAX_PROFILE_BYTES = 16 * 1024 * 1024
MAX_XPLANE_BYTES = 256 * 1024 * 1024

Reader = Callable[[Source, ReadOptions], Reading]


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


def _read_json(source: Source, options: ReadOptions) -> Reading:
    return _of_document(_parsed(source), source.where, options)


def _of_document(document: object, where: str, options: ReadOptions) -> Reading:
    if isinstance(document, dict) and str(document.get("schema")).startswith(SCHEMA_FAMILY):
        return Reading(_read_own(document, where, options))
    if isinstance(document, list):
        return Reading(profet_json.read(document, where, options))
    raise InputError(
        f"{where}: JSON, but no PyTorch trace (an object with traceEvents), nor PROFET's (a list with one object of"
        f' Device_* and Host_* times), nor ours (an object with "schema": "{SCHEMA_FAMILY}N")'
    )


def _parsed(source: Source) -> object:
    return json_documents.parse(source.read(MAX_PROFILE_BYTES, "profile"), source.where)


def _read_op_stats(source: Source, options: ReadOptions) -> Reading:
    content = source.read(MAX_PROFILE_BYTES, "profile")
    return Reading(op_stats_csv.read(content, source.where, options))


def _read_chrome_trace(source: Source, options: ReadOptions) -> Reading:
    from profet.profiles.formats.pytorch import chrome_trace
    from profet.profiles.traces.summary import summarise

    return summarise(chrome_trace.read(source), source.where, options)


def _read_xplane(source: Source, options: ReadOptions) -> Reading:
    from profet.profiles.formats.xplane import reader
    from profet.profiles.traces.summary import summarise

    content = source.read(MAX_XPLANE_BYTES, "xplane.pb")
    return summarise(reader.read(content, source.where), source.where, options)


def _read_nsight(source: Source, options: ReadOptions) -> Reading:
    from profet.profiles.formats.nsight import reader
    from profet.profiles.traces.summary import summarise

    with source.as_file("database") as path:
        trace = reader.read(path, source.where)
    return summarise(trace, source.where, options)


def _read_hardware_metrics(source: Source, options: ReadOptions) -> Reading:
    from profet.profiles.formats.hardware import metrics_csv

    content = source.read(MAX_PROFILE_BYTES, "profile")
    return Reading(metrics_csv.read(content, source.where, options))


FORMATS: dict[str, Reader] = {
    "profet-profile": lambda source, options: Reading(_read_own(_parsed(source), source.where, options)),
    "profet-json": lambda source, options: Reading(profet_json.read(_parsed(source), source.where, options)),
    "op-stats-csv": _read_op_stats,
    "chrome-trace": _read_chrome_trace,
    "xplane": _read_xplane,
    "nsight-sqlite": _read_nsight,
    "hardware-metrics-csv": _read_hardware_metrics,
}
"""Readers by the name that --format takes."""


def read_profile(path: str | Path, options: ReadOptions | None = None, file_format: str = "auto") -> Profile:
    """Read a profile from a file, or from standard input for ``-``: read_file's, without the rest.

    Raises:
        InputError: see read_file.
    """
    return read_file(path, options, file_format).profile


def read_file(path: str | Path, options: ReadOptions | None = None, file_format: str = "auto") -> Reading:
    """Read a profile, and the steps and devices of a trace, from a file or from standard input for ``-``.

    Args:
        path: the file, compressed with gzip or not; its content says what it is, not its name.
        options: what the caller knows of the capture, and what of it is wanted.
        file_format: one of FORMATS, or ``"auto"`` to recognise it.

    Raises:
        InputError: it cannot be read, is no known format, or holds what no profile can.
    """
    options = options or ReadOptions()
    if file_format != "auto" and file_format not in FORMATS:
        raise InputError(f"--format {file_format}: unknown; {suggest(file_format, FORMATS)}")
    with open_source(path) as source:
        return _read(source, options, None if file_format == "auto" else FORMATS[file_format])


def read_stream(stream: BinaryIO, where: str, options: ReadOptions | None = None) -> Reading:
    """Read a profile from bytes that are no file: read_file's, recognised by their content.

    Args:
        stream: of the bytes.
        where: what errors call them.
        options: see read_file.

    Raises:
        InputError: see read_file.
    """
    return _read(checked_source(stream, where), options or ReadOptions())


def read_document(document: object, where: str, options: ReadOptions | None = None) -> Reading:
    """Read a profile from a JSON document that is parsed already: one of ours, or PROFET's.

    Raises:
        InputError: see read_file.
    """
    options = options or ReadOptions()
    return _without_steps(_of_document(document, where, options), options, where)


def _read(source: Source, options: ReadOptions, reader: Reader | None = None) -> Reading:
    reading = (reader or _recognised(source))(source, options)
    return reading if reading.steps else _without_steps(reading, options, source.where)


def _without_steps(reading: Reading, options: ReadOptions, where: str) -> Reading:
    """Apply what was asked for to a file that holds sums alone; refuse what it cannot give."""
    if options.leave_out_steps:
        raise InputError(f"{where}: holds no single steps; leave out --leave-out-steps")
    if options.device is not None and not reading.profile.hardware:
        raise InputError(f"{where}: does not tell GPUs apart; leave out --gpu")
    return reading if options.families is None else reading.placed_by(options.families)


def _recognised(source: Source) -> Reader:
    for name, looks_like in SIGNS.items():
        if looks_like(source.head):
            return FORMATS.get(name, _read_json)
    raise InputError(
        f"{source.where}: not a format known here; expected a PyTorch trace (.json, .json.gz), an xplane.pb, a"
        " Nsight Systems export (.sqlite), PROFET's JSON, a TensorFlow op-stats CSV (columns Host/device, Type or"
        " Operation Type, Total time (us)), a CSV of hardware metrics or a profile of ours"
    )
