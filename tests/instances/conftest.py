"""What the tests of instances stand on: the quoted price lists where they are, and a data folder of their own."""

from pathlib import Path

import pytest

from tests.conftest import DATA


@pytest.fixture(scope="session")
def quoted() -> Path:
    """The folder with the quoted price lists and data sheets, read in place."""
    folder = DATA / "instances"
    if not folder.is_dir():
        pytest.skip(f"the quoted price lists are not in {folder}; set PROFET_TEST_DATA to where they are")
    return folder


@pytest.fixture
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder that holds nothing of the user's."""
    folder = tmp_path / "data"
    monkeypatch.setenv("PROFET_DATA_DIR", str(folder))
    return folder
