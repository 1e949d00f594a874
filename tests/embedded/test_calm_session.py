"""A session whose windows take turns while queries come and go: nobody waits longer than EVERY."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from windrow.embedded import unread_answers
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError

SECOND_US = 1_000_000
START_US = 1_767_225_600 * SECOND_US
STEP_S = 10
ERROR = 0.05
KNOWN_S = 600  # twice the range
RATE = 40


@dataclass
class CalmSession:
    """On each of many streams a query that needs its range, and a wider one that can wait."""

    streams: int
    memory: int
    every_s: int = 150
    answers: dict[str, list[tuple[int, str, float]]] = field(default_factory=dict)
    levels: set[str] = field(default_factory=set)
    most_at_c: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        self.session = EmbeddedSession(self.memory)
        self.random = np.random.default_rng(5)
        self.wide: dict[str, EmbeddedQuery] = {}
        self.started: dict[str, int] = {}
        for number in range(self.streams):
            self.session.stream(f"s{number}", "ts timestamp, x double", time="ts")
            self.start(number, 0)
            self.session.query(f"SELECT COUNT(*) AS n FROM s{number} [250 SECONDS] EVERY (10)")

    def start(self, number: int, second: int) -> None:
        """A wide query on a stream, if it is taken."""
        name = f"wide{number}_{second}"
        try:
            query = self.session.query(
                f"SELECT COUNT(*) AS n FROM s{number} [300 SECONDS]"
                f" ERROR (5%) EVERY ({self.every_s})",
                name=name,
            )
        except AdmissionError:
            self.refused += 1
            return
        assert isinstance(query, EmbeddedQuery)
        self.wide[name], self.answers[name], self.started[name] = query, [], second

    def play(self, seconds: int, *, changes_every_s: int = 0) -> None:
        """Rows of all streams; now and then a wide query ends, and another one starts later."""
        gone: list[int] = []
        for second in range(0, seconds, STEP_S):
            if changes_every_s and second > 400 and second % changes_every_s == 0:
                if gone:
                    self.start(gone.pop(), second)
                else:
                    name = str(self.random.choice(sorted(self.wide)))
                    self.wide.pop(name).stop()
                    gone.append(int(name[4:].split("_")[0]))
            for number in range(self.streams):
                self.session.push(f"s{number}", self.rows(second))
            for name in list(self.wide):
                self.read(name)
            if second % 100 == 0:
                levels = [each["level"] for each in self.session.queries().to_pylist()]
                self.levels.update(levels)
                self.most_at_c = max(self.most_at_c, levels.count("C"))

    def read(self, name: str) -> None:
        """Take the answers of a query."""
        for row in self.wide[name].answers().to_pylist():
            at_us = round(row["at"].timestamp() * SECOND_US) - START_US
            self.answers[name].append((at_us, row["level"], row["error_bound"] or 0.0))

    def rows(self, second: int) -> pa.Table:
        count = RATE * STEP_S
        times = START_US + second * SECOND_US
        times = times + np.sort(self.random.integers(0, STEP_S * SECOND_US, count))
        stamps = pa.array(times.astype(np.int64)).cast(pa.timestamp("us", "UTC"))
        return pa.table({"ts": stamps, "x": pa.array(self.random.uniform(90, 110, count))})

    def check(self) -> None:
        """No query waited longer than EVERY, once it was known what it tolerates."""
        seen = beyond = 0
        for name, answers in self.answers.items():
            known_us = (self.started[name] + KNOWN_S) * SECOND_US
            known = [each for each in answers if each[0] >= known_us]
            gaps = [later[0] - each[0] for each, later in pairwise(known)]
            longest = max(gaps, default=0)
            assert longest <= self.every_s * SECOND_US, (name, timedelta(microseconds=longest))
            seen += len(known)
            beyond += sum(bound > ERROR for _, _, bound in known)
        # What a query tolerates is foreseen; the bound is of what came.
        assert beyond <= seen / 20


@pytest.fixture(autouse=True)
def readers_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is unread has room beside the windows, which this is about."""
    monkeypatch.setattr(unread_answers, "UNREAD_FLOOR", 64 << 20)
    monkeypatch.setattr(unread_answers, "PUBLISHED_FLOOR", 64 << 20)


def test_queries_come_and_go_while_windows_take_turns() -> None:
    calm = CalmSession(streams=6, memory=1_300_000)
    calm.play(1_800, changes_every_s=130)
    calm.check()
    assert calm.most_at_c >= 5
    assert "incomplete" not in calm.levels
