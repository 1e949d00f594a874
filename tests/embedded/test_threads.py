"""One thread pushes and another reads: changes still add up to the result."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from windrow.embedded.session import EmbeddedSession

START_US = 1_767_225_600_000_000
BATCHES, ROWS = 60, 500


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_changes_add_up_while_another_thread_pushes() -> None:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, k bigint", time="ts")
    query = session.query("SELECT k, COUNT(*) AS n FROM s [1 SECOND] GROUP BY k")

    def push() -> None:
        for batch in range(BATCHES):
            times = START_US + np.arange(batch * ROWS, (batch + 1) * ROWS) * 1000
            stamps = pa.array(times).cast(pa.timestamp("us"))
            session.push("s", pa.table({"ts": stamps, "k": times // 1000 % 7}))

    rows: Counter[tuple[int, int]] = Counter()

    def read() -> None:
        for row in query.changes().to_pylist():
            rows[row["k"], row["n"]] += row["change"]

    pusher = threading.Thread(target=push)
    pusher.start()
    while pusher.is_alive():
        read()
        query.result()
        session.windows()
    pusher.join()
    session.finish()
    read()
    held = {(row["k"], row["n"]): 1 for row in query.result().to_pylist()}
    assert {key: count for key, count in rows.items() if count} == held
    assert session.ledger()["rows_in"].to_pylist() == [BATCHES * ROWS]
