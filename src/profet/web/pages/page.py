"""One request to a page: what was filled in, in which language, and the HTML that answers it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from http import HTTPStatus
from importlib import resources
from pathlib import PurePath
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import UploadFile

from profet.errors import ProfetError
from profet.printable import one_line
from profet.web.bodies import Upload, check_plain
from profet.web.pages.fields import Fields, written
from profet.web.pages.language import LANGUAGES, Texts, negotiated, texts
from profet.web.pages.messages import Message, told, told_to_visitors
from profet.web.problems import status_of
from profet.web.service import Service, service_of
from profet.web.visitor import Visitor, visitor_of

LANGUAGE_COOKIE = "profet_language"
_MOST_NAME = 100
_YEAR_S = 365 * 24 * 3600
_NO_STORE = {"Cache-Control": "no-store", "Vary": "Accept-Language, Cookie"}


@dataclass(frozen=True)
class Page:
    """A request to a page.

    Args:
        request: as it came.
        fields: what was filled in.
        upload: the file that came with it; None where none did.
        texts: in the visitor's language.
    """

    request: Request
    fields: Fields
    upload: Upload | None
    texts: Texts

    @property
    def service(self) -> Service:
        """What the service answers from."""
        return service_of(self.request)

    @property
    def visitor(self) -> Visitor:
        """Who asks, as far as keys tell."""
        return visitor_of(self.request)

    @property
    def posted(self) -> bool:
        """Whether a form was sent, so that the address does not hold it."""
        return self.request.method == "POST"

    def show(self, template: str, status: int = 200, **context: Any) -> Response:
        """Return a page.

        Args:
            template: its file.
            status: of the response.
            context: what it shows.
        """
        known: dict[str, Any] = {
            "t": self.texts,
            "fields": self.fields,
            "page": self,
            "languages": LANGUAGES,
            "root": self.request.scope.get("root_path", ""),
            "error": None,
            "address": None,
        }
        html = _environment().get_template(template).render({**known, **context})
        response = HTMLResponse(html, status, _NO_STORE)
        if "lang" in self.fields:
            response.set_cookie(
                LANGUAGE_COOKIE, self.texts.language, max_age=_YEAR_S, httponly=True, samesite="lax"
            )
        return response

    async def answer(self, template: str, status: int = 200, **context: Any) -> Response:
        """Return a page that may be long, made in a thread so that nobody waits for it but its visitor."""
        return await run_in_threadpool(self.show, template, status, **context)

    def refuse(self, template: str, error: ProfetError, **context: Any) -> Response:
        """Return the page with what was wrong, and what to do, above its answer.

        What the visitor must change is an answer as any other: a browser's console calls another status an error.
        """
        status = status_of(error)
        if status is HTTPStatus.UNPROCESSABLE_ENTITY:
            status = HTTPStatus.OK
        return self.show(template, status, error=self.tell(told_to_visitors(error)), **context)

    def tell(self, message: str) -> Message:
        """Return a message of ours in the visitor's language, where it is known there."""
        return told(message, self.texts)

    def redirect(self, path: str, query: str = "") -> Response:
        """Send the visitor to another page, whose address holds what was asked."""
        root = self.request.scope.get("root_path", "")
        return RedirectResponse(f"{root}{path}" + (f"?{query}" if query else ""), 303, _NO_STORE)

    def in_language(self, language: str) -> str:
        """Return the address of the same page in another language."""
        kept = [each for each in self.request.query_params.multi_items() if each[0] != "lang"]
        return f"?{written([*kept, ('lang', language)])}"


async def asked(request: Request) -> Page:
    """Read what was filled in of a request; a form's size is bounded by the service's limits."""
    sent = request.query_params.multi_items()
    upload = None
    if request.method == "POST":
        check_plain(request)
        most = service_of(request).settings.limits.body_bytes
        form = await request.form(max_files=2, max_fields=200, max_part_size=most)
        for name, value in form.multi_items():
            if isinstance(value, str):
                sent.append((name, value))
            elif isinstance(value, UploadFile) and value.size:
                upload = Upload(_file_name(value), await value.read(), None)
        await form.close()
    fields = Fields(sent)
    wanted = [fields.text("lang"), request.cookies.get(LANGUAGE_COOKIE, "")]
    language = next(
        (each for each in wanted if each in LANGUAGES), negotiated(request.headers.get("accept-language", ""))
    )
    return Page(request, fields, upload, texts(language))


def _file_name(upload: UploadFile) -> str:
    return one_line(PurePath(upload.filename or "").name)[:_MOST_NAME] or "the file"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("profet.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters.update(FILTERS)
    environment.globals["static"] = _static
    return environment


def _shown(value: Any) -> Any:
    """Leave out what cannot be printed; what is markup already has none of it."""
    return one_line(value) if type(value) is str else value


@lru_cache(maxsize=32)
def _static(name: str) -> str:
    """Return the address of a file of ours; it changes with the file, so that none is kept for too long."""
    content = (resources.files("profet.web") / "static" / name).read_bytes()
    return f"/static/{name}?{sha256(content).hexdigest()[:12]}"


def _filters() -> Mapping[str, Any]:
    from profet.quantities import format_hours, format_money, format_ms
    from profet.reports.advice_words import format_chance
    from profet.reports.partition_tables import chunks_in_short

    return {
        "ms": lambda value: "–" if value is None else format_ms(value),
        "hours": lambda value: "–" if value is None else format_hours(value),
        "money": lambda value, currency: (
            "–" if value is None or currency is None else format_money(value, currency)
        ),
        "chunks": chunks_in_short,
        "chance": lambda value: "–" if value is None else format_chance(value),
        "percent": lambda value: "–" if value is None else f"{value:.1f} %",
        "pairs": lambda names: [(name, name) for name in names],
        "count": lambda value: "–" if value is None else f"{value:,.10g}",
    }


FILTERS = _filters()
