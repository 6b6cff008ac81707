"""Files in and out: bounded reading, and writing that is whole or not at all."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from profet.errors import InputError, OutputError

STDIN = "-"
_MIB = 1024 * 1024


def reason(error: OSError) -> str:
    """Say in a few words why the operating system refused."""
    return error.strerror or type(error).__name__


@contextlib.contextmanager
def opened(path: str | Path, what: str = "file") -> Iterator[BinaryIO]:
    """Open a file for reading, or standard input for ``-``; what cannot be read is told in one line.

    Raises:
        InputError: missing, not a file, or not readable.
    """
    try:
        stream = _stdin() if str(path) == STDIN else Path(path).open("rb")  # noqa: SIM115 - closed below
    except IsADirectoryError:
        raise InputError(f"{path}: is a directory; give the {what} itself") from None
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        text = reason(error) if isinstance(error, OSError) else str(error)
        raise InputError(f"{path}: cannot be read ({text})") from None
    try:
        yield stream
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({reason(error)})") from None
    finally:
        if str(path) != STDIN:
            stream.close()


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise InputError("standard input: closed; give a file")
    return sys.stdin.buffer


def read_bounded(path: str | Path, max_bytes: int, what: str = "file") -> bytes:
    """Read a whole file, or standard input for ``-``, refusing more than max_bytes before it is read.

    Raises:
        InputError: see opened; or it is empty, or too large.
    """
    with opened(path, what) as stream:
        size = 0 if str(path) == STDIN else os.fstat(stream.fileno()).st_size
        content = stream.read(max_bytes + 1) if size <= max_bytes else None
    if content is None or len(content) > max_bytes:
        raise too_large(path, max_bytes, what)
    if not content.strip():
        raise InputError(f"{path}: empty; give the {what} with something in it")
    return content


def too_large(path: str | Path, max_bytes: int, what: str) -> InputError:
    """Say that a file is larger than what it is taken for can be."""
    return InputError(f"{path}: larger than {max_bytes // _MIB} MiB, which no {what} is; is it the right file?")


def check_output(path: str | Path, force: bool) -> Path:
    """Refuse an output that would overwrite something, before any work is done for it.

    Raises:
        OutputError: it exists and force is not given, is not a regular file, or its folder is missing.
    """
    output = Path(path)
    if str(path) == STDIN:
        raise OutputError("-: output goes to a file; name it")
    if "\0" in str(path):
        raise OutputError(f"{str(path)[:200]!r}: not a usable file name")
    try:
        if output.is_dir():
            raise OutputError(f"{output}: is a directory; name a file")
        if output.exists() and not output.is_file():
            raise OutputError(f"{output}: not a regular file; name another output")
        if output.exists() and not force:
            raise OutputError(f"{output}: exists; use --force to overwrite it")
        if not output.parent.is_dir():
            raise OutputError(f"{output}: its folder {output.parent} does not exist; make it first")
    except (OSError, ValueError) as error:
        raise OutputError(f"{str(output)[:200]!r}: not a usable file name ({error})") from None
    return output


@contextlib.contextmanager
def whole_file(path: str | Path, force: bool = False) -> Iterator[BinaryIO]:
    """Open a stream whose bytes appear at path only once all of them are safely on disk.

    Raises:
        OutputError: see check_output; or the disk refused (full, read-only, over quota).
    """
    output = check_output(path, force)
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{output.name[:100]}.", suffix=".part", dir=output.parent)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        _publish(Path(temporary), output)
        temporary = None
    except OSError as error:
        raise OutputError(f"{output}: could not be written ({reason(error)}); nothing was left there") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def _publish(temporary: Path, output: Path) -> None:
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    temporary.replace(output)


def write_whole(path: str | Path, content: bytes, force: bool = False) -> None:
    """Write content to path, whole or not at all.

    Raises:
        OutputError: see whole_file.
    """
    with whole_file(path, force) as stream:
        stream.write(content)
