"""Queries and streams are reached by whatever name they have."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient

from windrow.apps.console.raw_paths import NamedRoute, RawPaths


def shown(request: Request) -> Response:
    return JSONResponse(request.path_params)


CLIENT = TestClient(RawPaths(Starlette(routes=[NamedRoute("/queries/{name}/result", shown)])))


@pytest.mark.parametrize(
    ("path", "name"),
    [("a", "a"), ("a%2Fb", "a/b"), ("%3C%2Fscript%3E", "</script>"), ("100%25", "100%")],
)
def test_a_name_is_decoded_once(path: str, name: str) -> None:
    assert CLIENT.get(f"/queries/{path}/result").json() == {"name": name}


@pytest.mark.parametrize("name", ["%2F", "%252F", "é%20☃", "?", "#"])
def test_a_name_that_looks_encoded_stays_as_it_is(name: str) -> None:
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    assert CLIENT.get(f"/queries/{encoded}/result").json() == {"name": name}


def test_a_slash_that_is_none_of_a_name_leads_elsewhere() -> None:
    assert CLIENT.get("/queries/a/b/result").status_code == 404
