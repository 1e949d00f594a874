"""What happens to a session, step by step, and how the session is then: for logs and replays."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pyarrow as pa

import windrow
from windrow.embedded.session import EmbeddedSession

START_S = 1_767_225_600  # 2026-01-01
Step = Callable[[EmbeddedSession], object]

QUERIES = {
    "joined": """SELECT a.k, COUNT(*) AS n, SUM(a.v) AS s FROM a [60 SECONDS], b [30 SECONDS]
        WHERE a.k = b.k GROUP BY a.k""",
    "ticks": "SELECT k, AVG(v) AS v FROM a [20 SECONDS] GROUP BY k EVERY (5 SECONDS)",
    "largest": "SELECT MAX(v) AS v, COUNT(DISTINCT k) AS k FROM a [40 SECONDS]",
    "rows": "SELECT k, v FROM a [10 SECONDS] WHERE v > 2",
    "top": "SELECT k, v FROM a [15 SECONDS] ORDER BY v DESC, k LIMIT 3",
    "named": "SELECT r.name, COUNT(*) AS n FROM a [30 SECONDS] JOIN rooms r ON a.k = r.k "
    "GROUP BY r.name",
    "viewed": "SELECT SUM(n) AS n FROM busy",
    "sessions": "SELECT k, COUNT(*) AS n FROM b [SESSION 5 SECONDS PARTITION BY k] GROUP BY k",
    "past": "SELECT SUM(v) AS v FROM HISTORY(a) [FROM '2026-01-01' TO NOW] EVERY (10 SECONDS)",
    "called": "SELECT SUM(twice(v)) AS v FROM a [20 SECONDS]",
}


# The number of the step that pushes many rows.
MANY_ROWS = 20
# While these ran, snapshots before version 4 were not taken.
NOT_SAVED_ONCE = {"viewed", "past"}


def at(second: float) -> int:
    """An instant, so many seconds after the beginning."""
    return int((START_S + second) * 1_000_000)


def twice(value: float | None) -> float | None:
    """A function of Python that queries call."""
    return None if value is None else 2 * value


def declared(session: EmbeddedSession) -> None:
    """All that is declared: once more, it changes nothing."""
    session.function("twice", twice, returns="double", takes="double")
    session.stream("a", "ts timestamp, k int, v double", time="ts", lateness="2 seconds")
    session.stream("b", "ts timestamp, k int", time="ts", on_bad_row="set aside", keep="20 seconds")
    session.table("rooms", "k int, name string", key="k")
    session.view("busy", "SELECT k, COUNT(*) AS n FROM a [30 SECONDS] GROUP BY k")
    levels = [("1 second", "20 seconds"), ("10 seconds", "forever")]
    session.history("a", measures=["v"], by=["k"], levels=levels)


def registered(session: EmbeddedSession) -> None:
    """All queries."""
    for name, text in QUERIES.items():
        session.query(text, name=name)


def _batch(first: int, count: int) -> pa.RecordBatch:
    """Rows of two seconds; few of many have a value."""
    seconds = [first + i * 20 // count / 10 for i in range(count)]
    values = [(None, math.nan, i % 5)[i % 3] if i < 60 else 0.0 for i in range(count)]
    kind = pa.timestamp("us", tz="UTC")
    times = pa.array([at(second) for second in seconds], kind)
    keys = pa.array([i % 4 for i in range(count)], pa.int32())
    return pa.record_batch([times, keys, pa.array(values, pa.float64())], ["ts", "k", "v"])


def _late_and_bad(session: EmbeddedSession) -> None:
    session.push("b", [{"ts": at(1), "k": 1}, {"ts": at(30), "k": "one"}, {"ts": at(30), "k": 2}])


def _refused(session: EmbeddedSession) -> None:
    with suppress(windrow.WindrowError):
        session.push("a", [{"ts": at(40), "k": "no number", "v": 1.0}])


def _refused_change(session: EmbeddedSession) -> None:
    with suppress(windrow.WindrowError):
        session.upsert("rooms", {"k": None, "name": "nowhere"})


def _one(stream: str, second: float, *values: object) -> Step:
    return lambda session: session.push(stream, (at(second), *values))


def _registered_to_save(session: EmbeddedSession) -> None:
    """Those that could be in a snapshot before version 4."""
    for name, text in QUERIES.items():
        if name not in NOT_SAVED_ONCE:
            session.query(text, name=name)


def _past(session: EmbeddedSession) -> None:
    with suppress(windrow.BindingError):
        session["past"].answers()


STEPS: list[Step] = [
    declared,
    lambda s: s.upsert("rooms", [{"k": 0, "name": "lab"}, {"k": 1, "name": "hall"}]),
    registered,
    *(_one("a", i, i % 4, float(i)) for i in range(6)),
    *(_one("b", i + 0.5, i % 4) for i in range(6)),
    lambda s: s["joined"].answers(),
    lambda s: s.push("a", _batch(6, 60)),
    lambda s: s.push("b", _batch(6, 60).select(["ts", "k"])),
    lambda s: s["rows"].changes(limit=7),
    lambda s: s.push("a", {"ts": [at(10)], "k": [3], "v": [math.inf]}),
    lambda s: s.push("a", _batch(11, 17_000).slice(3, 16_900)),
    lambda s: s["ticks"].answers(),
    lambda s: s.delete("rooms", [1]),
    lambda s: s.advance("b", to=at(20)),
    _late_and_bad,
    _refused,
    _refused_change,
    _one("a", 190, 1, 1.5),
    _one("b", 191, 1),
    lambda s: s.query("SELECT COUNT(*) AS n FROM b [20 SECONDS]", name="kept"),
    lambda s: s["largest"].stop(),
    lambda s: s.upsert("rooms", {"k": 1, "name": "cellar"}),
    *(_one("a", 192 + i, 1, float(i)) for i in range(3)),
    *(_one("b", 192 + i, 1) for i in range(3)),
    lambda s: s["joined"].changes(),
    _past,
    _one("a", 196, 2, 0.25),
    lambda s: s.finish(),
]


# Steps of several calls, of which each is a change of its own.
SEVERAL_CALLS = {number for number, step in enumerate(STEPS) if step.__name__ != "<lambda>"}
# The same for queries that could be in a snapshot before version 4.
ONCE_SAVED_STEPS = [_registered_to_save if step is registered else step for step in STEPS]


def without_many(steps: list[Step]) -> list[Step]:
    """The steps of a state that is stored with the tests: without the push of many rows."""
    return steps[:MANY_ROWS] + steps[MANY_ROWS + 1 :]


def observed(session: EmbeddedSession) -> dict[str, Any]:
    """All that can be seen of a session; what is unread is read by it."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in [*QUERIES, "kept"]:
            try:
                query = session[name]
            except windrow.BindingError:
                continue
            tables = query.result(), query.answers(), query.changes()
            found[name] = [repr(table.to_pylist()) for table in tables]
        found["ledger"] = session.ledger().to_pylist()
        for stream in session.streams()["stream"].to_pylist():
            aside = session.late(stream), session.bad_rows(stream)
            found[f"aside of {stream}"] = repr([table.to_pylist() for table in aside])
        held = session.windows().select(["stream", "width", "rows"])
        found["windows"] = sorted(map(repr, held.to_pylist()))
        found["histories"] = session.histories().drop_columns(["bytes"]).to_pylist()
        found["tables"] = session.tables().drop_columns(["bytes"]).to_pylist()
        found["views"] = session.views().drop_columns(["bytes"]).to_pylist()
        if "rooms" in [row["table"] for row in found["tables"]]:
            found["rooms"] = session.ask("SELECT k, name FROM rooms ORDER BY k").to_pylist()
    return found


def undisturbed(count: int, steps: list[Step] = STEPS) -> dict[str, Any]:
    """A session in memory after so many steps."""
    session = windrow.connect()
    run(session, 0, count, steps)
    return observed(session)


def run(session: EmbeddedSession, first: int, last: int, steps: list[Step] = STEPS) -> None:
    """Some of the steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in steps[first:last]:
            step(session)
