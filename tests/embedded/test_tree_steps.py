"""A step of a tree that would form too many rows at once is undone, and made in smaller ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.embedded import EmbeddedQuery
from windrow.runtime import pace
from windrow.runtime.trees.tree_shard import TreeShard

START_US = 1_700_000_000_000_000
TEXTS = {
    "left": "SELECT a.v, b.v AS w FROM a [1 SECOND] LEFT JOIN b [1 SECOND] ON a.k = b.k",
    "distinct": "SELECT DISTINCT a.v % 7 AS x, b.v % 5 AS y"
    " FROM a [1 SECOND] FULL JOIN b [1 SECOND] ON a.k = b.k AND a.v < b.v",
    "top": "SELECT a.v, b.v AS w FROM a [1 SECOND] LEFT JOIN b [1 SECOND] ON a.k = b.k"
    " ORDER BY w DESC, a.v LIMIT 3",
    "answers": "SELECT MAX(n) AS n FROM (SELECT COUNT(b.v) AS n FROM a [1 SECOND] LEFT JOIN"
    " b [1 SECOND] ON a.k = b.k AND a.v < b.v EVERY (100 MILLISECONDS)) [1 SECOND] AS q",
}


def rows(count: int, since_us: int, key: int, step_us: int) -> pa.Table:
    times = START_US + since_us + step_us * np.arange(count)
    columns = {"ts": pa.array(times, pa.timestamp("us")), "k": [key] * count, "v": range(count)}
    return pa.table(columns)


def told(text: str, step_us: int, budget: int, raised: list[int]) -> list[object]:
    """All that a query gives: calm rows first, then many that match each other."""
    session = windrow.connect()
    for name in "ab":
        session.stream(name, "ts timestamp, k bigint, v bigint", time="ts")
    query = session.query(text)
    assert isinstance(query, EmbeddedQuery)
    query.limit_steps(budget)
    shard = query._shard
    assert isinstance(shard, TreeShard)
    note = query._pace.note
    query._pace.note = lambda events, updates: (raised.append(updates), note(events, updates))[1]
    session.push("a", rows(20, 0, key=1, step_us=10))
    session.push("b", rows(20, 0, key=2, step_us=10))
    session.push("a", rows(150, 100_000, key=3, step_us=step_us))
    session.push("b", rows(150, 100_000, key=3, step_us=step_us))
    session.finish()
    return [query.answers().to_pylist(), query.changes().to_pylist(), query.result().to_pylist()]


@pytest.mark.parametrize("step_us", [100, 0])
@pytest.mark.parametrize("name", TEXTS)
def test_a_burst_is_cut_where_it_can_be(
    name: str, step_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole: list[int] = []
    wanted = told(TEXTS[name], step_us, 1 << 40, whole)
    assert max(whole) >= 22_500 // 3
    monkeypatch.setattr(pace, "SMALLEST_STEP", 100)
    pieces: list[int] = []
    assert told(TEXTS[name], step_us, 0, pieces) == wanted
    if step_us:
        # Each row has up to 150 matches, and one piece is given up when it is four times too large.
        assert max(pieces) < 22_500 // 3
