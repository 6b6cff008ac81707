"""A bundle's file: one zip of JSON and arrays whose last 64 bytes are the SHA-256 sum of all before them."""

import hashlib
import io
import json
import zipfile
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from profet.errors import BundleError

Arrays = dict[str, npt.NDArray[Any]]

MAX_FILE_BYTES = 256 * 1024 * 1024
_MAX_UNPACKED_BYTES = 2 * 1024**3
_MANIFEST = "manifest.json"
_SUM_CHARACTERS = 64
_EPOCH = (1980, 1, 1, 0, 0, 0)
_BROKEN = (KeyError, ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)


def pack(manifest: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the bytes of an archive; the same content gives the same bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        _add(archive, _MANIFEST, json.dumps(manifest, indent=1, sort_keys=True, ensure_ascii=False).encode())
        for name in sorted(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            _add(archive, f"{name}.npy", member.getvalue())
        archive.comment = b"0" * _SUM_CHARACTERS
    body = stream.getvalue()[:-_SUM_CHARACTERS]
    return body + hashlib.sha256(body).hexdigest().encode()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED, compresslevel=9)


class Archive:
    """An archive that was checked as a whole; its arrays are read when they are asked for.

    Attributes:
        sha256: of all that it holds.

    Raises:
        BundleError: truncated, changed by as much as a bit, not a bundle, or unpacking to too much.
    """

    def __init__(self, content: bytes, where: str):
        self._where = where
        self.sha256 = content[-_SUM_CHARACTERS:].decode("ascii", "replace")
        body, sum_ = content[:-_SUM_CHARACTERS], content[-_SUM_CHARACTERS:]
        if not content.startswith(b"PK"):
            raise BundleError(f"{where}: not a bundle; profet train makes one")
        if hashlib.sha256(body).hexdigest().encode() != sum_:
            raise BundleError(f"{where}: damaged or truncated (its checksum does not fit); get or train it again")
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
            if sum(member.file_size for member in self._archive.infolist()) > _MAX_UNPACKED_BYTES:
                raise BundleError(f"{where}: unpacks to more than any bundle; refused")
            self.manifest = json.loads(self._archive.read(_MANIFEST))
        except (*_BROKEN, RecursionError) as error:
            raise BundleError(f"{where}: not a bundle ({error}); profet train makes one") from None
        if not isinstance(self.manifest, dict):
            raise BundleError(f"{where}: not a bundle (no manifest); profet train makes one")

    def arrays(self, prefix: str) -> Arrays:
        """Return the arrays whose names start with prefix, without it.

        Raises:
            BundleError: one of them is not an array of numbers.
        """
        found: Arrays = {}
        try:
            for name in self._archive.namelist():
                if name.startswith(prefix) and name.endswith(".npy"):
                    member = io.BytesIO(self._archive.read(name))
                    found[name.removeprefix(prefix).removesuffix(".npy")] = np.lib.format.read_array(
                        member, allow_pickle=False
                    )
        except _BROKEN as error:
            raise BundleError(f"{self._where}: {prefix} cannot be read ({error}); train it again") from None
        return found
