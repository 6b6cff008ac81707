"""Where a profile's bytes come from: a file or standard input, compressed or not, in blocks or whole."""

import contextlib
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from profet.errors import InputError
from profet.files import STDIN, opened, too_large

_HEAD_BYTES = 64 * 1024
_BLOCK_BYTES = 1024 * 1024
_COMPRESSED_BYTES = 64 * 1024
_MAX_COPY_BYTES = 2047 * 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_GZIP_WINDOW = 31
_LEAST_MEMBER_BYTES = 256
_MAX_SMALL_MEMBERS = 10_000


class Source:
    """One input, read once from its start.

    Args:
        stream: of its bytes.
        where: what errors call it.
        path: the file that it is; None where its bytes are no file as they stand (standard input, compressed).

    Attributes:
        head: its first bytes, decompressed; they are read again with the rest.
        cut_off: what ended it early, such as ``"its compression ends early"``; None while nothing did.
    """

    def __init__(self, stream: BinaryIO, where: str, path: Path | None = None) -> None:
        self.where = where
        self.cut_off: str | None = None
        self._stream = stream
        self._first = stream.read(_HEAD_BYTES)
        self.compressed = self._first.startswith(_GZIP_MAGIC)
        self.path = None if self.compressed else path
        self._blocks = self._decompressed() if self.compressed else self._raw()
        self._pending: list[bytes] = []
        self.head = b""
        for block in self._blocks:
            self._pending.append(block)
            self.head += block[: _HEAD_BYTES - len(self.head)]
            if len(self.head) >= _HEAD_BYTES:
                break

    def blocks(self) -> Iterator[bytes]:
        """Yield its bytes, decompressed, in pieces of at most about a mebibyte."""
        pending, self._pending = self._pending, []
        yield from pending
        yield from self._blocks

    def read(self, max_bytes: int, what: str) -> bytes:
        """Return all its bytes, decompressed.

        Raises:
            InputError: more than max_bytes, none, or its compression is damaged.
        """
        pieces, size = [], 0
        for block in self.blocks():
            size += len(block)
            if size > max_bytes:
                raise too_large(self.where, max_bytes, what)
            pieces.append(block)
        if self.cut_off is not None:
            raise InputError(f"{self.where}: {self.cut_off}; copy the file again")
        content = b"".join(pieces)
        if not content.strip():
            raise InputError(f"{self.where}: empty; give a {what} with something in it")
        return content

    @contextlib.contextmanager
    def as_file(self, what: str) -> Iterator[Path]:
        """Give a file with its bytes, decompressed: itself where it is one, else a temporary one.

        Raises:
            InputError: its compression is damaged, or there is no room for the file.
        """
        if self.path is not None:
            yield self.path
            return
        with tempfile.NamedTemporaryFile(suffix=f".{what}") as copy:
            for block in self.blocks():
                copy.write(block)
                if copy.tell() > _MAX_COPY_BYTES:
                    raise too_large(self.where, _MAX_COPY_BYTES, what)
            copy.flush()
            if self.cut_off is not None:
                raise InputError(f"{self.where}: {self.cut_off}; copy the file again")
            yield Path(copy.name)

    def _raw(self) -> Iterator[bytes]:
        block, self._first = self._first, b""
        while block:
            yield block
            block = self._stream.read(_BLOCK_BYTES)

    def _decompressed(self) -> Iterator[bytes]:
        """Decompress one gzip member after another; what cannot be is told in cut_off."""
        raw, self._first = self._first, b""
        member, size, small = zlib.decompressobj(_GZIP_WINDOW), 0, 0
        try:
            while raw:
                before = member.copy()
                block = member.decompress(raw, _BLOCK_BYTES)
                size += len(block)
                if block:
                    yield block
                raw = member.unused_data.lstrip(b"\0") if member.eof else member.unconsumed_tail
                raw = raw or self._stream.read(_COMPRESSED_BYTES)
                if member.eof and raw:
                    small += size < _LEAST_MEMBER_BYTES
                    member, size = zlib.decompressobj(_GZIP_WINDOW), 0
                if small > _MAX_SMALL_MEMBERS:
                    self.cut_off = "its compression is damaged (thousands of pieces with nothing in them)"
                    return
            if not member.eof:
                self.cut_off = "its compression ends early"
        except zlib.error as error:
            self.cut_off = f"its compression is damaged ({str(error)[:80]})"
            with contextlib.suppress(zlib.error):  # what stands before the damage
                for place in range(len(raw)):
                    yield before.decompress(raw[place : place + 1])


@contextlib.contextmanager
def open_source(path: str | Path) -> Iterator[Source]:
    """Open a file, or standard input for ``-``.

    Raises:
        InputError: see profet.files.opened; or it is empty.
    """
    is_stdin = str(path) == STDIN
    with opened(path, "profile") as stream:
        where = "standard input" if is_stdin else str(path)
        yield checked_source(stream, where, None if is_stdin else Path(path))


def checked_source(stream: BinaryIO, where: str, path: Path | None = None) -> Source:
    """Return a source that has something in it; see Source.

    Raises:
        InputError: it is empty, or its compression is damaged at once.
    """
    source = Source(stream, where, path)
    if not source.head and source.cut_off is not None:
        raise InputError(f"{where}: {source.cut_off}, with nothing before; copy the file again")
    if not source.head.strip() and len(source.head) < _HEAD_BYTES:
        raise InputError(f"{where}: empty; give a profile with something in it")
    return source
