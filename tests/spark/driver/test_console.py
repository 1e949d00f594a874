"""The console's API over a session on Spark: the same paths, answers as in process, and batches."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from support.small_registry import ORIGIN, PORT, SECRETS, client_of
from support.spark.stream_files import COLUMNS, Files, Sessions, embedded, random_batches
from windrow.apps.console.app import application
from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.json_rows import plain_rows
from windrow.apps.console.registry import Registry
from windrow.apps.console.spark_runner import SparkRunner
from windrow.embedded.session import EmbeddedSession

pytestmark = pytest.mark.spark

QUERIES = {
    "pairs": "SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS] "
    "WHERE h.room = c.room GROUP BY h.room EVERY (5 SECONDS)",
    "pairs_of_all": "SELECT COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS] WHERE h.room = c.room",
}
JSON_TYPE = {"content-type": "application/json"}
PATIENCE_S = 120.0


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so"
        time.sleep(0.2)


@pytest.mark.long_spark
def test_the_api_on_spark_says_what_it_says_in_process(files: Files, sessions: Sessions) -> None:
    batches = random_batches(2, seed=7)
    files.put_all(batches)
    session = sessions.open(files, buckets=2)
    kept: dict[str, Any] = {
        "measures": ["value"],
        "by": ["room"],
        "levels": [("1 second", "30 seconds"), ("10 seconds", "forever")],
    }
    session.history("h", **kept)
    registry = Registry(SparkRunner(session), "on Spark")
    registry.follow_all(QUERIES)
    session.finish()
    with TestClient(
        application(registry, Hosts(PORT), SECRETS),
        base_url=ORIGIN,
        headers={"authorization": f"Bearer {SECRETS.token}"},
    ) as client:
        registry.collect()
        document = client.get("/api/v1/openapi.json").json()
        for name, text in QUERIES.items():
            query, _ = embedded(text, batches)
            wanted = query.answers().num_rows
            until(partial(has_answers, registry, client, name, wanted))
            result = client.get(f"/api/v1/queries/{name}/result").json()
            assert sorted(result["rows"]) == sorted(map(list, plain_rows(query.result())))
        until(lambda: bool(client.get("/api/v1/batches").json()["batches"]))
        for path, schema in (
            ("session", "Session"),
            ("streams", "Streams"),
            ("queries", "Queries"),
            ("windows", "Windows"),
            ("batches", "Batches"),
            ("operations", "Operations"),
            ("histories", "Histories"),
            ("decisions", "Table"),
        ):
            form = {
                **document["components"]["schemas"][schema],
                "components": document["components"],
            }
            Draft202012Validator(form).validate(client.get(f"/api/v1/{path}").json())
        assert client.get("/api/v1/session").json()["runner"] == "spark"
        assert sum(each["rows"] for each in client.get("/api/v1/batches").json()["batches"]) > 0
        assert_history_is_drawn(client, document, batches, kept)
        operations = client.get("/api/v1/operations").json()["operations"]
        assert [(each["query"], each["behind"]) for each in operations] == [
            (name, 0) for name in (*QUERIES, "HISTORY(h)")
        ]
        assert {each["query"] for each in client.get("/api/v1/batches").json()["batches"]} <= {
            ", ".join(QUERIES),
            *QUERIES,
            "HISTORY(h)",
        }
        stopped = client.delete("/api/v1/queries/pairs", headers=JSON_TYPE).json()
        assert stopped["state"] == "ended"
        wrong = client.post(
            "/api/v1/queries", json={"text": "SELECT COUNT(*) FROM nobody [1 MINUTE]"}
        )
        assert wrong.status_code == 400


def assert_history_is_drawn(
    client: TestClient,
    document: dict[str, Any],
    batches: list[dict[str, pa.Table]],
    kept: dict[str, Any],
) -> None:
    """The panel's list, chart and tree are those of a session in process over the same rows."""
    twin = EmbeddedSession()
    twin.stream("h", COLUMNS, time="ts")
    twin.history("h", **kept)
    for batch in batches:
        twin.push("h", batch["h"])
    twin.finish()
    with client_of(Registry(EmbeddedRunner(twin), "in process")) as other:
        for path, schema in (
            ("histories", "Histories"),
            ("histories/h/series?points=20", "Series"),
            ("histories/h/tree", "Tree"),
        ):
            found, wanted = (each.get(f"/api/v1/{path}").json() for each in (client, other))
            form = {**document["components"]["schemas"][schema]}
            form["components"] = document["components"]
            Draft202012Validator(form).validate(found)
            for each in (found, wanted):
                for history in each.get("histories", ()):
                    assert history.pop("bytes") > 0
            assert found == wanted


def has_answers(registry: Registry, client: TestClient, name: str, wanted: int) -> bool:
    registry.collect()
    return bool(client.get(f"/api/v1/queries/{name}/answers").json()["next"] == wanted)
