"""What a request says: fields with their types, and a file, as JSON or as a form with a file."""

import asyncio
import functools
import re
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePath
from typing import Any, TypeVar, get_origin

import msgspec
from fastapi import Request
from starlette.datastructures import FormData, UploadFile

from profet.errors import InputError
from profet.printable import one_line
from profet.profiles.formats.json_documents import parse
from profet.web.problems import RefusedError
from profet.web.service import Service, service_of

SMALL_BYTES = 64 * 1024
"""What takes so little time that it is done at once, not in a thread or process beside."""

_MAX_FIELDS = 64
_MAX_NAME = 100
_PLACE = re.compile(r"^(.*) - at `\$\.?(.*)`$")

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True)
class Upload:
    """A file as it came: a file's bytes, or a JSON document that is parsed already.

    Attributes:
        name: what errors call it.
        content: of the file; None for a document.
        document: None for a file.
    """

    name: str
    content: bytes | None
    document: object


async def received(request: Request, kind: type[T], file: str = "profile") -> tuple[T, Upload | None]:
    """Return the fields of a body, and the file in it; None where it has none.

    Args:
        request: whose body it is.
        kind: of the fields.
        file: the field that holds a file in a form, or the file's document in JSON.

    Raises:
        RefusedError: it is neither JSON nor a form, or damaged.
        InputError: a field that is unknown or of another type.
    """
    check_plain(request)
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type == "application/json" or media_type.endswith("+json"):
        return _of_json(await json_of(request), kind, file)
    if media_type in {"multipart/form-data", "application/x-www-form-urlencoded"}:
        async with request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=2**31) as form:
            return await _of_form(form, kind, file)
    raise RefusedError(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        f"Content-Type {media_type[:60]!r}: send application/json, or multipart/form-data with a file",
    )


def check_plain(request: Request) -> None:
    """Refuse a body that is compressed as a whole.

    Raises:
        RefusedError: it is.
    """
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.lower() != "identity":
        raise RefusedError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            f"Content-Encoding {encoding[:60]!r}: send the body as it is; only a file in a form may be gzipped",
        )


async def json_of(request: Request) -> Any:
    """Return the JSON document of a body.

    Raises:
        RefusedError: it is none: another encoding, a key twice in one object, nested too deeply; or too large.
    """
    try:
        return await parsed(service_of(request), await request.body(), "the body")
    except InputError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, str(error)) from None


async def parsed(service: Service, content: bytes, where: str) -> Any:
    """Return a JSON document.

    Raises:
        InputError: see json_documents.parse.
        RefusedError: it is too large.
    """
    most = service.settings.limits.json_bytes
    if len(content) > most:
        raise RefusedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"{where}: JSON of more than {most} bytes; send a profile that is larger as a file in a form",
        )
    if len(content) <= SMALL_BYTES:
        return parse(content, where)
    return await asyncio.to_thread(parse, content, where)


def converted(fields: object, kind: type[T], strict: bool = True) -> T:
    """Return fields with their types.

    Raises:
        InputError: one is unknown, is missing or does not fit; it is named.
    """
    try:
        return msgspec.convert(fields, kind, strict=strict)
    except msgspec.ValidationError as error:
        place = _PLACE.match(str(error))
        said = str(error) if place is None else f"{place[2]}: {place[1]}"
        raise InputError(said.replace("`", "'")) from None


def _of_json(document: Any, kind: type[T], file: str) -> tuple[T, Upload | None]:
    if not isinstance(document, dict):
        raise InputError("the body: expected a JSON object")
    upload = Upload(file, None, document.pop(file)) if file in document else None
    return converted(document, kind), upload


async def _of_form(form: FormData, kind: type[T], file: str) -> tuple[T, Upload | None]:
    fields: dict[str, Any] = {}
    upload = None
    for name in form:
        values = form.getlist(name)
        if name == file and len(values) == 1:
            upload = await _upload(values[0], file)
            continue
        texts = [value for value in values if isinstance(value, str)]
        if name == file:
            raise InputError(f"{name}: stands there {len(values)} times; keep one")
        if len(texts) < len(values):
            raise InputError(f"{name[:60]}: is a file; only the field {file!r} takes one")
        if texts := [text for text in texts if text]:  # what was left empty in a form is not said
            if len(texts) > 1 and name not in _repeated(kind):
                raise InputError(f"{name[:60]}: stands there {len(texts)} times; keep one")
            fields[name] = texts if name in _repeated(kind) else texts[0]
    return converted(fields, kind, strict=False), upload


async def _upload(value: str | UploadFile, file: str) -> Upload | None:
    if isinstance(value, str):
        return Upload(f"the pasted {file}", value.encode(), None) if value.strip() else None
    content = await value.read()
    name = one_line(PurePath(value.filename or "").name)[:_MAX_NAME]
    return Upload(name or "the file", content, None) if content or name else None


@functools.cache
def _repeated(kind: type[msgspec.Struct]) -> frozenset[str]:
    """Return the fields of which a form may hold several."""
    return frozenset(each.name for each in msgspec.structs.fields(kind) if get_origin(each.type) is list)
