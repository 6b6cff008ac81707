"""``profet record`` where the history is locked, damaged, full, or the command is stopped: nothing is lost."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import Run, document, refused
from tests.e2e.test_interrupt import LISTENING
from tests.e2e.test_writing import LIMITED

MEASURED = ["--target", "g4dn.xlarge", "--latency", "158ms"]


@pytest.fixture
def history(profet: Run, example_path: Path, tmp_path: Path) -> Path:
    """A history with one record."""
    path = tmp_path / "history.sqlite"
    assert profet("record", example_path, *MEASURED, "--history", path).returncode == 0
    return path


def count(profet: Run, path: Path) -> int:
    return len(document(profet("history", "list", "--history", path, "--json"))["records"])


def test_locked_history_is_told_and_keeps_what_it_has(profet: Run, example_path: Path, history: Path) -> None:
    holder = sqlite3.connect(history, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    told = profet("record", example_path, *MEASURED, "--again", "--history", history)
    refused(told, str(history), "locked", "nothing was recorded")
    assert count(profet, history) == 1  # readers do not wait for a writer
    holder.execute("ROLLBACK")
    holder.close()
    assert profet("record", example_path, *MEASURED, "--again", "--history", history).returncode == 0
    assert count(profet, history) == 2


def test_damaged_history_is_kept_aside_and_a_new_one_begun(profet: Run, example_path: Path, history: Path) -> None:
    damaged = b"\0" * 100 + history.read_bytes()[100:]
    history.write_bytes(damaged)
    refused(profet("history", "--history", history), str(history), "damaged", "left as it is")
    assert history.read_bytes() == damaged
    told = profet("record", example_path, *MEASURED, "--history", history)
    assert told.returncode == 0
    (aside,) = history.parent.glob("history.damaged-*.sqlite")
    assert aside.read_bytes() == damaged
    assert str(aside) in told.stderr
    assert count(profet, history) == 1


def test_newer_history_is_refused_by_all_commands(profet: Run, example_path: Path, history: Path) -> None:
    database = sqlite3.connect(history)
    database.execute("UPDATE profet_schema SET schema = 'profet/history/9'")
    database.commit()
    database.close()
    for words in (
        ["record", example_path, *MEASURED],
        ["history"],
        ["history", "list"],
        ["history", "remove", "x"],
    ):
        refused(profet(*words, "--history", history), "profet/history/9", "update Profet")


@pytest.mark.parametrize("limit", [512, 8192, 20_000])
def test_disk_that_fills_is_told_and_the_next_record_is_whole(
    profet: Run, example_path: Path, empty_folder: Path, limit: int
) -> None:
    path = empty_folder / "history.sqlite"
    script = LIMITED.replace("(512, 512)", f"({limit}, {limit})")
    command = [sys.executable, "-c", script, "record", str(example_path), *MEASURED, "--history", str(path)]
    refused(subprocess.run(command, capture_output=True, text=True, timeout=300), str(path), "could not be written")
    assert profet("record", example_path, *MEASURED, "--history", path).returncode == 0
    assert count(profet, path) == 1


def test_disk_that_fills_keeps_exactly_what_was_acknowledged(
    profet: Run, example_path: Path, history: Path
) -> None:
    limit = history.stat().st_size + 100
    script = LIMITED.replace("(512, 512)", f"({limit}, {limit})")
    command = [sys.executable, "-c", script, "record", str(example_path), *MEASURED, "--again"]
    acknowledged = 1
    for _ in range(5):
        full = subprocess.run([*command, "--history", str(history)], capture_output=True, text=True, timeout=300)
        if full.returncode == 0:  # pages were free
            acknowledged += 1
        else:
            refused(full, str(history), "could not be written")
    assert acknowledged < 6
    assert count(profet, history) == acknowledged


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write into a read-only folder")
def test_read_only_folder_is_refused(profet: Run, example_path: Path, empty_folder: Path) -> None:
    empty_folder.chmod(0o555)
    told = profet("record", example_path, *MEASURED, "--history", empty_folder / "history.sqlite")
    refused(told, str(empty_folder))


def test_interrupt_while_it_waits_is_one_line_and_keeps_nothing(
    profet: Run, example_path: Path, history: Path
) -> None:
    holder = sqlite3.connect(history, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    words = ["record", str(example_path), *MEASURED, "--again", "--history", str(history)]
    with subprocess.Popen(
        [sys.executable, "-c", LISTENING, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until_it_has_opened(process.pid, history)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (2, "")
    assert len(stderr.splitlines()) == 1, stderr
    holder.execute("ROLLBACK")
    holder.close()
    assert count(profet, history) == 1


def wait_until_it_has_opened(pid: int, path: Path) -> None:
    deadline = time.monotonic() + 60
    descriptors = Path(f"/proc/{pid}/fd")
    if not descriptors.exists():
        pytest.skip("open files are found in /proc")
    while not any(os.path.realpath(each) == str(path) for each in descriptors.iterdir()):
        assert time.monotonic() < deadline, "the command did not open the history"
        time.sleep(0.02)
