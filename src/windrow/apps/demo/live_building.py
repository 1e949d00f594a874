"""The smart building as the console shows it: queries under a budget, and time that runs."""

from __future__ import annotations

from itertools import islice

from windrow.apps.console.embedded_runner import EmbeddedRunner
from windrow.apps.console.registry import Registry
from windrow.apps.demo.building import ALARM_QUERY, LATENESS, SCHEMAS
from windrow.apps.demo.endless_building import PACE, PARTS, endless_building
from windrow.embedded.session import EmbeddedSession
from windrow.jobs.player import Player

__all__ = ["LiveBuilding"]

# So little that the queries with ERROR get narrower windows after about twenty minutes of event
# time, when the exact ones hold all of theirs.
MEMORY = "790 KB"
# Two minutes are over before anybody looks: kernels are compiled then, and rates and tolerances are
# known, without which a first query of the user's might be refused for want of memory.
PARTS_BEFORE = 4 * PARTS

QUERIES = {
    "alarms": ALARM_QUERY,
    "rooms": "SELECT location, AVG(celsius) AS mean, MAX(celsius) AS hottest\n"
    "FROM temp [20 MINUTES] GROUP BY location EVERY (5 SECONDS)",
    "heat": "SELECT COUNT(*) AS readings, AVG(celsius) AS mean\n"
    "FROM temp [10 MINUTES] ERROR (50%) EVERY (5 SECONDS)",
    "smoky": "SELECT COUNT(*) AS readings, AVG(strength) AS mean\n"
    "FROM smoke [12 MINUTES] ERROR (70%) EVERY (1 MINUTE)",
    "hot": "SELECT location, celsius FROM temp [2 MINUTES] WHERE celsius >= 40",
    "since_nine": "SELECT COUNT(*) AS readings, AVG(celsius) AS mean\n"
    "FROM HISTORY(temp) [FROM '2026-01-01 09:00' TO NOW] EVERY (1 MINUTE)",
}
LEVELS = [("10 seconds", "5 minutes"), ("1 minute", "30 minutes"), ("10 minutes", "3 hours")]


class LiveBuilding:
    """A registry with the building in it; start() lets time run."""

    def __init__(
        self,
        *,
        seed: int = 1,
        pace: float | None = None,
        memory: str | None = None,
        read_only: bool = False,
    ) -> None:
        session = EmbeddedSession(memory or MEMORY)
        for name, schema in SCHEMAS.items():
            session.stream(name, schema, time="ts", lateness=LATENESS)
        session.history("temp", measures=["celsius"], by=["location"], levels=LEVELS)
        self.registry = Registry(
            EmbeddedRunner(session), "A smart building", is_read_only=read_only
        )
        self.registry.follow_all(QUERIES)
        self._session = session
        pieces = endless_building(seed)
        for piece in islice(pieces, PARTS_BEFORE):
            for name, rows in piece.rows.items():
                session.push(name, rows)
        self._player = Player(
            pieces, session.push, session.finish, self.registry.note_problem, pace or PACE
        )

    def start(self) -> None:
        """Time runs."""
        self._player.start()

    def close(self) -> None:
        """Time stops, and all queries."""
        self._player.stop()
        with self._session.lock:
            self._session.stop()
