"""Load without end on a session with a path: its memory must not grow.

python -m support.soak MINUTES [PERCENT], in tests/: resident bytes of the last tenth of the time
may be so much above those of the tenth after a third of it, 1 percent unless given. By then windows
are full, answers are read as they come, and several snapshots were taken.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import windrow
from windrow.durable import session as durable_session

__all__ = ["soak"]

BATCH_ROWS, BATCH_US, KEYS = 2_000, 2_000_000, 50
SNAPSHOT_BYTES = 8 << 20
START_US = 1_767_225_600_000_000
QUERIES = {
    "joined": "SELECT a.k, COUNT(*) AS n FROM a [30 SECONDS], b [10 SECONDS] WHERE a.k = b.k "
    "GROUP BY a.k EVERY (10 SECONDS)",
    "sums": "SELECT k, SUM(v) AS s FROM a [60 SECONDS] GROUP BY k EVERY (5 SECONDS)",
    "most": "SELECT MAX(v) AS v, MIN(v) AS w FROM a [60 SECONDS] EVERY (1 SECOND)",
    "few": "SELECT k, v FROM a [10 SECONDS] ORDER BY v DESC, k LIMIT 5",
}


def resident_bytes() -> int:
    """Of this process, as the operating system counts them."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def soak(minutes: float) -> tuple[list[int], int]:
    """Resident bytes, about a hundred times, and the rows that were pushed."""
    with tempfile.TemporaryDirectory() as folder:
        durable_session.SNAPSHOT_BYTES = SNAPSHOT_BYTES
        session = windrow.connect(path=folder, memory="256 MB")
        for name in "ab":
            session.stream(name, "ts timestamp, k bigint, v bigint", time="ts")
        session.history(
            "a", measures=["v"], levels=[("1 second", "1 minute"), ("1 minute", "1 hour")]
        )
        queries = [session.query(text, name=name) for name, text in QUERIES.items()]
        choice, found, rows = np.random.default_rng(1), [], 0
        began = time.monotonic()
        while (passed := time.monotonic() - began) < minutes * 60:
            for name in "ab":
                session.push(name, _batch(rows // (2 * BATCH_ROWS), choice))
                rows += BATCH_ROWS
            for query in queries:
                query.answers()
                query.changes()
            if passed * 100 >= len(found) * minutes * 60:
                found.append(resident_bytes())
        session.stop()
    return found, rows


def _batch(number: int, choice: Any) -> pa.Table:
    first = START_US + number * BATCH_US
    at = first + np.arange(BATCH_ROWS) * (BATCH_US // BATCH_ROWS)
    columns = {"k": choice.integers(0, KEYS, BATCH_ROWS), "v": choice.integers(0, 999, BATCH_ROWS)}
    return pa.table({"ts": pa.array(at, pa.timestamp("us", "UTC")), **columns})


def main() -> None:
    """Say how it went; exit with 1 where memory has grown."""
    minutes = float(sys.argv[1])
    most = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    found, rows = soak(minutes)
    tenth = max(1, len(found) // 10)
    before = statistics.median(found[len(found) // 3 :][:tenth])
    after = statistics.median(found[-tenth:])
    grown = 100 * (after / before - 1)
    sys.stdout.write(
        f"{minutes:g} minutes, {rows:,} rows: {before / 1e6:.1f} MB after a third of the time, "
        f"{after / 1e6:.1f} MB at the end: {grown:+.2f} %\n"
    )
    raise SystemExit(grown > most)


if __name__ == "__main__":
    main()
