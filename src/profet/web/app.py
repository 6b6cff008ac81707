"""Puts the service together: API, pages, limits and errors."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from profet.web.access import Access
from profet.web.api import advice, cards, health, instances, measurements, plans, predictions, scaling
from profet.web.api.documented import components
from profet.web.api.secured import say_what_needs_a_key
from profet.web.check_access import CheckAccess
from profet.web.following import follow_bundle
from profet.web.handlers import answer_problems
from profet.web.headers import AnswerHead, SecurityHeaders
from profet.web.hosts import CheckHost
from profet.web.limits import LimitRequests
from profet.web.logs import flush_log
from profet.web.metrics import CountRequests
from profet.web.naming import NameRequests
from profet.web.pages.not_found import answer_not_found
from profet.web.pages.routes import pages_router
from profet.web.recorded_figures import RecentAccuracy
from profet.web.service import Service
from profet.web.settings import API, SETTINGS_VARIABLE, Settings, from_text, pages_folder

_DESCRIPTION = (
    "Which machine to train a CNN on, and how to split a batch over machines, from one profile: the architecture is"
    " never asked for. Answers are the documents that the command line prints with --json; errors are problem"
    " details (RFC 9457). A profile is not stored unless that is asked for."
)


def create_app(settings: Settings | None = None) -> FastAPI:
    """Make the application; its service is ``app.state.service``.

    Raises:
        InputError, BundleError: a file that it is to answer from cannot be used.
    """
    app = FastAPI(
        title="Profet",
        version=version("profet-latency"),
        description=_DESCRIPTION,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # its page needs scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,  # it would send visitors to the name and scheme behind a proxy
        lifespan=_leave_tidily,
    )
    service = Service.load(settings or Settings())
    app.state.service = service
    app.state.access = Access(service.settings, service.store)
    app.state.recent = RecentAccuracy(service.records)
    follow_bundle(app)
    answer_problems(app)
    for part in (predictions, scaling, advice, plans, instances, cards, measurements, health):
        app.include_router(part.router, prefix=API)
    _add_pages(app)
    _describe(app)
    _add_middleware(app, service.settings)
    return app


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """Put around the application what every request passes; the last one first."""
    for middleware, arguments in (
        (LimitRequests, (settings.limits,)),
        (CheckAccess, (app.state.access, app.state.service.store)),
        (CheckHost, (settings.hosts,)),
        (SecurityHeaders, ()),
        (CountRequests, ()),
        (NameRequests, (settings.log_all,)),
        (AnswerHead, ()),
    ):
        app.add_middleware(middleware, *arguments)
    if settings.proxies:
        app.add_middleware(ProxyHeadersMiddleware, list(settings.proxies))


@asynccontextmanager
async def _leave_tidily(app: FastAPI) -> AsyncIterator[None]:
    """Let go of the store, and write the last lines of the log, once everything is answered."""
    yield
    service: Service = app.state.service
    await asyncio.to_thread(service.store.close)
    await asyncio.to_thread(flush_log)


def _describe(app: FastAPI) -> None:
    """Let the OpenAPI document name the schemas of all bodies and answers."""
    made_of_routes = app.openapi

    def whole() -> dict[str, Any]:
        document = made_of_routes()
        document.setdefault("components", {})["schemas"] = components()
        return say_what_needs_a_key(document)

    app.openapi = whole  # type: ignore[method-assign]


def app_of_environment() -> FastAPI:
    """Make the application of the settings that the process was started with."""
    return create_app(from_text(os.environ[SETTINGS_VARIABLE]))


def _add_pages(app: FastAPI) -> None:
    app.include_router(pages_router)
    app.mount("/static", StaticFiles(directory=pages_folder()), name="static")
    answer_not_found(app)
