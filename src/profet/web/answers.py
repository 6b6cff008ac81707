"""Answers as JSON: the same documents that the command line prints with ``--json``."""

from typing import Any

import msgspec
import numpy as np
from fastapi import Response

_NO_STORE = {"Cache-Control": "no-store"}


def as_json(document: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a document as JSON; what is personal is not to be kept on the way."""
    content = msgspec.json.encode(document, enc_hook=_plain)
    return Response(content, status, {**_NO_STORE, **(headers or {})}, "application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise NotImplementedError(type(value).__name__)
