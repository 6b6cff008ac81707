"""Lets an application answer its errors, and those of what it stands on, as problems."""

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from profet.errors import BundleError, OutputError, ProfetError
from profet.history.refusals import FullHistoryError
from profet.web.problems import RefusedError, problem, status_of, told_to_clients

_log = logging.getLogger("profet.web")


def answer_problems(app: FastAPI) -> None:
    """Let an application answer every error that it raises on purpose as a problem."""
    app.add_exception_handler(ProfetError, _ours)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _invalid)


async def _ours(_: Request, error: Exception) -> Response:
    if not isinstance(error, ProfetError):
        raise error
    if isinstance(error, BundleError):
        _log.error("%s", error)
        return problem(500, "the service's predictors cannot be used; whoever runs it finds why in its log")
    if isinstance(error, OutputError):
        _log.error("%s", error)
        headers = {"Retry-After": "5"}
        if isinstance(error, FullHistoryError):
            return problem(503, "no room is left to record anything; whoever runs this must make some", headers)
        return problem(503, "what was recorded cannot be reached or written now; try again", headers)
    headers = error.headers if isinstance(error, RefusedError) else {}
    return problem(status_of(error), told_to_clients(error), headers)


async def _http(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    if error.status_code == HTTPStatus.NOT_FOUND:
        return problem(404, f"{request.url.path}: nothing is here; the API is under /api/v1/openapi.json")
    detail = str(error.detail)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"{request.method} is not for {request.url.path}"
    if error.status_code == HTTPStatus.BAD_REQUEST:
        detail = f"the form is damaged ({detail.rstrip('.')}); send it as a browser or curl -F does"
    return problem(error.status_code, detail, dict(error.headers or {}))


async def _invalid(_: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    told = [f"{'.'.join(str(part) for part in each['loc'][1:])}: {each['msg']}" for each in error.errors()]
    return problem(422, "; ".join(told[:5]))
