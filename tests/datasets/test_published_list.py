"""The list of files to fetch, in the form of sha256sum: nothing in it leads out of the output folder."""

from pathlib import Path

import pytest

from profet.datasets.download import Published, published_files
from profet.errors import InputError

SHA256 = "0123456789abcdef" * 4


def test_the_shipped_list_names_the_published_files() -> None:
    files = published_files()
    assert [file.path for file in files if "anchor" in file.path] == [
        f"data/anchor_data/anchor_{name}.pickle" for name in ("g3", "g4", "p2", "p3")
    ]
    assert all(len(file.sha256) == 64 for file in files)


def test_a_list_as_sha256sum_writes_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sums"
    path.write_text(f"# comment\n\n{SHA256}  a.json\n{SHA256.upper()} *data/b c.pickle\r\n")
    assert published_files(path) == [Published("a.json", SHA256), Published("data/b c.pickle", SHA256)]


@pytest.mark.parametrize("name", ["../a", "data/../../a", "/etc/a", "a\\..\\b", "..", "data/.."])
def test_a_path_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sums"
    path.write_text(f"{SHA256}  {name}\n")
    with pytest.raises(InputError, match=r"sums: line 1 leads out of the output folder"):
        published_files(path)


@pytest.mark.parametrize("line", ["a.json", "abc  a.json", f"{SHA256}", f"{SHA256}a.json", f"{SHA256[:-1]}g  a"])
def test_a_line_that_is_no_sum_and_path_is_refused_by_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "sums"
    path.write_text(f"{SHA256}  fine.json\n{line}\n")
    with pytest.raises(InputError, match=r"sums: line 2 is not a SHA-256 sum, two spaces and a path"):
        published_files(path)
