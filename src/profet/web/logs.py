"""The service's log: one JSON document a line, with the request that it is of; never what was sent or asked."""

import contextlib
import logging
import os
import sys
import threading
import time
import traceback
from collections import deque
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import msgspec

_REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_FACTS = "facts"
_MOST_WAITING = 20_000
_MOST_BYTES = 4096
"""So much a pipe takes at once, so that lines of several processes never mix."""

_PAUSE_S = 0.1
_LEAVING_S = 1.0
_log = logging.getLogger("profet.web.events")


def request_id() -> str:
    """Return the id of the request that is being answered; empty outside of one."""
    return _REQUEST_ID.get()


def begin_request(name: str) -> None:
    """Let all that is logged from here on be of a request; each has a context of its own."""
    _REQUEST_ID.set(name)


def log_event(event: str, **facts: Any) -> None:
    """Write that something happened."""
    if _log.isEnabledFor(logging.INFO):  # logging.info would look for its caller, which takes longer than all else
        record = logging.LogRecord(_log.name, logging.INFO, "", 0, event, None, None)
        setattr(record, _FACTS, {"event": event, **facts})
        _log.handle(record)


def flush_log() -> None:
    """Write what waits in the log; a process that is told to stop does so at the end."""
    for handler in logging.getLogger("profet").handlers:
        handler.flush()


def log_settings() -> dict[str, Any]:
    """Return what lets a process write its log, and that of its server, as JSON lines on standard error."""
    to_lines = {"handlers": ["lines"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": {"lines": {"class": "profet.web.logs.LinesHandler"}},
        "loggers": {
            "profet": {**to_lines, "level": "INFO"},
            "uvicorn": {**to_lines, "level": "ERROR"},  # a warning would be told of every damaged request
        },
    }


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; of an exception its kind and places, not its words, which may be of what was sent."""
        facts: dict[str, Any] = getattr(record, _FACTS, None) or {"event": "log", "message": record.getMessage()}
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "worker": os.getpid(),
            "request_id": request_id() or None,
            **facts,
        }
        if record.exc_info is not None and record.exc_info[0] is not None:
            kind, _, trace = record.exc_info
            line["exception"] = kind.__name__
            line["places"] = [f"{each.filename}:{each.lineno} {each.name}" for each in traceback.extract_tb(trace)]
        return msgspec.json.encode(line).decode()


class LinesHandler(logging.Handler):
    """Writes to standard error from a thread of its own: a log that nobody reads never stops the service.

    Where more lines wait than that, the oldest are dropped.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(JsonLines())
        self._waiting: deque[bytes] = deque(maxlen=_MOST_WAITING)
        self._there = threading.Event()
        self._writing = False
        self._writer: threading.Thread | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Let a line be written soon."""
        self._waiting.append(self.format(record).encode() + b"\n")
        if not self._there.is_set():
            self._there.set()
        if self._writer is None or not self._writer.is_alive():
            self._writer = threading.Thread(target=self._write_all, name="profet-log", daemon=True)
            self._writer.start()

    def flush(self) -> None:
        """Wait until what was logged is written, unless nobody reads it."""
        end = time.monotonic() + _LEAVING_S
        while (self._waiting or self._writing) and time.monotonic() < end:
            if self._writer is None or not self._writer.is_alive():
                return
            time.sleep(0.01)

    def _write_all(self) -> None:
        while self._there.wait():
            time.sleep(_PAUSE_S)  # many lines at once cost little more than one
            self._there.clear()
            self._writing = True
            self._write_waiting()
            self._writing = False

    def _write_waiting(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # where nobody will ever read it, it is dropped
            while self._waiting:
                block = self._waiting.popleft()
                while self._waiting and len(block) + len(self._waiting[0]) <= _MOST_BYTES:
                    block += self._waiting.popleft()
                os.write(sys.stderr.fileno(), block)
