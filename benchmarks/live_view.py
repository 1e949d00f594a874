"""The live view and the change feed of a select: rows a second, reading the result, a burst.

python benchmarks/live_view.py [rows]: SELECT k, v FROM s [60 SECONDS] in process, with a bigint and
a double in each row (and a text), pushed in batches of 100,000.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import windrow

PUSH = 100_000
WINDOW_S = 60
START_US = 1_700_000_000_000_000
SECOND_US = 1_000_000
TEXTS = pa.array([f"name {number}" for number in range(1000)])


def batches(rows: int, rows_per_s: int, with_text: bool) -> Iterator[pa.Table]:
    """Rows in order, evenly spaced."""
    random = np.random.default_rng(1)
    for first in range(0, rows, PUSH):
        times = START_US + np.arange(first, first + PUSH) * (SECOND_US // rows_per_s)
        columns = {
            "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
            "k": pa.array(random.integers(0, 1000, PUSH)),
            "v": pa.array(random.random(PUSH)),
        }
        if with_text:
            columns["t"] = TEXTS.take(pa.array(random.integers(0, 1000, PUSH)))
        yield pa.table(columns)


def opened(window: str, with_text: bool):
    """A session with the select."""
    session = windrow.connect(memory="16 GB")
    session.stream("s", "ts timestamp, k bigint, v double" + ", t string" * with_text, time="ts")
    return session, session.query(f"SELECT k, v{', t' * with_text} FROM s [{window}]")


def throughput(rows: int, rows_per_s: int, reads: str, with_text: bool) -> float:
    """Rows a second of processor time."""
    session, query = opened(f"{WINDOW_S} SECONDS", with_text)
    given = list(batches(rows, rows_per_s, with_text))
    began = time.process_time()
    for number, batch in enumerate(given):
        session.push("s", batch)
        if reads == "changes":
            query.changes()
        elif reads == "result" and number % 5 == 4:
            query.result()
    session.finish()
    return rows / (time.process_time() - began)


def reading(live: int, with_text: bool) -> None:
    """What result() costs: first, after 1 % of the rows came and went, and with nothing new."""
    session, query = opened(f"{WINDOW_S} SECONDS", with_text)
    rows = pa.concat_tables(batches(live + PUSH, live // WINDOW_S, with_text))
    session.push("s", rows.slice(0, live))
    times = [timed(query.result)]
    session.push("s", rows.slice(live, live // 100))
    times += [timed(query.result), timed(query.result)]
    shown = ", ".join(f"{ms:.2f} ms" for ms in times)
    print(f"  result() of {live} rows, text: {with_text}: first, 1 % new, nothing new: {shown}")


def timed(call) -> float:
    """Milliseconds of processor time."""
    began = time.process_time()
    call()
    return 1000 * (time.process_time() - began)


def burst(rows: int) -> None:
    """All rows expire in one step of the clock."""
    session, query = opened("1 HOUR", with_text=False)
    for batch in batches(rows, 10_000, with_text=False):
        session.push("s", batch)
        query.changes()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ms = timed(lambda: session.advance("s", to=START_US + 5 * 3600 * SECOND_US))
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"  {rows} rows expire at once: {ms:.0f} ms, {more:.0f} MB above what was held")


def main() -> None:
    """Prints all figures."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    burst(rows)
    for reads in ("changes", "result", "nothing"):
        for with_text in (False, True):
            throughput(2 * PUSH, 2_000, reads, with_text)  # compiled code is loaded
            for rows_per_s in (2_000, 20_000):
                speed = throughput(rows, rows_per_s, reads, with_text)
                live = WINDOW_S * rows_per_s
                print(f"  read {reads}, {live} live, text: {with_text}: {speed / 1e6:.2f} M rows/s")
    for live in (100_000, 1_000_000):
        for with_text in (False, True):
            reading(live, with_text)


if __name__ == "__main__":
    main()
