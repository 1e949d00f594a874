"""Streams pushed one event at a time, in every way, and queries of every form over them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from hypothesis import settings
from hypothesis import strategies as st

import windrow
from windrow.embedded import EmbeddedSession

# An example runs a few forms, so that a failing one can be made smaller; there are more of them.
MANY_EXAMPLES = 3 * settings.default.max_examples // 2
START = 1_767_225_600_000_000
SECOND = 1_000_000
COLUMNS = "ts timestamp, k int, v double, w bigint, name string"
NAMES = ("ts", "k", "v", "w", "name")
JOIN = "FROM a [4 SECONDS], b [7 SECONDS] WHERE a.k = b.k"
FORMS = {
    "whole": "SELECT COUNT(*) AS n, SUM(w) AS s, AVG(w) AS m FROM a [5 SECONDS] WHERE w > 2",
    "grouped": "SELECT k, COUNT(v) AS n, SUM(v) AS s, AVG(v) AS m FROM a [5 SECONDS] GROUP BY k",
    "two groups": "SELECT name, k, COUNT(*) AS n FROM b [5 SECONDS] GROUP BY name, k",
    "having": "SELECT k, SUM(w) + 1 AS s FROM a [9 SECONDS] GROUP BY k HAVING COUNT(*) > 1",
    "slide": "SELECT COUNT(*) AS n, SUM(w) AS s FROM a [RANGE 6 SECONDS SLIDE 2 SECONDS]",
    "every": "SELECT COUNT(*) AS n FROM b [6 SECONDS] EVERY (2 SECONDS)",
    "join": f"SELECT COUNT(*) AS n, SUM(a.w) AS s, AVG(b.v) AS m, COUNT(b.name) AS c {JOIN}",
    "join by key": f"SELECT a.k, COUNT(*) AS n, SUM(b.w) AS s, MAX(a.w) AS m {JOIN} GROUP BY a.k",
    "join having": f"SELECT a.k AS k {JOIN} AND a.w <> 3 GROUP BY a.k HAVING SUM(b.w) >= 4",
    "text keys": (
        "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [4 SECONDS], b [4 SECONDS] "
        "WHERE a.name = b.name AND (a.w IS NULL OR NOT a.w IN (1, 2))"
    ),
    "self join": "SELECT COUNT(*) AS n FROM a [3 SECONDS] x, a [6 SECONDS] y WHERE x.k = y.w",
    "star": (
        "SELECT COUNT(*) AS n, SUM(c.w) AS s, COUNT(a.v) AS m FROM a [4 SECONDS], b [6 SECONDS], "
        "a [8 SECONDS] c WHERE a.k = b.k AND b.k = c.k"
    ),
    "extremes": "SELECT k, MIN(w) AS l, MAX(v) AS h FROM a [5 SECONDS] GROUP BY k",
    "truths": "SELECT BOOL_OR(w > 2) AS t, BOOL_AND(w > 1) AS u FROM a [5 SECONDS]",
    "values": "SELECT COUNT(DISTINCT v) AS n, COUNT(DISTINCT name) AS m FROM a [5 SECONDS]",
    "select": "SELECT k, v, w * 2 AS w, name FROM a [5 SECONDS] WHERE w BETWEEN 1 AND 4",
    "distinct": "SELECT DISTINCT k, name FROM b [5 SECONDS]",
    "residual": f"SELECT COUNT(*) AS n, SUM(a.v) AS s, AVG(b.w) AS m {JOIN} AND a.w < b.w",
    "joined rows": f"SELECT a.k, a.name, b.v {JOIN} AND a.v <= b.v",
    "groups of both": (
        "SELECT a.name, b.w, COUNT(*) AS n, MAX(a.v) AS h, COUNT(DISTINCT b.v) AS d, "
        f"SUM(a.w - b.w) AS s {JOIN} GROUP BY a.name, b.w HAVING COUNT(*) < 5"
    ),
    "anti join": "SELECT a.k, a.w FROM a [6 SECONDS] LEFT ANTI JOIN b [3 SECONDS] ON a.k = b.k",
    "anti sum": (
        "SELECT a.name, SUM(a.v) AS s FROM a [6 SECONDS] WHERE NOT EXISTS (SELECT 1 FROM "
        "b [3 SECONDS] WHERE b.k = a.k AND b.name = a.name) GROUP BY a.name"
    ),
    "a tree": "SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k ORDER BY n DESC, k LIMIT 2",
}  # fmt: skip

values = st.fixed_dictionaries(
    {
        "k": st.sampled_from([None, 1, 1, 2, 3]),
        "v": st.sampled_from([None, 0.5, -1.25, 1e10, 0.1, 3.0, math.nan, -0.0, 0.0]),
        "w": st.sampled_from([None, 1, 2, 3, 4, -(2**40)]),
        "name": st.sampled_from([None, "x", "y", "é"]),
    }
)
# A step of time (back, too: late rows), the stream, how it is pushed, and whether somebody looks.
actions = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 1, 2, 5, -1, -3, 20]),
        st.sampled_from("ab"),
        st.sampled_from(
            ["dict", "tuple", "dict", "tuple", "Arrow", "list", "table", "empty", "advance"]
        ),
        values,
        st.sampled_from([False, False, False, True]),
    ),
    min_size=6,
    max_size=28,
)
few_forms = st.lists(st.sampled_from(list(FORMS)), min_size=1, max_size=3, unique=True)
ARROW = pa.schema(
    [
        ("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int32()), ("v", pa.float64()),
        ("w", pa.int64()), ("name", pa.string()),
    ]
)  # fmt: skip


EventStep = tuple[int, str, str, dict[str, Any], bool]


def session_with(
    clock: str, chosen: Iterable[str] = FORMS
) -> tuple[EmbeddedSession, dict[str, windrow.Query]]:
    session = windrow.connect(clock=clock)
    late = {"a": 0, "b": 2 if clock == "complete" else 0}
    for name, lateness in late.items():
        session.stream(name, COLUMNS, time="ts", lateness=lateness)
    return session, {name: session.query(FORMS[name]) for name in chosen}


def do(session: EmbeddedSession, kind: str, stream: str, row: dict[str, Any]) -> None:
    if kind == "advance":
        session.advance(stream, to=row["ts"])
    elif kind == "tuple":
        session.push(stream, tuple(row[name] for name in NAMES))
    elif kind == "list":
        session.push(stream, [row, {**row, "ts": row["ts"] - SECOND}])
    elif kind == "Arrow":
        session.push(stream, pa.RecordBatch.from_pylist([row], ARROW))
    elif kind == "empty":
        session.push(stream, ARROW.empty_table())
    elif kind == "table":
        columns = {name: pa.array([value]) for name, value in row.items()}
        columns["ts"] = columns["ts"].cast(pa.timestamp("us", tz="UTC"))
        session.push(stream, pa.table(columns))
    else:
        session.push(stream, row)


def shown(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))
