"""A damaged history is set aside and never written over; what only looks like one is left alone."""

from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from profet.errors import InputError, OutputError, ProfetError
from profet.history.place import begin_history, open_history, set_aside
from profet.history.store import History
from tests.history.made_up import measured
from tests.store.writer import at_once


def begin_and_record(place: str, barrier: Barrier, _: int) -> None:
    barrier.wait()
    with begin_history(place)[0] as history:
        history.record(measured())


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a history of several pages."""
    path = tmp_path_factory.mktemp("whole") / "history.sqlite"
    with History(path) as history:
        for number in range(20):
            history.record(measured(100.0 + number, profile="x" * 3000, profile_sha256=f"{number}"))
    return path.read_bytes()


def spoilt(whole: bytes) -> bytes:
    return whole[:8192] + b"\xff" * 3000 + whole[11192:]


@pytest.mark.parametrize("content", [b"no database at all" * 50, b"SQLite format 3\0" + b"\7" * 2000])
def test_damaged_file_is_kept_aside_and_a_new_one_begun(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.sqlite"
    for number in (1, 2):
        path.write_bytes(content)
        history, told = begin_history(str(path))
        history.record(measured())
        history.close()
        aside = sorted(tmp_path.glob("history.damaged-*"))
        assert [each.read_bytes() for each in aside] == [content] * number
        assert any(str(each) in told[0] for each in aside)
        path.unlink()


def test_damage_in_the_middle_is_found_though_the_file_opens(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(spoilt(whole))
    with pytest.raises(InputError, match=r"damaged.*left as it is"):
        open_history(str(path))
    assert path.read_bytes() == spoilt(whole)
    history, told = begin_history(str(path))
    assert history.measurements() == []
    history.close()
    assert "a new one was begun" in told[0]
    assert [each.read_bytes() for each in tmp_path.glob("*damaged*")] == [spoilt(whole)]


def test_log_beside_a_damaged_file_goes_with_it(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database" * 400)
    (tmp_path / "history.sqlite-wal").write_bytes(b"its log")
    begin_history(str(path))[0].close()
    assert [each.read_bytes() for each in tmp_path.glob("history.damaged-*-wal")] == [b"its log"]


def test_two_processes_that_find_it_damaged_set_it_aside_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database" * 400)
    at_once(begin_and_record, str(path), 4)
    assert [each.read_bytes() for each in tmp_path.glob("history.damaged-*")] == [b"no database" * 400]
    with open_history(str(path)) as history:
        assert len(history.measurements()) == 4


def test_new_file_that_another_process_put_there_is_not_set_aside(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "history.sqlite"
    path.write_bytes(b"no database" * 400)
    found = path.stat()
    assert set_aside(path, found) is not None
    path.write_bytes(whole)
    assert set_aside(path, found) is None
    assert path.read_bytes() == whole


def test_file_that_is_not_named_as_a_history_is_never_moved(tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.docx"
    thesis.write_bytes(b"three years of work")
    with pytest.raises(InputError, match="name another file"):
        begin_history(str(thesis))
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [
        ("thesis.docx", b"three years of work")
    ]


def test_missing_history_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="profet record begins one"):
        open_history(str(tmp_path / "history.sqlite"))
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_whatever_happened_to_its_bytes_it_is_read_or_refused_in_one_line(
    tmp_path: Path, whole: bytes, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(whole) - 1))
    patch = data.draw(st.binary(min_size=1, max_size=64))
    cut = data.draw(st.integers(1, len(whole)))
    path = tmp_path / "mutant.db"
    path.write_bytes((whole[:start] + patch + whole[start + len(patch) :])[:cut])
    told = ""
    try:
        with open_history(str(path)) as history:
            history.measurements(profiles=True)
    except ProfetError as error:
        told = str(error)
    assert "\n" not in told
    for beside in tmp_path.glob("mutant.db*"):
        beside.unlink()


def test_a_file_that_was_moved_or_replaced_takes_nothing_until_it_is_back(tmp_path: Path) -> None:
    path, away = tmp_path / "history.sqlite", tmp_path / "away.sqlite"
    kept = measured()
    with History(path) as history:
        history.record(kept)
        path.rename(away)
        for content in (None, b"", away.read_bytes()):
            if content is not None:
                path.write_bytes(content)
            with pytest.raises(OutputError, match="moved, replaced or deleted"):
                history.record(measured())
            assert path.exists() == (content is not None)
        away.replace(path)
        assert history.measurements() == [kept]
