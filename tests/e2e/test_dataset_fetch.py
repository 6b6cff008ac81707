"""``profet dataset fetch``: from a server on this machine; what has another sum is never kept."""

import functools
import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run, document, refused

DIRECT = {**os.environ, "NO_PROXY": "*", "no_proxy": "*"}
FILES = {"data/one.bin": b"one" * 1000, "data/two/two words.bin": b"two" * 300_000}
Fetch = Callable[..., Any]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the URL where it is served."""
    folder = tmp_path / "served"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    server = HTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield folder, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sums_of(folder: Path, names: list[str], path: Path) -> Path:
    lines = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names]
    path.write_text("# as sha256sum writes them\n" + "".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def fetch(profet: Run, served: tuple[Path, str], tmp_path: Path) -> Fetch:
    sums = sums_of(served[0], list(FILES), tmp_path / "sums")

    def run(*options: object) -> Any:
        usual = ("-o", tmp_path / "fetched", "--base-url", served[1], "--sums", sums)
        return profet("dataset", "fetch", "profet", *usual, *options, env=DIRECT)

    return run


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_fetched_tree_is_the_published_one(fetch: Fetch, tmp_path: Path) -> None:
    told = fetch()
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout == f"2 files are in {tmp_path / 'fetched'}, all with the published sums\n"
    assert files_in(tmp_path / "fetched") == FILES


def test_second_fetch_asks_for_what_is_missing_only(fetch: Fetch, served: tuple[Path, str], tmp_path: Path) -> None:
    assert fetch().returncode == 0
    (tmp_path / "fetched" / "data" / "one.bin").unlink()
    (served[0] / "data" / "two" / "two words.bin").unlink()
    assert fetch().returncode == 0
    assert files_in(tmp_path / "fetched") == FILES


@pytest.mark.parametrize("part", [b"on", b"nonsense that an earlier fetch left", FILES["data/one.bin"]])
def test_half_a_file_is_made_whole(fetch: Fetch, tmp_path: Path, part: bytes) -> None:
    folder = tmp_path / "fetched" / "data"
    folder.mkdir(parents=True)
    (folder / "one.bin.part").write_bytes(part)
    assert fetch().returncode == 0
    assert files_in(tmp_path / "fetched") == FILES


def test_other_bytes_than_published_are_thrown_away(fetch: Fetch, served: tuple[Path, str], tmp_path: Path) -> None:
    (served[0] / "data" / "one.bin").write_bytes(b"one" * 999 + b"two")
    refused(fetch(), "data/one.bin", "SHA-256")
    assert files_in(tmp_path / "fetched") == {}


def test_file_that_was_there_before_is_never_replaced(fetch: Fetch, tmp_path: Path) -> None:
    mine = tmp_path / "fetched" / "data" / "one.bin"
    mine.parent.mkdir(parents=True)
    mine.write_bytes(b"mine")
    refused(fetch(), str(mine), "move it away")
    assert mine.read_bytes() == b"mine"


def test_missing_file_on_the_server_is_named(fetch: Fetch, served: tuple[Path, str], tmp_path: Path) -> None:
    (served[0] / "data" / "one.bin").unlink()
    refused(fetch(), "data/one.bin", "404")
    assert files_in(tmp_path / "fetched") == {}


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "nonsense", "http://[::1"])
def test_address_that_is_none_is_named(fetch: Fetch, url: str) -> None:
    refused(fetch("--base-url", url), url, "--base-url")


@pytest.mark.parametrize("line", ["../x", "/etc/x", "a/../../x", "a\\..\\x"])
def test_list_that_leads_out_of_the_folder_is_refused(fetch: Fetch, tmp_path: Path, line: str) -> None:
    sums = tmp_path / "bad-sums"
    sums.write_text(f"{'0' * 64}  {line}\n", encoding="utf-8")
    refused(fetch("--sums", sums), str(sums), "line 1")
    assert not (tmp_path / "fetched").exists()


def test_list_that_is_none_is_refused(fetch: Fetch, tmp_path: Path) -> None:
    sums = tmp_path / "bad-sums"
    sums.write_text("hello\n", encoding="utf-8")
    refused(fetch("--sums", sums), str(sums), "line 1")


def test_public_data_is_fetched_as_a_tree_that_imports(
    profet: Run, served: tuple[Path, str], public_profet: Path, tmp_path: Path
) -> None:
    folder, url = served
    (folder / "public").mkdir()
    (folder / "public" / "data").symlink_to(public_profet, target_is_directory=True)
    names = [str(path.relative_to(public_profet)) for path in public_profet.glob("*/*.pickle")]
    sums = sums_of(folder / "public", [f"data/{name}" for name in names], tmp_path / "sums")
    fetched = tmp_path / "fetched"
    options = ("-o", fetched, "--base-url", f"{url}public", "--sums", sums)
    assert profet("dataset", "fetch", "profet", *options, env=DIRECT).returncode == 0
    facts = document(profet("dataset", "import", "profet", fetched, "-o", tmp_path / "out.dataset", "--json"))
    assert facts["runs"] == 9576
