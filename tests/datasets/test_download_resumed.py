"""Fetching that was broken off: what came is kept and continued, unless it was something else."""

from pathlib import Path

import pytest

from profet.datasets.download import fetch
from profet.errors import InputError
from tests.datasets.published_server import CONTENT, FILE, Server


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def part_of(folder: Path, content: bytes) -> Path:
    part = folder / "data" / "a.pickle.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(content)
    return part


def test_a_connection_that_is_cut_is_continued_where_it_ended(server: Server, tmp_path: Path) -> None:
    server.cut_after = [100_000, 70_000]
    seen: list[int] = []
    fetch([FILE], tmp_path, server.url, lambda _, done, __: seen.append(done))
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT
    assert server.ranges == [None, "bytes=100000-", "bytes=170000-"]
    assert seen == sorted(seen)


def test_a_fetch_that_was_broken_off_is_continued_by_the_next(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path, CONTENT[:123_456])
    fetch([FILE], tmp_path, server.url)
    assert server.ranges == ["bytes=123456-"]
    assert left_in(tmp_path) == ["data/a.pickle"]
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT


def test_a_server_that_cannot_continue_is_read_from_the_start(server: Server, tmp_path: Path) -> None:
    server.honours_range = False
    part_of(tmp_path, CONTENT[:1000])
    fetch([FILE], tmp_path, server.url)
    assert server.ranges == ["bytes=1000-"]
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT


def test_a_connection_that_is_cut_again_and_again_is_given_up_and_what_came_is_kept(
    server: Server, tmp_path: Path
) -> None:
    server.cut_after = [50_000, *[0] * 20]
    with pytest.raises(InputError, match=r"could not be fetched .* the same command continues there"):
        fetch([FILE], tmp_path, server.url)
    assert (tmp_path / "data" / "a.pickle.part").read_bytes() == CONTENT[:50_000]
    server.cut_after = []
    fetch([FILE], tmp_path, server.url)
    assert server.ranges[-1] == "bytes=50000-"
    assert left_in(tmp_path) == ["data/a.pickle"]


@pytest.mark.parametrize("wrong", [b"x" * 1000, CONTENT + b"too much", CONTENT[:-1] + b"x"])
def test_a_stale_part_of_something_else_is_recovered_from(server: Server, tmp_path: Path, wrong: bytes) -> None:
    part_of(tmp_path, wrong)
    fetch([FILE], tmp_path, server.url)
    assert (tmp_path / "data" / "a.pickle").read_bytes() == CONTENT
    assert server.ranges == [f"bytes={len(wrong)}-", None]
    assert left_in(tmp_path) == ["data/a.pickle"]


def test_a_part_that_is_whole_already_is_kept(server: Server, tmp_path: Path) -> None:
    part_of(tmp_path, CONTENT)
    fetch([FILE], tmp_path, server.url)
    assert left_in(tmp_path) == ["data/a.pickle"]
    assert server.ranges == [f"bytes={len(CONTENT)}-"]
