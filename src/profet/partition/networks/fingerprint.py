"""Fingerprints of network files, weights that lie beside them included."""

import hashlib
from collections.abc import Iterable
from pathlib import Path


def file_sha256(path: Path, beside: Iterable[Path] = ()) -> str:
    """Return the SHA-256 of a file's content, or of its content and that of files beside it, in their order.

    Raises:
        OSError: one of them cannot be read.
    """
    digests = [_digest(path), *map(_digest, beside)]
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
