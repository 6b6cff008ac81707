"""The store of a service, as its requests reach it: opened when it is needed, and kept open."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from pathlib import Path
from typing import TypeVar

from profet.errors import InputError, OutputError, ProfetError
from profet.history.engine import is_url
from profet.history.place import begin_history, default_place
from profet.history.refusals import UnreachableHistoryError
from profet.history.store import History

_SLOW_S = 5.0
"""After so long without an answer it is looked whether a database's server still answers at all."""

_LOOK_S = 5.0
"""A server that answers no new connection for so long is taken to be gone."""

_LONGEST_S = 60.0
_PAUSE_S = 0.5

T = TypeVar("T")
_log = logging.getLogger("profet.web")


class Store:
    """A history that several threads may use; every method waits for the disk, so that none is for the event loop.

    Where a database's server goes away or hangs, a thread looks until it is back; meanwhile whoever asks is refused
    at once, so that nobody holds the threads in which everything else is answered.

    Args:
        place: a file or a database's URL; None for the user's own.
    """

    def __init__(self, place: str | None):
        self._given = place
        self._place = place or str(default_place())
        self._opening = threading.Lock()
        self._history: History | None = None
        self._state = threading.Lock()
        self._looking_since: float | None = None
        self._away = False
        self._closed = False

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

    def ask(self, work: Callable[[History], T]) -> T:
        """Do what reads or writes the history, which is begun where there is none.

        Args:
            work: is given the history. Where its server hangs, it is left to end whenever that goes on.

        Raises:
            UnreachableHistoryError: its server does not answer.
            OutputError: it cannot be used; or see History.
        """
        if not is_url(self._place):
            return work(self._opened())
        if self._away:
            raise UnreachableHistoryError("the history: cannot be reached")
        try:
            return self._outcome(_begun(lambda: work(self._opened())))
        except UnreachableHistoryError:
            self._away = True
            self._look()
            raise

    def close(self) -> None:
        """Let go of the store."""
        self._closed = True
        history, self._history = self._history, None
        if history is not None:
            history.close()

    def _outcome(self, done: "Future[T]") -> T:
        """Wait for work in another thread, as long as its server answers."""
        began = time.monotonic()
        look_at = began + _SLOW_S
        while True:
            try:
                return done.result(_PAUSE_S)
            except TimeoutError:
                if done.done():
                    raise
            now = time.monotonic()
            if now > look_at:
                self._look()
                look_at = now + _SLOW_S
            looking_since = self._looking_since
            if self._away or (looking_since is not None and now - looking_since > _LOOK_S):
                raise UnreachableHistoryError(
                    "the history: does not answer; if something was being recorded, send it again under the same id"
                )
            if now - began > _LONGEST_S:
                raise OutputError("the history: takes too long to answer")

    def _look(self) -> None:
        """Let a thread look whether the server answers, unless one does."""
        with self._state:
            if self._looking_since is not None:
                return
            self._looking_since = time.monotonic()
        threading.Thread(target=self._look_until_back, name="profet-store-look", daemon=True).start()

    def _look_until_back(self) -> None:
        found = None
        while not self._closed:
            try:
                found = self._made()
                break
            except UnreachableHistoryError:
                self._away = True
                time.sleep(_PAUSE_S)
            except ProfetError:  # it answers; whoever asks is told what is wrong
                break
        with self._state:
            gone = found
            if self._away and found is not None:  # connections of before may never be heard of again
                gone, self._history = self._history, found
            self._away, self._looking_since = False, None
        if gone is not None:
            gone.close()

    def _opened(self) -> History:
        history = self._history
        if history is not None:
            return history
        with self._opening:
            if self._history is None:
                made = self._made()
                with self._state:
                    if self._history is None:
                        self._history = made
                        return made
                made.close()  # the server was gone meanwhile, and another connection is there
            return self._history

    def _made(self) -> History:
        try:
            history, warnings = begin_history(self._given)
        except InputError as error:  # not a mistake of whoever asks
            raise OutputError(str(error)) from None
        history.where = "the history"  # errors name it to people who must not know this machine
        for warning in warnings:
            _log.warning("%s", warning)
        return history


def _begun(work: Callable[[], T]) -> "Future[T]":
    """Begin work in a thread of its own, which nothing waits for at the end."""
    done: Future[T] = Future()

    def do() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # it is raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=copy_context().run, args=(do,), name="profet-store", daemon=True).start()
    return done
