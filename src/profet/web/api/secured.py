"""What the OpenAPI document says of keys: which routes need one, and what answers who has none."""

from typing import Any

from profet.web.api.documented import problem_answer
from profet.web.needs import Need, need_of

_NAME = "key"
_SCHEME = {
    "type": "http",
    "scheme": "bearer",
    "description": "A key that profet keys create made. What writes always needs one; all else but /health does"
    " where the service listens for others than this machine.",
}
_STATUSES = (401, 403, 429, 503)


def say_what_needs_a_key(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document with what every route needs, and the problems that follow from that."""
    document["components"]["securitySchemes"] = {_NAME: _SCHEME}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            need = need_of(method.upper(), path)
            if need is Need.NOTHING:
                operation["security"] = [{}]
                operation["responses"].setdefault("429", problem_answer(429))
                continue
            operation["security"] = [{_NAME: []}] if need is Need.WRITING else [{}, {_NAME: []}]
            for status in _STATUSES:
                operation["responses"].setdefault(str(status), problem_answer(status))
    return document
