"""How long the way of one row is: files and Python calls of a push of the anchor query."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import FrameType

import pytest

import windrow
from windrow.embedded.session import EmbeddedSession

ANCHOR = "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [60 SECONDS], b [60 SECONDS] WHERE a.k = b.k"
START = datetime(2026, 1, 1, tzinfo=UTC)


class Way:
    """The functions of Windrow that a call goes through, each with its file."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        sys.setprofile(self._note)
        try:
            call()
        finally:
            sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and "/windrow/" in file:
            self.calls[file.rpartition("/windrow/")[2], frame.f_code.co_qualname] += 1

    @property
    def files(self) -> set[str]:
        return {file for file, _ in self.calls}


def row(second: int) -> dict[str, object]:
    return {"ts": START + timedelta(seconds=second), "k": second % 3, "v": second}


@pytest.fixture
def session() -> EmbeddedSession:
    session = windrow.connect()
    for name in "ab":
        session.stream(name, "ts timestamp, k int, v bigint", time="ts")
    return session


def begun(session: EmbeddedSession) -> windrow.Query:
    """The anchor query with rows in both windows, everything compiled."""
    query = session.query(ANCHOR)
    for second in range(40):
        for name in "ab":
            session.push(name, row(second))
    query.answers()
    for name in "ab":
        session.push(name, row(40))
        query.answers()
    return query


def test_a_push_is_short(session: EmbeddedSession) -> None:
    begun(session)

    def push() -> None:
        session.push("a", row(60))
        session.streams()  # rows that were gathered are applied before anybody looks

    way = Way(push)
    looking = Way(session.streams)
    calls = (way.calls - looking.calls).total()
    assert calls <= 105, (way.calls - looking.calls).most_common()
    assert len(way.files - looking.files) <= 25, sorted(way.files - looking.files)
    assert way.calls["rows/shared_rows.py", "cast_times"] == 1


def test_a_push_and_a_read_are_short(session: EmbeddedSession) -> None:
    query = begun(session)

    def push_and_read() -> None:
        session.push("a", row(60))
        query.answers()

    way = Way(push_and_read)
    assert way.calls.total() <= 110, way.calls.most_common()
    assert len(way.files) <= 30, sorted(way.files)


def test_a_push_that_moves_the_clock_is_not_much_longer(session: EmbeddedSession) -> None:
    query = begun(session)
    session.push("a", row(60))
    query.answers()

    def push_and_read() -> None:
        session.push("b", row(60))
        assert query.answers().num_rows == 1

    way = Way(push_and_read)
    assert way.calls.total() <= 275, way.calls.most_common()
    assert len(way.files) <= 55, sorted(way.files)
    assert way.calls["rows/shared_rows.py", "cast_times"] == 1


VALUES = {
    "boolean": True,
    "tinyint": -128,
    "smallint": 7,
    "int": 2**31 - 1,
    "bigint": -(2**63),
    "float": 0.5,
    "double": 1e300,
    "string": "é",
    "timestamp": START,
    "date": date(2026, 1, 1),
    "decimal(6, 2)": Decimal("1234.56"),
}


@pytest.mark.parametrize("kind", VALUES)
def test_single_rows_are_gathered_whatever_their_types(kind: str) -> None:
    session = windrow.connect()
    session.stream("s", f"ts timestamp, x {kind}", time="ts")
    query = session.query("SELECT x FROM s [1 MINUTE]")
    way = Way(lambda: session.push("s", {"ts": START, "x": VALUES[kind]}))
    assert way.calls["rows/gathered_rows.py", "GatheredRows.add"] == 1
    assert not any("converted" in name for _, name in way.calls)
    session.push("s", {"ts": START, "x": None})
    session.finish()
    assert set(query.result()["x"].to_pylist()) == {VALUES[kind], None}
