"""The smart building without an end, for the console: building after building, at a pace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pyarrow as pa
import pyarrow.compute as pc

from windrow.console.embedded_runner import EmbeddedRunner
from windrow.console.player import Piece, Player
from windrow.console.room import Room
from windrow.demo.building import (
    ALARM_QUERY,
    LATENESS,
    LENGTH_US,
    SCHEMAS,
    SLICE_US,
    building,
)
from windrow.embedded.session import EmbeddedSession

__all__ = ["LiveBuilding"]

# So little that the queries with ERROR get narrower windows after about twenty minutes of event
# time, when the exact ones hold all of theirs.
MEMORY = "1120 KB"
PACE = 60.0
PARTS = 12  # of a slice of half a minute, so that charts move smoothly
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
    """A room with the building in it; start() lets time run."""

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
        self.room = Room(EmbeddedRunner(session), "A smart building", is_read_only=read_only)
        self.room.follow_all(QUERIES)
        self._session = session
        pieces = _pieces(seed)
        for piece in islice(pieces, PARTS_BEFORE):
            for name, rows in piece.rows.items():
                session.push(name, rows)
        self._player = Player(
            pieces, session.push, session.finish, self.room.note_problem, pace or PACE
        )

    def start(self) -> None:
        """Time runs."""
        self._player.start()

    def close(self) -> None:
        """Time stops, and all queries."""
        self._player.stop()
        with self._session.lock:
            self._session.stop()


def _pieces(seed: int) -> Iterator[Piece]:
    """Half an hour after the other, each of another building."""
    shift_us = 0
    while True:
        scene = building(seed)
        for slice_ in scene.slices:
            if slice_.until_us > scene.slices[0].until_us + LENGTH_US - SLICE_US:
                break  # the last readings, which would come late in the next building
            for part in range(PARTS):
                until_us = slice_.until_us - SLICE_US + (part + 1) * SLICE_US // PARTS
                rows = {
                    name: _shifted(_part(table, part), shift_us)
                    for name, table in slice_.rows.items()
                }
                yield Piece(until_us + shift_us, rows)
        seed, shift_us = seed + 1, shift_us + LENGTH_US


def _part(table: pa.Table, part: int) -> pa.Table:
    """One part of a slice, in the order of delivery."""
    first, end = (table.num_rows * each // PARTS for each in (part, part + 1))
    return table.slice(first, end - first)


def _shifted(table: pa.Table, shift_us: int) -> pa.Table:
    place = table.schema.get_field_index("ts")
    times = pc.add(table.column(place).cast(pa.int64()), shift_us)
    return table.set_column(
        place, table.schema.field(place), times.cast(table.schema.field(place).type)
    )
