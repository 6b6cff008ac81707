"""Parsing JSON that may be anything: every failure is one line that says where."""

import codecs
import json
from typing import Any

from profet.errors import InputError

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(content: bytes, where: str, fallback: str | None = None) -> str:
    """Decode text as its byte order mark says, else as UTF-8, else as the fallback encoding.

    Raises:
        InputError: it is none of these.
    """
    encodings = [name for bom, name in _BOMS if content.startswith(bom)] or ["utf-8"]
    for encoding in (*encodings, *([fallback] if fallback else [])):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise InputError(f"{where}: not text in UTF-8; save it as UTF-8, or give the file that the profiler wrote")


def looks_like_json(content: bytes) -> bool:
    """Whether the first character opens a JSON list or object."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        content = content[2:].replace(b"\0", b"")
    return content.removeprefix(codecs.BOM_UTF8).lstrip()[:1] in (b"[", b"{")


def parse(content: bytes, where: str) -> Any:
    """Parse a JSON document; bare NaN and Infinity are kept as numbers, so that a reader can name their key.

    Raises:
        InputError: not JSON, a key twice in one object, or nested too deeply.
    """
    text = decode(content, where)
    try:
        document = json.loads(text, object_pairs_hook=lambda pairs: _unique(pairs, where))
        if "\\ud" in text.lower():  # an escape that may be half of a character, which no file can hold
            json.dumps(document, ensure_ascii=False).encode()
        return document
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON (line {error.lineno}, column {error.colno}: {error.msg})") from None
    except RecursionError:
        raise InputError(f"{where}: JSON nested too deeply for a profile") from None
    except UnicodeEncodeError:
        raise InputError(f"{where}: holds half of a character (a lone \\ud... escape); save it again") from None
    except ValueError as error:
        raise InputError(f"{where}: not usable JSON ({error})") from None


def _unique(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(f"{where}: key {twice[:60]!r} stands twice in one object; keep one of them")
    return document
