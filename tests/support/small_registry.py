"""A small session that the console watches, and a client that is let in."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from starlette.testclient import TestClient

from windrow.apps.console.app import Service, application
from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.guard import Guard
from windrow.apps.console.hosts import Hosts
from windrow.apps.console.registry import Registry
from windrow.apps.console.token import Secrets
from windrow.embedded.session import EmbeddedSession

PORT = 8642
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
SECRETS = Secrets("a-token-of-tests")
SECOND_US = 1_000_000
START_US = 1_767_225_600 * SECOND_US  # 2026-01-01

QUERIES = {
    "rooms": "SELECT location, COUNT(*) AS n, AVG(celsius) AS mean FROM temp [1 MINUTE] "
    "GROUP BY location EVERY (5 SECONDS)",
    "hot": "SELECT location, celsius FROM temp [10 SECONDS] WHERE celsius >= 40",
    "all": "SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW] EVERY (10 SECONDS)",
    "load": "SELECT COUNT(*) AS n FROM temp [2 MINUTES] ERROR (20%) EVERY (5 SECONDS)",
}


def temp_rows(first: int, count: int) -> pa.Table:
    """One reading a second, of two rooms in turns; every tenth is hot."""
    seconds = range(first, first + count)
    times = pa.array([START_US + each * SECOND_US for each in seconds], pa.int64())
    return pa.table(
        {
            "location": [("kitchen", "lab")[each % 2] for each in seconds],
            "ts": times.cast(pa.timestamp("us", tz="UTC")),
            "celsius": [50.0 if each % 10 == 0 else 20.0 + each % 7 for each in seconds],
        }
    )


def small_registry(*, rows: int = 300, read_only: bool = False) -> Registry:
    """A session with some rows in it, its feeds read off; no thread runs."""
    session = EmbeddedSession("8 MB")
    session.stream("temp", "location string, ts timestamp, celsius double", time="ts", lateness=2)
    session.history(
        "temp",
        measures=["celsius"],
        by=["location"],
        levels=[("1 second", "1 minute"), ("10 seconds", "10 minutes"), ("1 minute", "forever")],
    )
    registry = Registry(EmbeddedRunner(session), "a small session", is_read_only=read_only)
    registry.follow_all(QUERIES)
    session.push("temp", temp_rows(0, rows))
    registry.collect()
    return registry


def guarded(registry: Registry, service: Service | None = None) -> Guard:
    return application(registry, Hosts(PORT), SECRETS, service=service)


def client_of(registry: Registry, service: Service | None = None, **options: Any) -> TestClient:
    """A client with the token."""
    return TestClient(
        guarded(registry, service),
        base_url=ORIGIN,
        headers={"authorization": f"Bearer {SECRETS.token}"},
        follow_redirects=False,
        **options,
    )
