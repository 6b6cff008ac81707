"""The OpenAPI document: its examples work, answers are as it says, and nothing made from it breaks the service."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks as openapi

from profet.web.app import create_app
from profet.web.settings import Limits, Settings
from tests.web.conftest import bearing, key_for

EXAMPLES = 40


@pytest.fixture(scope="session")
def described(service: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{service}/api/v1/openapi.json").json()
    return document


def bodies(described: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    for path, methods in described["paths"].items():
        content = methods.get("post", {}).get("requestBody", {}).get("content", {})
        for name, example in content.get("application/json", {}).get("examples", {}).items():
            yield path, name, example["value"]


def test_every_example_works(service: str, write_key: str, described: dict[str, Any]) -> None:
    posted = list(bodies(described))
    assert len({path for path, _, _ in posted}) == len(
        [each for each in described["paths"].values() if "post" in each]
    )
    for path, name, example in posted:
        response = httpx.post(f"{service}{path}", json=example, headers=bearing(write_key), timeout=60)
        assert response.is_success, f"{path}, {name}: {response.text}"


def test_every_route_of_the_api_says_what_it_is_for(described: dict[str, Any]) -> None:
    operations = [each for methods in described["paths"].values() for each in methods.values()]
    assert len(operations) >= 12
    for operation in operations:
        assert operation["description"]
        assert operation["tags"]
        assert "200" in operation["responses"]


def test_every_schema_that_is_named_is_there(described: dict[str, Any]) -> None:
    text = msgspec.json.encode(described).decode()
    named = {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(described["components"]["schemas"])


@pytest.fixture
def schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PROFET_DATA_DIR", str(tmp_path))
    limits = Limits(key_rate=0, address_rate=0)
    app = create_app(Settings(history_place=str(tmp_path / "history.sqlite"), limits=limits))
    return schemathesis.openapi.from_asgi("/api/v1/openapi.json", app)


@pytest.mark.parametrize("mode", GenerationMode)
def test_nothing_made_from_the_document_breaks_the_service(
    schema: Any, tmp_path: Path, mode: GenerationMode
) -> None:
    with_key = bearing(key_for(tmp_path, "admin"))
    answers_as_documented = [
        not_a_server_error,
        openapi.status_code_conformance,
        openapi.content_type_conformance,
        openapi.response_schema_conformance,
    ]
    for found in schema.get_all_operations():

        @given(case=found.ok().as_strategy(generation_mode=mode))
        @settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def check(case: Any) -> None:
            case.call_and_validate(checks=answers_as_documented, headers=with_key)

        try:
            check()
        except Unsatisfiable:  # an operation without parameters cannot be asked wrongly
            assert mode is GenerationMode.NEGATIVE


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(data=st.data())
def test_no_example_with_something_else_in_one_place_breaks_the_service(
    service: str, write_key: str, described: dict[str, Any], data: st.DataObject
) -> None:
    path, _, example = data.draw(st.sampled_from(list(bodies(described))))
    changed = json.loads(json.dumps(example))
    holder, key = data.draw(st.sampled_from(list(places(changed))))
    holder[key] = data.draw(ANYTHING)
    body = json.dumps(changed)
    headers = {"Content-Type": "application/json", **bearing(write_key)}
    response = httpx.post(f"{service}{path}", content=body, headers=headers, timeout=60)
    assert response.status_code < 500, body


def places(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON document: what holds it, and its key there."""
    inside = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in inside:
        yield document, key
        if isinstance(value, dict | list):
            yield from places(value)
