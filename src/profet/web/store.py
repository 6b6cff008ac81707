"""The store of a service, as its requests reach it: opened when it is needed, and kept open."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from pathlib import Path
from typing import TypeVar

from profet.errors import InputError, OutputError
from profet.history.engine import is_url
from profet.history.place import begin_history, default_place
from profet.history.refusals import UnreachableHistoryError
from profet.history.store import History

ANSWER_S = 10.0
"""How long a database's server may take to answer."""

T = TypeVar("T")
_log = logging.getLogger("profet.web")


class Store:
    """A history that several threads may use; every method waits for the disk, so that none is for the event loop.

    Where a database's server goes away or no longer answers, one request at a time looks whether it is back; the
    others are refused at once, so that they do not hold the threads in which everything else is answered.

    Args:
        place: a file or a database's URL; None for the user's own.
    """

    def __init__(self, place: str | None):
        self._given = place
        self._place = place or str(default_place())
        self._opening = threading.Lock()
        self._history: History | None = None
        self._away = False
        self._looking = threading.Lock()

    def check(self) -> None:
        """Open what is there, so that what is wrong with it is told before anybody asks.

        Raises:
            OutputError: it cannot be used.
        """
        if self.is_there():
            self._opened()

    def is_there(self) -> bool:
        """Whether something was recorded; looking does not begin a history."""
        return self._history is not None or is_url(self._place) or Path(self._place).exists()

    def ask(self, work: Callable[[History], T], within_s: float = ANSWER_S) -> T:
        """Do what reads or writes the history, which is begun where there is none.

        Args:
            work: is given the history.
            within_s: how long the server of one may take for it.

        Raises:
            UnreachableHistoryError: its server does not answer.
            OutputError: it cannot be used; or see History.
        """
        looks = self._away
        if looks and not self._looking.acquire(blocking=False):
            raise UnreachableHistoryError(
                "the history: cannot be reached; another request looks whether it is back"
            )
        try:
            if is_url(self._place):
                found = _in_time(lambda: work(self._opened()), within_s)
            else:
                found = work(self._opened())
            self._away = False
            return found
        except UnreachableHistoryError:
            self._away = True
            raise
        finally:
            if looks:
                self._looking.release()

    def close(self) -> None:
        """Let go of the store."""
        with self._opening:
            if self._history is not None:
                self._history.close()
            self._history = None

    def _opened(self) -> History:
        with self._opening:
            if self._history is None:
                try:
                    self._history, warnings = begin_history(self._given)
                except InputError as error:  # not a mistake of whoever asks
                    raise OutputError(str(error)) from None
                self._history.where = "the history"  # errors name it to people who must not know this machine
                for warning in warnings:
                    _log.warning("%s", warning)
            return self._history


def _in_time(work: Callable[[], T], within_s: float) -> T:
    """Do work in a thread of its own, and leave it there where it takes too long: a server may have stopped.

    Raises:
        UnreachableHistoryError: it took too long; it may still be done later.
    """
    done: Future[T] = Future()

    def do() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # it is raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=copy_context().run, args=(do,), name="profet-store", daemon=True).start()
    try:
        return done.result(within_s)
    except TimeoutError:
        raise UnreachableHistoryError(
            "the history: does not answer; if something was being recorded, send it again under the same id"
        ) from None
