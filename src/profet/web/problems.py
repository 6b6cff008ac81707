"""Errors as problem details (RFC 9457), each with one line that a person can act on."""

import logging
import re
from http import HTTPStatus
from typing import Self

import msgspec
from starlette.responses import Response

from profet.errors import InputError, OutputError, ProfetError
from profet.printable import one_line

MEDIA_TYPE = "application/problem+json"
_OPTION = re.compile(r"profet [a-z]+ [^;]*|--([a-z]+(?:-[a-z]+)*)")
"""An option, or a whole command, which stays as it is: it is to be typed."""

_LONGEST = 2000
_log = logging.getLogger("profet.web")


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a request was refused (RFC 9457).

    Args:
        type: of the problem; its title and detail say all there is, so that it is about:blank.
        title: of the status.
        status: of the response.
        detail: what was wrong, where, and what to do, in one line.
    """

    type: str = "about:blank"
    title: str
    status: int
    detail: str


class RefusedError(ProfetError):
    """A request that cannot be answered, for a reason that HTTP has a status for."""

    def __init__(self, status: HTTPStatus, detail: str, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}

    @classmethod
    def not_found(cls, detail: str) -> Self:
        """Return the refusal of something that is not there."""
        return cls(HTTPStatus.NOT_FOUND, detail)


def problem(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return the response that tells a problem."""
    told = Problem(title=HTTPStatus(status).phrase, status=status, detail=one_line(detail)[:_LONGEST])
    return Response(msgspec.json.encode(told), status, headers, MEDIA_TYPE)


def unexpected(error: Exception) -> Response:
    """Return the response to an error that is ours; what it was stands in the log alone."""
    _log.error("a request failed", exc_info=error)
    return problem(500, "something went wrong here, which is not your fault; whoever runs this finds it in the log")


def told_to_clients(error: Exception) -> str:
    """Say an error to someone who has fields of a form, where the command line has options.

    >>> told_to_clients(InputError("give --anchor-latency"))
    'give anchor_latency'
    >>> told_to_clients(InputError("tell them with: profet instances add X --force"))
    'tell them with: profet instances add X --force'
    """
    return _OPTION.sub(lambda match: match[0] if match[1] is None else match[1].replace("-", "_"), str(error))


def status_of(error: ProfetError) -> HTTPStatus:
    """Return the status of an error of ours."""
    if isinstance(error, RefusedError):
        return error.status
    if isinstance(error, InputError):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(error, OutputError):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.INTERNAL_SERVER_ERROR
