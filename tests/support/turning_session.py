"""A session under a budget so small that its windows take turns at being wide (level C)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.registry import Registry
from windrow.embedded.session import EmbeddedSession

SECOND_US = 1_000_000
START_US = 1_767_225_600 * SECOND_US  # 2026-01-01
STREAMS = ("door", "lamp")
RATE = 300  # rows a second and stream
# Ranges take 100 seconds of both streams, and hardly less with the errors. Turns need 80 of
# both, and twenty seconds more of one of them.
MEMORY = 1_550_000


class TurningSession:
    """On each stream a query that needs its range, and a wider one that can wait."""

    def __init__(self) -> None:
        self.session = EmbeddedSession(MEMORY)
        self.registry = Registry(EmbeddedRunner(self.session), "windows that take turns")
        for stream in STREAMS:
            self.session.stream(stream, "ts timestamp, k int, x double", time="ts")
            text = f"SELECT COUNT(*) AS n, SUM(x) AS total FROM {stream}"
            self.registry.follow(
                f"{text} [100 SECONDS] ERROR (0.1%) EVERY (50 SECONDS)", f"wide_{stream}"
            )
            self.registry.follow(
                f"SELECT COUNT(*) AS n FROM {stream} [80 SECONDS]", f"exact_{stream}"
            )
        self._random = np.random.default_rng(3)
        self.seconds = 0

    def play(self, seconds: int, step: int = 2) -> None:
        """So many seconds of both streams."""
        for first in range(self.seconds, self.seconds + seconds, step):
            with self.session.lock:
                for stream in STREAMS:
                    self.session.push(stream, self._rows(first, step))
        self.seconds += seconds

    def _rows(self, first_s: int, span_s: int) -> pa.Table:
        """Rows at random times within a span."""
        count = RATE * span_s
        times = np.sort(self._random.integers(0, span_s * SECOND_US, count))
        times += START_US + first_s * SECOND_US
        return pa.table(
            {
                "ts": pa.array(times.astype(np.int64)).cast(pa.timestamp("us", "UTC")),
                "k": pa.array(self._random.integers(0, 9, count).astype(np.int32)),
                "x": pa.array(self._random.normal(100, 5, count)),
            }
        )
