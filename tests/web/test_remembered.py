"""What takes long to find: found once however many ask, given as it was meanwhile, never older than a change."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi", reason="the extra 'web' is not installed")

from profet.web.remembered import Remembered

PATIENCE_S = 30


class Slow:
    """Finds numbers, one more each time, when it is told to go on."""

    def __init__(self) -> None:
        self.found = 0
        self.begun = threading.Semaphore(0)
        self.go_on = threading.Semaphore(0)

    def find(self) -> int:
        self.begun.release()
        assert self.go_on.acquire(timeout=PATIENCE_S)
        self.found += 1
        return self.found


def test_many_who_ask_at_once_let_it_be_found_once() -> None:
    slow = Slow()
    remembered = Remembered(slow.find, fresh_s=PATIENCE_S)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(remembered.get) for _ in range(8)]
        slow.go_on.release()
        assert [each.result(PATIENCE_S) for each in asked] == [1] * 8
    assert remembered.get() == 1


def test_who_asks_while_it_is_found_anew_is_given_what_was_known() -> None:
    slow = Slow()
    remembered = Remembered(slow.find, fresh_s=0)
    slow.go_on.release()
    assert remembered.get() == 1
    slow.begun.acquire()
    with ThreadPoolExecutor(1) as pool:
        anew = pool.submit(remembered.get)
        assert slow.begun.acquire(timeout=PATIENCE_S)
        assert remembered.get() == 1
        slow.go_on.release()
        assert anew.result(PATIENCE_S) == 2


def test_what_was_found_before_a_change_is_not_known_after_it() -> None:
    slow = Slow()
    remembered = Remembered(slow.find, fresh_s=PATIENCE_S)
    with ThreadPoolExecutor(1) as pool:
        before = pool.submit(remembered.get)
        assert slow.begun.acquire(timeout=PATIENCE_S)
        remembered.forget()
        slow.go_on.release()
        assert before.result(PATIENCE_S) == 1
    slow.go_on.release()
    assert remembered.get() == 2


def test_what_cannot_be_found_is_told_and_tried_again() -> None:
    answers = [OSError("not now"), 7]

    def find() -> int:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    remembered = Remembered(find, fresh_s=PATIENCE_S)
    with pytest.raises(OSError, match="not now"):
        remembered.get()
    assert remembered.get() == 7
