"""Queries over tables against DuckDB, which sees the newest row of each key at every instant."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.runners import exactly
from support.sql_oracle import NEVER, TO
from support.streams import Push
from support.table_runs import (
    AnyAction,
    Change,
    assert_tables_are_right,
    give_any,
    model_of,
    table_scenarios,
    table_session,
)

PLAIN = (
    "SELECT k, s, n FROM t",
    "SELECT k, s, ts, n FROM v",
    "SELECT s, d, n FROM w",
    "SELECT COUNT(*) AS c, SUM(n) AS x, MAX(s) AS m FROM t",
    "SELECT s, COUNT(*) AS c FROM v GROUP BY s HAVING COUNT(*) < 3",
    "SELECT n FROM t ORDER BY n DESC LIMIT 2",
    "SELECT t.s, v.n FROM t FULL JOIN v ON t.k = v.k",
    "SELECT x.n FROM t AS x JOIN t AS y ON x.n = y.k",
    "SELECT SUM(n) AS x FROM v EVERY (1 SECOND)",
)
MIXED = (
    "SELECT a.k, a.d, t.s FROM a [3 SECONDS] JOIN t ON a.k = t.k",
    "SELECT a.k, t.n AS x, v.n AS y FROM a [2 SECONDS] LEFT JOIN t ON a.k = t.k "
    "LEFT JOIN v ON a.k = v.k AND v.n > 0",
    "SELECT t.k, COUNT(a.d) AS c FROM t LEFT JOIN a [3 SECONDS] ON a.k = t.k GROUP BY t.k",
    "SELECT k FROM t WHERE k NOT IN (SELECT k FROM a [2 SECONDS] WHERE k > 0)",
    "SELECT a.k FROM a [2 SECONDS] WHERE EXISTS (SELECT 1 FROM t WHERE t.k = a.k AND t.n > 0)",
    "SELECT a.k, (SELECT n FROM t WHERE t.k = a.k) AS n FROM a [PARTITION BY k ROWS 1]",
    "SELECT k, n FROM t UNION ALL SELECT k, l FROM a [1 SECOND]",
    "SELECT t.s, SUM(a.k) AS x FROM a [2 SECONDS], t WHERE a.k = t.k GROUP BY t.s EVERY (1 SECOND)",
    "SELECT b.k, w.n FROM b [2 SECONDS] JOIN w ON b.s = w.s AND b.d = w.d",
    "SELECT x.c - y.c AS zero FROM (SELECT COUNT(*) AS c FROM t) AS x, "
    "(SELECT COUNT(k) AS c FROM t) AS y, (SELECT COUNT(*) AS c FROM a [1 SECOND]) AS z",
)
AS_OF = (
    "SELECT a.k, a.d, t.s, t.n FROM a [3 SECONDS] JOIN t FOR SYSTEM_TIME AS OF a.ts ON a.k = t.k",
    "SELECT a.k, v.n FROM a [2 SECONDS] LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts AS v ON v.k = a.k",
    "SELECT b.k, t.n FROM b [RANGE 2 SECONDS SLIDE 1 SECOND] AS b "
    "LEFT JOIN t FOR SYSTEM_TIME AS OF b.ts ON b.k = t.k AND t.n > 0",
    "SELECT a.s, w.n FROM a [ROWS 3] JOIN w FOR SYSTEM_TIME AS OF a.ts ON a.s = w.s AND a.d = w.d",
    "SELECT r.s, COUNT(*) AS c FROM a [3 SECONDS] JOIN t FOR SYSTEM_TIME AS OF a.ts AS r "
    "ON a.k = r.k WHERE r.n IS NOT NULL GROUP BY r.s EVERY (1 SECOND)",
    "SELECT x.k, t.n AS p, v.n AS q FROM (SELECT k, ts FROM a [2 SECONDS] WHERE k > 0) AS x "
    "LEFT JOIN t FOR SYSTEM_TIME AS OF x.ts ON x.k = t.k "
    "LEFT JOIN v FOR SYSTEM_TIME AS OF x.ts ON x.k = v.k",
)
# Windows that close let rows in later than at their times.
CLOSING = (
    "SELECT a.k, t.n FROM a [TUMBLE 2 SECONDS] JOIN t FOR SYSTEM_TIME AS OF a.ts ON a.k = t.k",
    "SELECT a.k, v.n FROM a [HOP 3 SECONDS BY 2 SECONDS] AS a "
    "LEFT JOIN v FOR SYSTEM_TIME AS OF a.ts ON a.k = v.k",
)
AS_OF = (*AS_OF, *CLOSING)
TEXTS = (*PLAIN, *MIXED, *AS_OF)


@pytest.mark.parametrize("text", TEXTS)
def test_a_query_is_right_at_every_instant(text: str) -> None:
    """Whatever comes to streams and tables, in whatever order."""

    @settings(max_examples=4)
    @given(table_scenarios())
    def check(actions: list[AnyAction]) -> None:
        session = table_session()
        query = session.query(text)
        for action in actions:
            give_any(session, action)
        session.finish()
        told = query.answers(), query.changes(), query.result()
        assert_tables_are_right(text, model_of(actions), told)

    check()


@settings(max_examples=4)
@given(table_scenarios(), st.randoms(use_true_random=False))
def test_rows_may_be_cut_into_other_pushes(actions: list[AnyAction], draw: random.Random) -> None:
    """Answers do not depend on it, whatever the tables do in between."""
    # Rows of one push never make each other late: in order they do not in any case.
    actions = [_in_order(action) for action in actions]
    texts = [TEXTS[i] for i in (3, 9, 11, 19, 20, 23)]
    told = []
    for cuts in (False, True):
        session = table_session()
        queries = [session.query(text) for text in texts]
        for action in actions:
            for part in _cut(action, draw) if cuts else [action]:
                give_any(session, part)
        session.finish()
        told.append(
            [exactly(each) for q in queries for each in (q.answers(), q.changes(), q.result())]
        )
    assert told[0] == told[1]


def _in_order(action: AnyAction) -> AnyAction:
    if not isinstance(action, Push):
        return action
    return Push(action.stream, tuple(sorted(action.rows, key=lambda row: str(row["ts"]))))


def _cut(action: AnyAction, draw: random.Random) -> list[AnyAction]:
    if not isinstance(action, Push):
        return [action]
    parts: list[AnyAction] = []
    rows = action.rows
    while rows:
        size = draw.randint(1, len(rows))
        parts.append(Push(action.stream, rows[:size]))
        rows = rows[size:]
    return parts


@settings(max_examples=10)
@given(table_scenarios())
def test_tables_hold_the_newest_rows(actions: list[AnyAction]) -> None:
    """ask() sees them, and the ledger accounts for every row that was given."""
    session = table_session()
    for action in actions:
        give_any(session, action)
    session.finish()
    model = model_of(actions)
    assert_tables_are_right_now = session.ask("SELECT k, s, n FROM t")
    held = {(row["k"], row["s"], row["n"]) for row in assert_tables_are_right_now.to_pylist()}
    rows = model.rows()["t"].filter(_open(model.rows()["t"]))
    assert held == {(row["k"], row["s"], row["n"]) for row in rows.to_pylist()}
    given_rows = {name: 0 for name in "tvw"}
    for action in actions:
        if isinstance(action, Change):
            given_rows[action.table] += len(action.rows)
    ledger = {row["stream"]: row for row in session.ledger().to_pylist()}
    for name, count in given_rows.items():
        row = ledger[name]
        assert row["rows_in"] == count == row["applied"] + row["late"] + row["waiting"]


def _open(table: pa.Table) -> pa.ChunkedArray:
    """Which versions hold at the end."""
    return pc.equal(table[TO], NEVER)
