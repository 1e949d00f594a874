"""One run of a session in a process of its own: how far its memory grew. Printed as JSON.

The run is done twice in small first, so that what Python, Arrow and compiled code need is there
before anything is measured; freed memory is given back before each reading.
"""

from __future__ import annotations

import ctypes
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

import windrow

MEGABYTE = 1 << 20
BASE_US = 1_700_000_000_000_000
Step = Callable[[int], object]


def resident() -> int:
    """Bytes of this process in memory, without what the allocators only keep for later."""
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def times(first_us: int, count: int, step_us: int = 1_000) -> pa.Array:
    return pa.array(BASE_US + first_us + step_us * np.arange(count), pa.timestamp("us"))


def session_of(megabytes: float, schema: str, **options: Any) -> Any:
    session = windrow.connect(memory=int(megabytes * MEGABYTE))
    session.stream("s", schema, time="ts", **options)
    return session


def wide_texts(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Texts as large as a fiftieth of the budget, that nobody reads."""
    session = session_of(megabytes, "ts timestamp, t string")
    queries = [session.query("SELECT t FROM s [2 SECONDS]")]
    size = int(megabytes * MEGABYTE / 50)
    for number in range(int(400 * scale)):
        text = f"{number:08}" * (size // 8)
        session.push("s", pa.table({"ts": times(number * 1_000_000, 1), "t": [text]}))
        yield session, queries


def wide_groups(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """The same with groups by wide texts."""
    session = session_of(megabytes, "ts timestamp, t string")
    queries = [session.query("SELECT t, COUNT(*) AS n FROM s [2 SECONDS] GROUP BY t")]
    size = int(megabytes * MEGABYTE / 50)
    for number in range(int(400 * scale)):
        text = f"{number:08}" * (size // 8)
        session.push("s", pa.table({"ts": times(number * 1_000_000, 1), "t": [text]}))
        yield session, queries


def churn(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Ever new keys, in a window of a second."""
    session = session_of(megabytes, "ts timestamp, k string, x bigint")
    queries = [
        session.query("SELECT k, COUNT(*) AS n, MAX(x) AS x FROM s [1 SECOND] GROUP BY k"),
        session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]"),
        session.query("SELECT k, x FROM s [1 SECOND]"),
        session.query("SELECT DISTINCT k FROM s [1 SECOND]"),
    ]
    count = 500
    for number in range(int(20 * megabytes * scale)):
        keys = [f"a key of some length {number * count + each}" for each in range(count)]
        rows = {"ts": times(number * 1_000_000, count), "k": keys, "x": range(count)}
        session.push("s", pa.table(rows))
        yield session, queries


