"""From what was uploaded to a profile: small JSON at once, anything else in a process of its own."""

import io

import msgspec

from profet.errors import InputError
from profet.profiles.formats import Reading, ReadOptions, read_document, read_stream
from profet.profiles.formats.json_documents import looks_like_json
from profet.web.beside import work_beside
from profet.web.bodies import SMALL_BYTES, Upload
from profet.web.hard_work import ReadQuestion
from profet.web.service import Service

_TRACE_KEYS = frozenset(("traceEvents", "schemaVersion"))


async def read_upload(service: Service, upload: Upload | None, options: ReadOptions) -> Reading:
    """Read an uploaded profile in any format that the command line reads; nothing of it stays on disk.

    Raises:
        InputError: there is none, or see read_file.
        RefusedError: reading it takes more time or memory than a request has.
    """
    if upload is None:
        raise InputError("profile: is missing; give a profile, a trace or another file that profet convert reads")
    reading = await _reading(service, upload, options)
    count, most = len(reading.profile.device_us) + len(reading.profile.host_us), service.settings.limits.operations
    if count > most:
        raise InputError(f"{upload.name}: {count} operations; at most {most} are read here, leave out the shortest")
    return reading


async def _reading(service: Service, upload: Upload, options: ReadOptions) -> Reading:
    if upload.content is None:
        if not _is_trace(upload.document):
            return read_document(upload.document, upload.name, options)
        content = msgspec.json.encode(upload.document)
    else:
        content = upload.content
        if len(content) <= SMALL_BYTES and looks_like_json(content):
            return read_stream(io.BytesIO(content), upload.name, options)
    found = await work_beside(service, ReadQuestion(upload.name, options), content)
    if found.reading is None:
        raise InputError(f"{upload.name}: holds no profile")
    return found.reading


def _is_trace(document: object) -> bool:
    if isinstance(document, dict):
        return not _TRACE_KEYS.isdisjoint(document)
    return isinstance(document, list) and bool(document) and isinstance(document[0], dict) and "ph" in document[0]
