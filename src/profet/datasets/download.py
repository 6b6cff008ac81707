"""Fetches published files over HTTP: resumable, and kept only when their SHA-256 sum is right."""

import hashlib
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path, PurePosixPath

import httpx

from profet.errors import InputError, OutputError
from profet.files import read_bounded, reason

PROFET_BASE_URL = "https://raw.githubusercontent.com/ddps-lab/profet/e69477fe6ea4e9ff61a78fdbecebb8e9da50229a/"
"""The public repository at the commit whose sums the package carries."""

_LINE = re.compile(r"(?P<sha256>[0-9a-f]{64})[ \t]+\*?(?P<path>\S.*?)\s*", re.IGNORECASE)
_ATTEMPTS = 4
_TIMEOUT_S = 30.0
_PAUSE_S = 0.5
_WORTH_ANOTHER_TRY = (429, 500, 502, 503, 504)
_MAX_FILE_BYTES = 2 * 1024**3
_MAX_SUMS_BYTES = 1024 * 1024

Report = Callable[[str, int, int | None], None]
"""Called with the file's path, the bytes there so far, and the bytes in all where known."""


@dataclass(frozen=True)
class Published:
    """A file to fetch: its path below the base URL and below the output folder, and its SHA-256 sum."""

    path: str
    sha256: str


def published_files(sums: str | Path | None = None) -> list[Published]:
    """Read a list of files in the form of ``sha256sum``; the package's list for PROFET unless one is given.

    Raises:
        InputError: a line that is not a sum and a path, or a path that leads out of the folder.
    """
    if sums is None:
        text = (resources.files("profet") / "data" / "profet_published.sha256").read_text(encoding="utf-8")
    else:
        text = read_bounded(sums, _MAX_SUMS_BYTES, "list of sums").decode("utf-8", "replace")
    files = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise InputError(f"{sums}: line {number} is not a SHA-256 sum, two spaces and a path")
        path = PurePosixPath(match["path"])
        if path.is_absolute() or ".." in path.parts or "\\" in match["path"]:
            raise InputError(f"{sums}: line {number} leads out of the output folder ({match['path'][:60]})")
        files.append(Published(str(path), match["sha256"].lower()))
    return files


def fetch(
    files: list[Published], folder: str | Path, base_url: str = PROFET_BASE_URL, report: Report | None = None
) -> list[Path]:
    """Fetch files into a folder as a tree; what is there and right is kept, what is half there is continued.

    Returns:
        Their paths, in the order given.

    Raises:
        InputError: the server refuses, keeps cutting the connection, or serves other bytes than published.
        OutputError: the disk refuses, or another file is in the way.
    """
    paths = []
    try:
        client = httpx.Client(timeout=_TIMEOUT_S, follow_redirects=True)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        raise InputError(
            f"the environment's proxy or certificate settings cannot be used ({error}); mend them"
        ) from None
    with client:
        for file in files:
            output = Path(folder) / file.path
            try:
                _fetch_one(client, base_url.rstrip("/") + "/" + file.path, file, output, report)
            except OSError as error:
                raise OutputError(f"{output}: could not be written ({reason(error)})") from None
            paths.append(output)
    return paths


def _fetch_one(client: httpx.Client, url: str, file: Published, output: Path, report: Report | None) -> None:
    if output.exists():
        if _sha256(output) != file.sha256:
            raise OutputError(f"{output}: exists with other content than published; move it away, then fetch again")
        return
    part = output.with_name(output.name + ".part")
    resumed = _size(part) > 0
    _receive_all(client, url, part, lambda done, total: report(file.path, done, total) if report else None)
    if (
        _sha256(part) != file.sha256 and resumed
    ):  # what an earlier run left may have been wrong: once more from zero
        part.unlink()
        _receive_all(client, url, part, lambda done, total: report(file.path, done, total) if report else None)
    if _sha256(part) != file.sha256:
        part.unlink()
        raise InputError(
            f"{url}: its SHA-256 sum is not the published one, so it was thrown away; check --base-url"
        )
    part.replace(output)


def _receive_all(client: httpx.Client, url: str, part: Path, report: Callable[[int, int | None], None]) -> None:
    """Receive until nothing is missing; give up after several attempts in a row that brought nothing."""
    fruitless = 0
    while True:
        before = _size(part)
        try:
            _receive(client, url, part, report)
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise InputError(f"{url[:200]}: not a URL ({error}); check --base-url") from None
        except httpx.HTTPError as error:
            fruitless = fruitless + 1 if _size(part) <= before else 0
            if fruitless == _ATTEMPTS:
                raise InputError(
                    f"{url}: could not be fetched ({error or 'connection lost'}); what came is kept,"
                    " the same command continues there"
                ) from None
            time.sleep(fruitless * _PAUSE_S)
        else:
            return


def _receive(client: httpx.Client, url: str, part: Path, report: Callable[[int, int | None], None]) -> None:
    """Append to part what is missing; start anew where the server cannot continue."""
    have = _size(part)
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={have}-"} if have else {})}
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            return  # all of it is there; the sum decides
        if response.status_code in _WORTH_ANOTHER_TRY:
            response.raise_for_status()
        if response.status_code >= httpx.codes.BAD_REQUEST:
            raise InputError(f"{url}: the server answers {response.status_code}; check --base-url")
        continues = response.status_code == httpx.codes.PARTIAL_CONTENT and _starts_at(response, have)
        done = have if continues else 0
        length = response.headers.get("Content-Length", "")
        total = done + int(length) if length.isdigit() else None
        part.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab" if continues else "wb") as stream:
            for chunk in response.iter_raw():
                stream.write(chunk)
                done += len(chunk)
                if done > _MAX_FILE_BYTES:
                    raise InputError(f"{url}: larger than any published file; check --base-url")
                report(done, total)


def _starts_at(response: httpx.Response, have: int) -> bool:
    return str(response.headers.get("Content-Range", "")).startswith(f"bytes {have}-")


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(1024 * 1024):
            digest.update(chunk)
    return digest.hexdigest()


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