def many_groups(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """More and more groups until rows are refused."""
    session = session_of(megabytes, "ts timestamp, k bigint, x bigint")
    queries = [session.query("SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s [1 HOUR] GROUP BY k")]
    count = 1_000
    for number in range(int(20 * megabytes * scale)):
        keys = np.arange(number * count, (number + 1) * count)
        rows = {"ts": times(number * 1_000_000, count), "k": keys, "x": keys}
        session.push("s", pa.table(rows))
        yield session, queries


def singles(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Rows one by one, each with an answer of its own."""
    session = session_of(megabytes, "ts timestamp, k bigint")
    queries = [
        session.query("SELECT COUNT(*) AS n, AVG(k) AS mean FROM s [1 SECOND]"),
        session.query("SELECT AVG(k) AS mean FROM s [1 SECOND] ERROR (10%)"),
    ]
    for number in range(int(40 * megabytes * scale)):
        session.push(
            "s", pa.table({"ts": times(number * 100_000_000, 100, 100_000), "k": range(100)})
        )
        yield session, queries


def late_rows(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Wide rows that come too late."""
    session = session_of(megabytes, "ts timestamp, t string")
    queries = [session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]")]
    session.push("s", {"ts": "2030-01-01", "t": ""})
    size = int(megabytes * MEGABYTE / 50)
    for number in range(int(200 * scale)):
        text = f"{number:08}" * (size // 8)
        session.push("s", pa.table({"ts": times(number * 1_000_000, 1), "t": [text]}))
        yield session, queries


def waiting(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Rows that wait for a clock that does not move."""
    session = session_of(megabytes, "ts timestamp, k bigint, t string", lateness="1 day")
    queries = [
        session.query("SELECT k, t FROM s [1 SECOND]"),
        session.query("SELECT COUNT(*) AS n FROM s [1 SECOND]"),
    ]
    count = 1_000
    for number in range(int(20 * megabytes * scale)):
        keys = np.arange(number * count, (number + 1) * count)
        rows = {
            "ts": times(number * 1_000_000, count),
            "k": keys,
            "t": [f"{each:0100}" for each in keys],
        }
        session.push("s", pa.table(rows))
        yield session, queries


def gathered(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Wide rows, given one by one as dictionaries, into a stream that nobody reads."""
    session = session_of(megabytes, "ts timestamp, t string")
    size = int(megabytes * MEGABYTE / 50)
    for number in range(int(300 * scale)):
        session.push("s", {"ts": BASE_US + number * 1_000_000, "t": f"{number:08}" * (size // 8)})
        yield session, []


def followers(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """A reader beside others, which lags, of wide answers."""
    session = session_of(megabytes, "ts timestamp, t string")
    queries = [session.query("SELECT t FROM s [1 SECOND]")]
    lagging = queries[0].follow()
    size = int(megabytes * MEGABYTE / 50)
    for number in range(int(300 * scale)):
        text = f"{number:08}" * (size // 8)
        session.push("s", pa.table({"ts": times(number * 1_000_000, 1), "t": [text]}))
        yield session, queries
    lagging.close()


def cross(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Every row with every other: the joined rows of a window are held."""
    session = session_of(megabytes, "ts timestamp, k bigint")
    session.stream("r", "ts timestamp, k bigint", time="ts")
    queries = [session.query("SELECT s.k AS a, r.k AS b FROM s [1 SECOND], r [1 SECOND]")]
    count = int(20 * megabytes**0.5)
    for number in range(int(40 * scale)):
        for stream in ("s", "r"):
            rows = {"ts": times(number * 2_000_000, count), "k": range(count)}
            session.push(stream, pa.table(rows))
        yield session, queries


def tree(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """Trees over a join in which every row of a burst matches every other."""
    session = session_of(megabytes, "ts timestamp, k bigint, x bigint")
    session.stream("r", "ts timestamp, k bigint, x bigint", time="ts")
    joined = "FROM s [1 SECOND] LEFT JOIN r [1 SECOND] ON s.k = r.k AND s.x < r.x"
    queries = [
        session.query(f"SELECT DISTINCT s.x % 10 AS x, r.x % 10 AS y {joined}"),
        session.query(f"SELECT s.x, r.x AS y {joined} ORDER BY y DESC, s.x LIMIT 5"),
    ]
    count = int(80 * megabytes**0.5)
    for number in range(int(60 * scale)):
        # Most of the time keys are many; then one key is that of all rows.
        keys = np.zeros(count, np.int64) if number % 8 == 7 else np.arange(count)
        for stream in ("s", "r"):
            rows = {"ts": times(number * 2_000_000, count), "k": keys, "x": np.arange(count)}
            with suppress(windrow.AdmissionError):
                session.push(stream, pa.table(rows))
        yield session, queries


def history(megabytes: float, scale: float) -> Iterator[tuple[Any, list[Any]]]:
    """A continuous question about the past of many groups, whose answers nobody reads."""
    session = session_of(megabytes, "ts timestamp, k string, x bigint")
    session.history("s", measures=["x"], by=["k"], levels=[("1 second", "1 minute")])
    queries = [
        session.query(
            "SELECT k, SUM(x) AS x FROM HISTORY(s) [FROM '2023-01-01' TO NOW] "
            "GROUP BY k EVERY (1 SECOND)"
        )
    ]
    for number in range(int(20 * megabytes * scale)):
        rows = {
            "ts": times(number * 1_000_000, 50),
            "k": [f"a key of some length {each}" for each in range(50)],
            "x": [number] * 50,
        }
        session.push("s", pa.table(rows))
        yield session, queries


# What is measured after every step, as it has few.
FEW_STEPS = ("tree",)
READERS: dict[str, Callable[[Any], object]] = {
    "nobody": lambda _: None,
    "answers": lambda query: query.answers(),
    "changes": lambda query: query.changes(),
    "all": lambda query: (query.answers(), query.changes(), query.result()),
}


def run(name: str, reader: str, megabytes: float, scale: float) -> dict[str, Any]:
    """Bytes that the process grew by at most, what the session said of itself then, and its end."""
    before, most, said, refused = resident(), 0, 0, 0
    steps = globals()[name](megabytes, scale)
    number = 0
    while True:
        try:
            step = next(steps, None)
        except windrow.AdmissionError:
            refused += 1
            break
        if step is None:
            break
        session, queries = step
        for query in queries:
            READERS[reader](query)
        number += 1
        if number % 16 == 0 or name in FEW_STEPS:
            grown = resident() - before
            if grown > most:
                most, said = grown, session.nbytes
    return {"grown": most, "said": said, "refused": refused, "steps": number}


def main() -> None:
    name, reader, megabytes, scale = sys.argv[1:]
    warnings.simplefilter("ignore", RuntimeWarning)
    run(name, reader, 16, 0.1)
    run(name, reader, 16, 0.1)
    sys.stdout.write(json.dumps(run(name, reader, float(megabytes), float(scale))))


if __name__ == "__main__":
    main()
