"""Bundles that are damaged, foreign or from the future: exit 2 and one line that names the file."""

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from profet.predictors.archive import Arrays, pack
from tests.conftest import Run, refused

Check = Callable[..., str]
SHIPPED = (resources.files("profet") / "data" / "default.profet").read_bytes()
PROVENANCE = {"dataset": "", "sources": [], "models": [], "workloads": 0, "runs": 0, "created_with": "0"}
WHOLE = {"schema": "profet/bundle/1", "method": "published", "provenance": PROVENANCE, "pairs": [], "scalers": []}
PAIR = {"anchor": "g3s.xlarge", "target": "p2.xlarge", "settings": {}, "errors": None}


@pytest.fixture
def refuse(profet: Run, tmp_path: Path, empty_folder: Path, example_path: Path) -> Check:
    """Write a bundle; check that predicting with it and looking at it give one line each and nothing else."""

    def run(content: bytes, *words: str, look: bool = False) -> str:
        path = tmp_path / "some.profet"
        path.write_bytes(content)
        if look:
            refused(profet("bundle", path, "--json", cwd=empty_folder), str(path), *words)
        options = ("--bundle", path, "--plot", "picture.png")
        line = refused(profet("predict", example_path, *options, cwd=empty_folder), *words)
        assert list(empty_folder.iterdir()) == []
        return line

    return run


@pytest.mark.parametrize("length", [0, 1, 64, 100, len(SHIPPED) // 2, len(SHIPPED) - 64, len(SHIPPED) - 1])
def test_truncated_bundle_is_refused(refuse: Check, length: int) -> None:
    assert "some.profet" in refuse(SHIPPED[:length], look=length == 100)


@pytest.mark.parametrize("place", [0, 40, len(SHIPPED) // 2, len(SHIPPED) - 1])
def test_bundle_with_one_flipped_bit_is_refused(refuse: Check, place: int) -> None:
    damaged = bytearray(SHIPPED)
    damaged[place] ^= 1
    assert "some.profet" in refuse(bytes(damaged))


def test_bundle_with_something_after_it_is_refused(refuse: Check) -> None:
    refuse(SHIPPED + b"\n", "damaged")


def test_bundle_of_a_newer_schema_asks_for_an_update(refuse: Check) -> None:
    refuse(pack({**WHOLE, "schema": "profet/bundle/2"}, {}), "profet/bundle/2", "update Profet", look=True)


@pytest.mark.parametrize(
    ("manifest", "word"),
    [
        ({}, "not a bundle"),
        ({"schema": 7}, "not a bundle"),
        ({"schema": "profet/bundle/1"}, "manifest"),
        ({**WHOLE, "pairs": 5}, "manifest"),
        ({**WHOLE, "provenance": {**PROVENANCE, "runs": "many"}}, "manifest"),
        ({**WHOLE, "method": "of-the-future"}, "of-the-future"),
    ],
)
def test_manifest_that_does_not_fit_is_refused(refuse: Check, manifest: dict[str, object], word: str) -> None:
    refuse(pack(manifest, {}), word)


@pytest.mark.parametrize(
    "arrays", [{}, {"arrays/g3s.xlarge/p2.xlarge/forest/roots": np.zeros(3)}], ids=["none", "another"]
)
def test_pair_without_its_arrays_is_refused(refuse: Check, arrays: Arrays) -> None:
    refuse(pack({**WHOLE, "pairs": [PAIR]}, arrays), "train it again")


def test_bundle_without_any_pair_knows_no_anchor(refuse: Check) -> None:
    refuse(pack(WHOLE, {}), "'g3s.xlarge'")


@pytest.mark.parametrize("content", [b"dear diary\n", b"PK\x03\x04 not really a zip, but long enough" + b"x" * 99])
def test_other_file_is_no_bundle(refuse: Check, content: bytes) -> None:
    assert "some.profet" in refuse(content)


def test_folder_is_no_bundle(profet: Run, example_path: Path, tmp_path: Path) -> None:
    refused(profet("predict", example_path, "--bundle", tmp_path), str(tmp_path), "directory")
    refused(profet("bundle", tmp_path), str(tmp_path), "directory")


@pytest.mark.parametrize("command", [["bundle"], ["predict", "-", "--bundle"]])
def test_missing_bundle_is_named(profet: Run, command: list[str], example_path: Path) -> None:
    refused(profet(*command, "no.profet", stdin=example_path.read_bytes()), "no.profet", "no such file")


def test_two_sparse_gibibytes_are_refused_unread(profet: Run, example_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "huge.profet"
    path.touch()
    os.truncate(path, 2 * 1024**3)
    refused(profet("predict", example_path, "--bundle", path), str(path), "larger than 256 MiB")
