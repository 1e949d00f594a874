"""A console over a session whose rows a test pushes itself, served by a thread of this process."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.registry import Registry
from windrow.apps.console.server import Address, ConsoleServer
from windrow.apps.console.token import Secrets
from windrow.embedded.session import EmbeddedSession

START = datetime(2026, 1, 1, 9, tzinfo=UTC)
ROOMS = ("kitchen", "lab", "office")
QUERIES = {
    "means": "SELECT location, AVG(celsius) AS mean, COUNT(*) AS n FROM temp [1 MINUTE]\n"
    "GROUP BY location EVERY (1 SECOND)",
    "hot": "SELECT location, celsius FROM temp [10 SECONDS] WHERE celsius > 30",
}


class Served:
    """A registry that a thread of this process serves."""

    def __init__(
        self, registry: Registry, *, port: int = 0, secrets: Secrets | None = None
    ) -> None:
        self.server = ConsoleServer(registry, Address(port=port), secrets=secrets)
        ready = threading.Event()
        self._thread = threading.Thread(target=self.server.run, args=(ready.set,))
        self._thread.start()
        assert ready.wait(60), "the console did not start"

    def close(self) -> None:
        """Ends the server."""
        self.server.stop()
        self._thread.join(30)


class Console(Served):
    """A session with two streams and a history, and the server that shows it."""

    def __init__(self, queries: dict[str, str], *, port: int = 0, secrets: Secrets | None = None):
        self.session = EmbeddedSession("64 MB")
        self.session.stream(
            "temp", "location string, ts timestamp, celsius double", time="ts", lateness=0
        )
        self.session.stream("smoke", "location string, ts timestamp, strength double", time="ts")
        self.session.history(
            "temp",
            measures=["celsius"],
            by=["location"],
            levels=[("1 second", "10 minutes"), ("1 minute", "forever")],
        )
        self.registry = Registry(EmbeddedRunner(self.session), "a test")
        for name, text in queries.items():
            self.registry.follow(text, name)
        self.seconds = 0
        super().__init__(self.registry, port=port, secrets=secrets)

    def play(self, seconds: int) -> None:
        """So many seconds of readings, one a room and second, in both streams."""
        span = range(self.seconds, self.seconds + seconds)
        times = [START + timedelta(seconds=second) for second in span]
        self.push(
            "temp",
            [
                {"location": room, "ts": time, "celsius": 20.0 + place + time.second % 10}
                for time in times
                for place, room in enumerate(ROOMS)
            ],
        )
        self.push("smoke", [{"location": "lab", "ts": time, "strength": 0.5} for time in times])
        self.seconds += seconds

    def push(self, stream: str, rows: Sequence[dict[str, Any]]) -> None:
        """Rows, as from outside."""
        with self.session.lock:
            self.session.push(stream, rows)

    def close(self) -> None:
        """Ends the server, then the session."""
        super().close()
        self.session.stop()
