"""``profet predict --plot``: a real picture, and never over another file unasked."""

from pathlib import Path

import pytest

from tests.conftest import Run, document, refused


@pytest.mark.parametrize(
    ("name", "magic"),
    [("a.png", b"\x89PNG\r\n\x1a\n"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF-"), ("A.PNG", b"\x89PNG")],
)
def test_picture_has_the_form_that_its_name_says(
    profet: Run, example_path: Path, empty_folder: Path, name: str, magic: bytes
) -> None:
    told = profet("predict", example_path, "--plot", name, cwd=empty_folder)
    assert told.returncode == 0, told.stderr
    assert f"picture saved as {name}" in told.stdout
    assert (empty_folder / name).read_bytes().startswith(magic)
    assert [path.name for path in empty_folder.iterdir()] == [name]


def test_svg_shows_every_instance(profet: Run, example_path: Path, tmp_path: Path) -> None:
    told = document(profet("predict", example_path, "--plot", tmp_path / "picture.svg", "--json"))
    picture = (tmp_path / "picture.svg").read_text(encoding="utf-8")
    assert "</svg>" in picture
    for name in (told["anchor"], *(each["target"] for each in told["predictions"])):
        assert name in picture


def test_picture_replaces_another_only_when_forced(profet: Run, example_path: Path, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_text("mine", encoding="utf-8")
    refused(profet("predict", example_path, "--plot", picture), str(picture), "--force")
    assert picture.read_text(encoding="utf-8") == "mine"
    assert profet("predict", example_path, "--plot", picture, "--force").returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("name", ["picture", "picture.jpeg", "picture.png.txt"])
def test_picture_of_another_form_is_refused(profet: Run, example_path: Path, empty_folder: Path, name: str) -> None:
    refused(profet("predict", example_path, "--plot", name, cwd=empty_folder), name, ".png", ".svg")
    assert list(empty_folder.iterdir()) == []
