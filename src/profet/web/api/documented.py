"""What the OpenAPI document says of a route: its body with examples, its answer, and the problems."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from profet.partition.tables import PerformanceTable
from profet.profiles.profile import SCHEMA, Profile
from profet.web.problems import MEDIA_TYPE, Problem

_FORM = "Form"
_REF = "#/components/schemas/{name}"
_FILES = {
    "profile": "A file in any format that profet convert reads, compressed with gzip or not.",
    "table": "As profet partition measure writes it, or a pickle of the original; nothing in it is executed.",
}
_DOCUMENTS: dict[str, dict[str, Any]] = {
    "profile": {
        "description": "The document itself: a profile of ours, PROFET's JSON, or a trace.",
        "anyOf": [
            {"$ref": _REF.format(name="Profile")},
            {
                "type": "array",
                "minItems": 1,
                "maxItems": 1,
                "items": {
                    "type": "object",
                    "patternProperties": {"^(Device|Host)_.+": {"type": "number", "minimum": 0}},
                },
            },
            {"type": "object", "properties": {"traceEvents": {"type": "array"}}, "required": ["traceEvents"]},
        ],
    },
    "table": {
        "description": "As profet partition measure writes it.",
        "$ref": _REF.format(name="PerformanceTable"),
    },
}
_PROBLEMS = {
    400: "The request is damaged: not JSON, a key twice in one object, not a form.",
    401: "It needs a key, and came without one or with one that opens nothing.",
    403: "Its key only reads, or a page of another site sent it in its visitor's name.",
    404: "There is none.",
    408: "The body did not arrive in time.",
    413: "The body is too large, or working on it takes too much.",
    415: "The body is of another media type.",
    422: "Something in it cannot be used; the detail says what, where, and what to do.",
    429: "Too many requests with this key or from this address; Retry-After says when to come back.",
    503: "Too much at once, or what was recorded cannot be reached; try again.",
}


@dataclass(frozen=True)
class _File:
    """The field of a body that holds a file, and whether it must be there."""

    field: str
    required: bool


_kinds: dict[str, type] = {"Problem": Problem, "Profile": Profile, "PerformanceTable": PerformanceTable}
_files: dict[str, _File] = {}


def documented(
    body: type[msgspec.Struct],
    answer: Any,
    examples: Mapping[str, Any],
    file: str | None = None,
    may_lack_file: bool = False,
) -> dict[str, Any]:
    """Return what FastAPI's decorators take to describe a route with a body.

    Args:
        body: its fields.
        answer: type of the document that it answers with.
        examples: bodies in JSON that work, by what they ask.
        file: the field that holds a file in a form, or the file's document in JSON; None without.
        may_lack_file: whether a body may do without it.
    """
    _kinds[body.__name__] = body
    if file is not None:
        _files[body.__name__] = _File(file, not may_lack_file)
    form = body.__name__ if file is None else f"{body.__name__}{_FORM}"
    content = {
        "application/json": {
            "schema": {"$ref": _REF.format(name=body.__name__)},
            "examples": {name: {"summary": name, "value": value} for name, value in examples.items()},
        },
        "multipart/form-data": {"schema": {"$ref": _REF.format(name=form)}},
    }
    return {
        "openapi_extra": {"requestBody": {"required": True, "content": content}},
        "responses": answered(answer, 400, 408, 413, 415, 422, 503),
    }


def answered(answer: Any, *problems: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """Return what FastAPI takes to describe what a route answers with.

    Args:
        answer: type of its document.
        problems: statuses that it may answer with instead.
        status: of the document.
    """
    _kinds[answer.__name__] = answer
    return {
        status: {
            "description": "The answer.",
            "content": {"application/json": {"schema": {"$ref": _REF.format(name=answer.__name__)}}},
        },
        **{each: problem_answer(each) for each in problems},
    }


def problem_answer(status: int) -> dict[str, Any]:
    """Return what describes an answer that is a problem."""
    return {"description": _PROBLEMS[status], "content": {MEDIA_TYPE: {"schema": _problem()}}}


def components() -> dict[str, Any]:
    """Return the schemas that all routes name."""
    _, schemas = msgspec.json.schema_components(list(_kinds.values()), ref_template=_REF)
    for name, file in _files.items():
        schema = schemas[name]
        required = [*([file.field] if file.required else []), *schema.get("required", [])]
        for each, field in ((f"{name}{_FORM}", _binary(_FILES[file.field])), (name, _DOCUMENTS[file.field])):
            properties = {file.field: field, **schema["properties"]}
            schemas[each] = {**schema, "properties": properties, "required": required}
    profile = schemas["Profile"]
    profile["properties"] = {"schema": {"const": SCHEMA}, **profile["properties"]}
    profile["required"] = ["schema"]
    return schemas


def _binary(description: str) -> dict[str, str]:
    return {
        "type": "string",
        "contentMediaType": "application/octet-stream",
        "format": "binary",
        "description": description,
    }


def _problem() -> dict[str, str]:
    return {"$ref": _REF.format(name="Problem")}
