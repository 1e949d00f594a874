"""Compiles ahead what common forms of queries need, so that no first query has to wait for it.

Kernels are compiled for the types of what they are given. Small queries of every form over rows of
every type have all of that compiled that most queries need.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from windrow.embedded.session import EmbeddedSession

__all__ = ["FORMS", "warm"]

SCHEMA = "ts timestamp, name string, k bigint, n int, x double, price decimal(8, 2)"
VALUES = "SUM(x) AS a, SUM(k) AS b, AVG(n) AS c, SUM(price) AS d, MIN(x) AS e, MAX(k) AS f"
JOINED = "COUNT(*) AS n, SUM(first.x) AS a, SUM(second.k) AS b, AVG(first.price) AS c"
BOTH = "first [1 MINUTE], second [1 MINUTE]"
LEVELS = [("1 second", "10 seconds"), ("10 seconds", "1 minute"), ("1 minute", "forever")]
START = datetime(2026, 1, 1, tzinfo=UTC)

FORMS: dict[str, tuple[str, ...]] = {
    "one window": (
        "SELECT COUNT(*) AS n FROM first [10 SECONDS]",
        f"SELECT COUNT(*) AS n, {VALUES} FROM first [10 SECONDS]",
        f"SELECT name, COUNT(*) AS n, {VALUES} FROM first [10 SECONDS] WHERE x > 1 "
        "GROUP BY name HAVING COUNT(*) > 1 EVERY (5 SECONDS)",
        "SELECT name, k, STDDEV(x) AS a, VARIANCE(k) AS b FROM first [10 SECONDS] GROUP BY name, k",
        "SELECT name, COUNT(DISTINCT k) AS a, COUNT(DISTINCT name) AS b FROM first [10 SECONDS] "
        "GROUP BY name",
    ),
    "windows with a slide, by rows and without an end": (
        f"SELECT name, {VALUES} FROM first [RANGE 10 SECONDS SLIDE 5 SECONDS] GROUP BY name",
        f"SELECT name, {VALUES} FROM first [ROWS 7] GROUP BY name",
        f"SELECT name, {VALUES} FROM first [PARTITION BY name ROWS 3] GROUP BY name",
        f"SELECT name, {VALUES} FROM first [UNBOUNDED] GROUP BY name",
    ),
    "joins by equality": (
        f"SELECT COUNT(*) AS n FROM {BOTH} WHERE first.k = second.k",
        f"SELECT first.name, COUNT(*) AS n FROM {BOTH} WHERE first.name = second.name "
        "GROUP BY first.name",
        f"SELECT first.n, second.name, COUNT(*) AS b, AVG(second.x) AS a FROM {BOTH} "
        "WHERE first.k = second.k GROUP BY first.n, second.name",
        f"SELECT {JOINED} FROM {BOTH} WHERE first.k = second.k",
        f"SELECT first.name, {JOINED} FROM {BOTH} WHERE first.name = second.name "
        "GROUP BY first.name HAVING COUNT(*) > 5 EVERY (5 SECONDS)",
        f"SELECT second.name, {JOINED}, MAX(second.x) AS d FROM {BOTH} WHERE first.k = second.k "
        "GROUP BY second.name",
        f"SELECT first.n, COUNT(DISTINCT second.k) AS d FROM {BOTH} WHERE first.name = second.name "
        "GROUP BY first.n",
        f"SELECT STDDEV(first.x) AS d, {JOINED} FROM {BOTH} WHERE first.k = second.k",
    ),
    "joins of three windows": (
        f"SELECT COUNT(*) AS n FROM {BOTH}, first [1 MINUTE] AS third "
        "WHERE first.k = second.k AND second.name = third.name",
        f"SELECT {JOINED}, MIN(third.x) AS d FROM {BOTH}, first [1 MINUTE] AS third "
        "WHERE first.k = second.k AND second.k = third.k",
        f"SELECT third.name, {JOINED} FROM {BOTH}, first [1 MINUTE] AS third "
        "WHERE first.k = second.k AND second.name = third.name GROUP BY third.name",
    ),
    "joins by other conditions": (
        f"SELECT {JOINED}, MAX(first.x) AS d FROM {BOTH} WHERE first.x > second.x",
        f"SELECT first.name, {JOINED} FROM {BOTH} WHERE first.name = second.name "
        "AND first.ts > second.ts GROUP BY first.name EVERY (5 SECONDS)",
    ),
    "rows of one window": (
        "SELECT name, x FROM first [10 SECONDS] WHERE x > 1",
        "SELECT DISTINCT name FROM first [10 SECONDS]",
        "SELECT name, k FROM first [ROWS 7]",
        "SELECT name, k FROM first [PARTITION BY name ROWS 3]",
    ),
    "rows of joins": (
        f"SELECT first.name, second.x FROM {BOTH} WHERE first.k = second.k",
        f"SELECT DISTINCT first.name FROM {BOTH} "
        "WHERE first.name = second.name AND first.x > second.x",
    ),
    "rows without a partner": (
        "SELECT DISTINCT name FROM first [10 SECONDS] AS seen WHERE NOT EXISTS "
        "(SELECT 1 FROM second [5 SECONDS] WHERE second.name = seen.name AND second.x > 2)",
        "SELECT COUNT(*) AS n FROM first [10 SECONDS] AS seen WHERE NOT EXISTS "
        "(SELECT 1 FROM second [5 SECONDS] WHERE second.k = seen.k) EVERY (5 SECONDS)",
    ),
    "a memory budget": (
        "SELECT COUNT(*) AS n, SUM(k) AS total FROM first [10 MINUTES] ERROR (20%) EVERY (5)",
    ),
    "histories": (
        "SELECT COUNT(*) AS n, AVG(x) AS mean, MAX(k) AS most FROM HISTORY(first) "
        "[FROM '2026-01-01 00:00:05' TO '2026-01-01 00:00:31']",
        "SELECT name, SUM(x) AS total, STDDEV(x) AS spread FROM HISTORY(first) "
        "[FROM '2026-01-01 00:00' TO '2026-01-01 00:01'] GROUP BY name",
    ),
}


def warm() -> Iterator[str]:
    """Names each form, then runs its queries before yielding the next."""
    for name, texts in FORMS.items():
        yield name
        for text in texts:
            _run(text)


def _run(text: str) -> None:
    if "ERROR" in text:
        _run_short_of_memory(text)
        return
    session = EmbeddedSession("16 MB")
    for stream in ("first", "second"):
        session.stream(stream, SCHEMA, time="ts", lateness="1 second")
    if "HISTORY" in text:
        session.history("first", measures=["x", "k"], by=["name"], levels=LEVELS)
        _push(session)
        session.ask(text)
        return
    query = session.query(text)
    _push(session)
    query.result()
    query.answers()
    query.changes()


def _push(session: EmbeddedSession) -> None:
    for start in range(0, 90, 30):
        for stream in ("first", "second"):
            session.push(
                stream, [_row(n, timedelta(seconds=n ^ 1)) for n in range(start, start + 30)]
            )
    session.finish()


def _run_short_of_memory(text: str) -> None:
    """A burst, at which the window has to become narrower."""
    session = EmbeddedSession("200 KB")
    session.stream("first", "ts timestamp, k bigint", time="ts")
    query = session.query(text)
    for minute in range(25):
        rows = range(1200 if minute == 20 else 300)
        at = [timedelta(minutes=minute, milliseconds=50 * n) for n in rows]
        session.push(
            "first", [{"ts": START + each, "k": n} for n, each in zip(rows, at, strict=True)]
        )
    query.answers()


def _row(n: int, at: timedelta) -> dict[str, object]:
    """A row of both streams; neighbours come out of order."""
    return {
        "ts": START + at,
        "name": f"name {n % 5}",
        "k": n % 7,
        "n": n % 3,
        "x": n % 11 / 4,
        "price": Decimal(n % 13) / 4,
    }
