"""The file of a catalogue: sources, GPUs and instances as JSON, one record a line."""

from collections.abc import Iterable
from importlib import resources
from pathlib import Path

import msgspec

from profet.errors import InputError, OutputError
from profet.files import read_bounded, write_whole
from profet.instances.instance import Gpu, Instance, last_day

SCHEMA = "profet/instances/1"
_KIND, _, _VERSION = SCHEMA.rpartition("/")
_SHIPPED = "instances.json"
_MAX_BYTES = 256 * 2**20


class Source(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where facts of a catalogue are from.

    Args:
        name: what records call it.
        what: what it is, in words.
        where: its public place, with the version that was read; None where it has none.
        licence: its SPDX identifier; None where none was found.
        date: day, month or year of what was read; None where unknown.
    """

    name: str
    what: str
    where: str | None = None
    licence: str | None = None
    date: str | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a source has no name")
        if self.date is not None:
            last_day(self.date)


class CatalogueFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one file holds.

    Args:
        schema: its kind and version.
        sources: what records name as their source; what is typed in has none.
        gpus: each name once.
        instances: each name once.
    """

    schema: str = SCHEMA
    sources: tuple[Source, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    instances: tuple[Instance, ...] = ()

    def __post_init__(self) -> None:
        for kind, names in (
            ("source", [source.name for source in self.sources]),
            ("GPU", [gpu.name for gpu in self.gpus]),
            ("instance", [instance.name for instance in self.instances]),
        ):
            twice = _first_twice(names)
            if twice is not None:
                raise ValueError(f"{kind} {twice[:80]} stands twice; keep one of them")

    def to_json(self) -> bytes:
        """Return the file's content: one record a line, so that it can be read and compared."""
        parts = [b'{\n"schema": ' + msgspec.json.encode(self.schema)]
        for name, records in (("sources", self.sources), ("gpus", self.gpus), ("instances", self.instances)):
            parts.append(b'"' + name.encode() + b'": [' + _lines(records) + b"]")
        return b",\n".join(parts) + b"\n}\n"

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write it, whole or not at all.

        Raises:
            OutputError: it cannot be written, or could not be read again for its size.
        """
        content = self.to_json()
        if len(content) > _MAX_BYTES:
            raise OutputError(f"{path}: would be larger than {_MAX_BYTES // 2**20} MiB; keep fewer regions")
        write_whole(path, content, force)


class _Header(msgspec.Struct):
    schema: str


def read_catalogue_file(path: str | Path) -> CatalogueFile:
    """Read a catalogue, for example the user's own.

    Raises:
        InputError: not readable, not a catalogue, of a newer version, or with values that cannot be.
    """
    return _decode(read_bounded(path, _MAX_BYTES, "catalogue"), str(path))


def shipped_catalogue_file() -> CatalogueFile:
    """Return the catalogue that ships with the package."""
    return _decode((resources.files("profet") / "data" / _SHIPPED).read_bytes(), _SHIPPED)


def _decode(content: bytes, where: str) -> CatalogueFile:
    try:
        content = content.removeprefix(b"\xef\xbb\xbf")
        schema = msgspec.json.decode(content, type=_Header).schema
        kind, _, version = schema.rpartition("/")
        if kind == _KIND and version.isdecimal() and int(version[:9]) > int(_VERSION):
            raise InputError(f"{where}: its schema {schema[:80]} is newer than {SCHEMA}; update Profet to read it")
        if schema != SCHEMA:
            raise ValueError(f"its schema is {schema[:80]!r}, not {SCHEMA}")
        return msgspec.json.decode(content, type=CatalogueFile)
    except (msgspec.DecodeError, ValueError) as error:
        text = f"{where}: not a catalogue of instances ({error}); mend it, or move it away and start anew"
        raise InputError(text) from None
    except RecursionError:
        raise InputError(f"{where}: not a catalogue of instances (nested too deeply)") from None


def _lines(records: Iterable[msgspec.Struct]) -> bytes:
    lines = [b"\n" + msgspec.json.format(msgspec.json.encode(record), indent=0) for record in records]
    return b",".join(lines) + b"\n" if lines else b""


def _first_twice(names: list[str]) -> str | None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None
