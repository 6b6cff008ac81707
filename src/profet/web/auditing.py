"""Writes the audit: a line of each request that was to write, in the transaction of what it changed."""

import logging
from datetime import UTC, datetime

from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.types import Scope

from profet.access.audit import Audit, AuditLine, add_line
from profet.errors import ProfetError
from profet.history.store import Also
from profet.web.access import address_of
from profet.web.logs import log_event, request_id
from profet.web.store import Store
from profet.web.visitor import Visitor, visitor_of

_log = logging.getLogger("profet.web")


def audited(request: Request, status: int) -> Also:
    """Return what writes a request's line of the audit in the transaction of its change: neither without the other.

    Args:
        request: that is to change something.
        status: that it is answered with where that is done.
    """
    visitor = visitor_of(request)

    def write(connection: Connection) -> None:
        add_line(connection, _line(request.scope, visitor, status))
        visitor.audited = True

    return write


async def audit(store: Store, scope: Scope, visitor: Visitor, status: int) -> None:
    """Tell the log of a request that was to write, and the store where its change did not; see audited.

    Where the store cannot be written, or nobody knows whether it was, the line is in the log alone.
    """
    line = _line(scope, visitor, status)
    log_event("write", key=line.key_id, address=line.address, method=line.method, path=line.path, status=status)
    if visitor.audited:
        return
    try:
        await run_in_threadpool(_add, store, line)
    except ProfetError as error:
        _log.error("a line of the audit is in this log alone (%s)", error)


def _add(store: Store, line: AuditLine) -> None:
    if store.is_there():
        store.ask(lambda history: Audit(history).add(line))


def _line(scope: Scope, visitor: Visitor, status: int) -> AuditLine:
    return AuditLine(
        at=datetime.now(UTC),
        key_id=None if visitor.key is None else visitor.key.id,
        address=address_of(scope),
        request_id=request_id(),
        method=scope["method"],
        path=scope["path"],
        status=status,
    )
