"""What a browser sees where no page is."""

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from profet.web.pages.page import asked


def answer_not_found(app: FastAPI) -> None:
    """Let browsers see a page where nothing is; programs get what they got before."""
    otherwise = app.exception_handlers[HTTPException]

    async def show(request: Request, error: Exception) -> Response:
        wants_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if not wants_page or request.url.path.startswith(("/api/", "/static/")):
            answer = otherwise(request, error)
            return answer if isinstance(answer, Response) else await answer
        page = await asked(request)
        message = page.tell(f"nothing is at {request.url.path[:200]} here; the pages are named above")
        return page.show("not_found.html", 404, error=message)

    app.add_exception_handler(404, show)
