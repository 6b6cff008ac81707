"""From what was uploaded to a performance table: JSON at once, the original's pickles in a process of its own."""

import asyncio
from pathlib import PurePath

import msgspec

from profet.errors import InputError
from profet.partition.tables import PerformanceTable, decode_table
from profet.web.beside import work_beside
from profet.web.bodies import SMALL_BYTES, Upload, parsed
from profet.web.hard_work import TableQuestion
from profet.web.service import Service

_PICKLE = b"\x80"
_ENDINGS = (".pkl", ".pickle", ".bin")


async def read_table(service: Service, upload: Upload | None) -> PerformanceTable:
    """Read an uploaded table, ours or the original's; nothing of it stays on disk, nothing in it is executed.

    Raises:
        InputError: there is none, or see decode_table and import_original.
        RefusedError: it is too large, or reading it takes more time or memory than a request has.
    """
    if upload is None:
        raise InputError("table: is missing; give a table that profet partition measure or import wrote")
    content = upload.content
    if content is not None and content.startswith(_PICKLE):
        found = await work_beside(service, TableQuestion(upload.name, _network(upload.name)), content)
        if found.table is None:
            raise InputError(f"{upload.name}: holds no table")
        return found.table
    document = upload.document if content is None else await parsed(service, content, upload.name)
    again = msgspec.json.encode(document)
    if len(again) <= SMALL_BYTES:
        return decode_table(again, upload.name)
    return await asyncio.to_thread(decode_table, again, upload.name)


def _network(name: str) -> str:
    """Return what a file of the original is named after: the network that it does not tell itself.

    >>> _network("table_squeezenet_v1.0"), _network("vgg-16.pkl")
    ('squeezenet_v1.0', 'vgg-16')
    """
    path = PurePath(name)
    plain = path.stem if path.suffix in _ENDINGS else path.name
    return plain.removeprefix("table_") or "unnamed"
