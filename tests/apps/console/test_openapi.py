"""The OpenAPI document: every route is in it and every path of it is a route; answers fit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from support.small_registry import HOST, SECRETS, client_of, guarded, small_registry
from windrow.apps.console.app import Service
from windrow.apps.console.registry import Registry


@pytest.fixture(scope="module")
def registry() -> Registry:
    return small_registry()


@pytest.fixture(scope="module")
def client(registry: Registry) -> Iterator[TestClient]:
    with client_of(registry, service=Service(inboxes={"temp": kept_at_once})) as client:
        yield client


@dataclass
class Kept:
    """Rows that were kept as soon as they came."""

    rows: int
    kept: Future[None] = field(default_factory=Future)
    set_aside: int = 0
    is_repeated: bool = False


def kept_at_once(body: bytes, form: str, producer: str | None, sequence: int) -> Kept:
    del form, producer, sequence
    taken = Kept(body.count(b"\n"))
    taken.kept.set_result(None)
    return taken


@pytest.fixture(scope="module")
def document(client: TestClient) -> dict[str, Any]:
    answer = client.get("/api/v1/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    found: dict[str, Any] = answer.json()
    return found


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def test_every_route_is_described_and_every_description_is_a_route(
    registry: Registry, document: dict[str, Any]
) -> None:
    routes = set()
    for route in guarded(registry).app.routes:  # type: ignore[attr-defined]
        path = re.sub(r":path}", "}", route.path)
        if isinstance(route, WebSocketRoute):
            routes.add((path, "get"))
        else:
            assert isinstance(route, Route)
            routes |= {(path, method.lower()) for method in (route.methods or set()) - {"HEAD"}}
    described = {
        (path, method) for path, methods in document["paths"].items() for method in methods
    }
    assert described == routes


def test_the_document_is_sound(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    for name, schema in document["components"]["schemas"].items():
        Draft202012Validator.check_schema(schema)
        assert schema.get("additionalProperties") is False or name in ("Row", "Explained")
    text = json.dumps(document)
    referred = set(re.findall(r"#/components/schemas/(\w+)", text))
    assert referred == set(document["components"]["schemas"])
    for path, methods in document["paths"].items():
        for operation in methods.values():
            named = {
                each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"
            }
            assert named == set(re.findall(r"{(\w+)}", path))


def requests() -> list[tuple[str, str, Any]]:
    text = "SELECT COUNT(*) AS n FROM temp [1 MINUTE]"
    past = "SELECT location, AVG(celsius) AS m FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]"
    return [
        ("get", "/api/v1/session", None),
        ("get", "/api/v1/streams", None),
        ("post", "/api/v1/streams/temp/rows", {"ts": 1}),
        ("post", "/api/v1/streams/nobody/rows", {"ts": 1}),
        ("get", "/healthz", None),
        ("get", "/readyz", None),
        ("get", "/api/v1/windows", None),
        ("get", "/api/v1/views", None),
        ("get", "/api/v1/decisions", None),
        ("get", "/api/v1/batches", None),
        ("get", "/api/v1/operations", None),
        ("get", "/api/v1/queries", None),
        ("post", "/api/v1/queries", {"text": text, "name": "added"}),
        ("post", "/api/v1/queries", {"text": "SELECT nothing"}),
        ("get", "/api/v1/queries/rooms", None),
        ("delete", "/api/v1/queries/added", None),
        ("get", "/api/v1/queries/nobody", None),
        *(("get", f"/api/v1/queries/{name}/result", None) for name in ("rooms", "hot", "all")),
        *(("get", f"/api/v1/queries/{name}/answers", None) for name in ("rooms", "load", "all")),
        *(("get", f"/api/v1/queries/{name}/changes", None) for name in ("rooms", "hot", "all")),
        ("post", "/api/v1/logout", {}),
        ("post", "/api/v1/explain", {"text": text}),
        ("post", "/api/v1/explain", {"text": "SELECT COUNT(* FROM temp"}),
        ("post", "/api/v1/ask", {"text": f"{past} GROUP BY location"}),
        ("get", "/api/v1/histories", None),
        ("get", "/api/v1/histories/temp/series", None),
        ("get", "/api/v1/histories/temp/tree", None),
    ]


def test_answers_of_a_real_session_fit_their_schemas(
    client: TestClient, document: dict[str, Any]
) -> None:
    seen = set()
    for method, path, body in requests():
        answer = client.request(
            method, path, json=body, headers={"content-type": "application/json"}
        )
        template = described_path(document, path)
        operation = document["paths"][template][method]
        responses = operation["responses"]
        found = responses.get(str(answer.status_code), responses["default"])
        schema = found["content"]["application/json"]["schema"]
        validator(document, schema).validate(answer.json())
        if answer.is_success:
            seen.add((template, method))
    with_schema = {
        (path, method)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if any(
            "application/json" in response.get("content", {})
            for status, response in operation["responses"].items()
            if status.startswith("2")
        )
    }
    assert seen == with_schema - {("/api/v1/openapi.json", "get")}


def described_path(document: dict[str, Any], path: str) -> str:
    for template in document["paths"]:
        if re.fullmatch(re.sub(r"{\w+}", "[^/]+", template), path):
            return str(template)
    raise AssertionError(path)


def test_live_messages_fit_their_schema(client: TestClient, document: dict[str, Any]) -> None:
    headers = {"host": HOST, "authorization": f"Bearer {SECRETS.token}"}
    described = document["paths"]["/api/v1/live"]["get"]["x-websocket"]
    watch = {"watch": {"query": "rooms", "histories": True}}
    validator(document, described["receives"]).validate(watch)
    with client.websocket_connect("/api/v1/live", headers=headers) as socket:
        seen: set[str] = set()
        socket.send_json(watch)
        while not {"answers", "changes", "histories"} <= seen:
            message = socket.receive_json()
            validator(document, described["sends"]).validate(message)
            seen |= set(message)


def test_a_schema_can_fail(document: dict[str, Any]) -> None:
    schema = document["components"]["schemas"]["Session"]
    assert not validator(document, schema).is_valid({"runner": "embedded"})
