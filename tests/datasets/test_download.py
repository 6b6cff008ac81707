"""Fetching published files: right ones are kept, wrong ones never, and every refusal is told."""

from pathlib import Path

import pytest

from profet.datasets.download import Published, fetch
from profet.errors import InputError, OutputError
from tests.datasets.published_server import CONTENT, FILE, SHA256, Server


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_files_are_fetched_into_the_same_tree(server: Server, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int | None]] = []
    files = [FILE, Published("b.json", SHA256)]
    paths = fetch(files, tmp_path / "out", server.url, lambda *progress: seen.append(progress))
    assert paths == [tmp_path / "out" / "data" / "a.pickle", tmp_path / "out" / "b.json"]
    assert [path.read_bytes() for path in paths] == [CONTENT, CONTENT]
    assert left_in(tmp_path / "out") == ["b.json", "data/a.pickle"]
    assert seen[-1] == ("b.json", len(CONTENT), len(CONTENT))


@pytest.mark.parametrize("slash", ["", "/"])
def test_the_base_url_may_end_with_a_slash_or_not(server: Server, tmp_path: Path, slash: str) -> None:
    fetch([FILE], tmp_path, server.url + "base" + slash)
    assert server.paths == ["/base/data/a.pickle"]


def test_wrong_bytes_are_thrown_away(server: Server, tmp_path: Path) -> None:
    server.content = CONTENT[:-1] + b"x"
    with pytest.raises(InputError, match="SHA-256 sum is not the published one, so it was thrown away"):
        fetch([FILE], tmp_path, server.url)
    assert left_in(tmp_path) == []


def test_a_right_file_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    fetch([FILE], tmp_path, server.url)
    fetch([FILE, Published("b.json", SHA256)], tmp_path, server.url)
    assert server.paths == ["/data/a.pickle", "/b.json"]


def test_a_file_of_other_content_is_refused_and_kept(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.pickle").write_bytes(b"mine")
    with pytest.raises(OutputError, match=r"a\.pickle: exists with other content than published"):
        fetch([FILE], tmp_path, server.url)
    assert (tmp_path / "data" / "a.pickle").read_bytes() == b"mine"
    assert server.paths == []


@pytest.mark.parametrize("status", [400, 403, 404, 410])
def test_a_file_that_the_server_does_not_give_is_refused_at_once(
    server: Server, tmp_path: Path, status: int
) -> None:
    server.statuses = [status] * 9
    with pytest.raises(InputError, match=f"the server answers {status}; check --base-url"):
        fetch([FILE], tmp_path, server.url)
    assert len(server.paths) == 1
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_server_that_fails_once_is_asked_again(server: Server, tmp_path: Path, status: int) -> None:
    server.statuses = [status]
    fetch([FILE], tmp_path, server.url)
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT
    assert len(server.paths) == 2


def test_a_server_that_always_fails_is_given_up(server: Server, tmp_path: Path) -> None:
    server.statuses = [500] * 50
    with pytest.raises(InputError, match="could not be fetched"):
        fetch([FILE], tmp_path, server.url)
    assert 1 < len(server.paths) < 10


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_followed(server: Server, tmp_path: Path, status: int) -> None:
    server.statuses = [status]
    fetch([FILE], tmp_path, server.url)
    assert server.paths == ["/data/a.pickle", "/moved/data/a.pickle"]
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT


def test_redirects_without_end_are_given_up(server: Server, tmp_path: Path) -> None:
    server.statuses = [302] * 500
    with pytest.raises(InputError, match="could not be fetched"):
        fetch([FILE], tmp_path, server.url)


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    "url",
    ["ftp://127.0.0.1/", "no-url", "http://", "http://[::1", "http://127.0.0.1:99999/", "http://a b/", "file:///"],
)
def test_what_is_no_url_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError):
        fetch([FILE], tmp_path, url)
    assert left_in(tmp_path) == []


def test_a_server_that_is_not_there_is_told(server: Server, tmp_path: Path) -> None:
    url = server.url
    server.server_close()
    with pytest.raises(InputError, match="could not be fetched"):
        fetch([FILE], tmp_path, url)


def test_an_output_folder_that_is_a_file_is_refused(server: Server, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x")
    with pytest.raises(OutputError, match="could not be written"):
        fetch([FILE], tmp_path / "out", server.url)
