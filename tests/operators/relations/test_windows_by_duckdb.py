"""Functions over frames, compared with DuckDB's: NULL, NaN, infinities and both directions."""

from __future__ import annotations

import math
from collections import Counter

import duckdb
from hypothesis import given
from hypothesis import strategies as st

from support.relation_changes import Change, held_at, outcome, plain_row, relation
from windrow.operators.relations.window_functions import WindowFunctionsOperator
from windrow.plan.expressions import Literal
from windrow.plan.relations.algebra import Field, Frame, OrderKey, WindowCall, WindowFunctions
from windrow.schema import BIGINT, DOUBLE, INT

TABLE = relation("r", "k int, d double, v bigint")
WHOLE, REAL, VALUE = TABLE.fields
CALLS = {
    "sum(v)": ("sum", BIGINT, (VALUE.ref,)),
    "count(*)": ("count_star", BIGINT, ()),
    "min(v)": ("min", BIGINT, (VALUE.ref,)),
    "row_number()": ("row_number", INT, ()),
    "rank()": ("rank", INT, ()),
    "dense_rank()": ("dense_rank", INT, ()),
    "percent_rank()": ("percent_rank", DOUBLE, ()),
    "cume_dist()": ("cume_dist", DOUBLE, ()),
    "ntile(3)": ("ntile", INT, (Literal(3, INT),)),
    "first_value(v)": ("first_value", BIGINT, (VALUE.ref,)),
    "last_value(v)": ("last_value", BIGINT, (VALUE.ref,)),
}
# Where peers have no order of their own, DuckDB may number them as it likes.
OF_ANY_ORDER = {"row_number()", "ntile(3)", "first_value(v)", "last_value(v)"}
KEYS = st.tuples(
    st.sampled_from([None, 0, 1, 2, 3, 5, 9]),
    st.sampled_from([None, 0.0, 1.5, 2.0, math.inf, -math.inf, math.nan, 3.0]),
)


@given(
    st.lists(KEYS, min_size=1, max_size=9),
    st.builds(OrderKey, st.sampled_from([WHOLE.ref, REAL.ref]), st.booleans(), st.booleans()),
    st.sampled_from(["rows", "range"]),
    st.sampled_from([None, -2, -1, 0, 1]),
    st.sampled_from([None, -1, 0, 1, 2]),
)
def test_frames(keys, key, unit, start, end):
    if start is not None and end is not None and end < start:
        end = start
    rows = [(*pair, number) for number, pair in enumerate(keys)]
    order = (key,) if unit == "range" else (key, OrderKey(VALUE.ref))
    shown = [text for text in CALLS if unit == "rows" or text not in OF_ANY_ORDER]
    frame = Frame(unit, start, end)
    calls = tuple(
        WindowCall(Field(text, text, CALLS[text][1]), CALLS[text][0], CALLS[text][2], frame)
        for text in shown
    )
    node = WindowFunctions(TABLE, (), order, calls)
    changes = [Change(1, 1, plain_row(row)) for row in rows]
    found = held_at(outcome(WindowFunctionsOperator(node), node, [changes], [1]), 1)
    assert found == by_duckdb(rows, shown, order, frame)


def by_duckdb(rows, shown, order, frame):
    keys = ", ".join(
        f"{key.expression.column.removeprefix('r.')} {'DESC' if key.is_descending else 'ASC'} "
        f"NULLS {'FIRST' if key.nulls_first else 'LAST'}"
        for key in order
    )
    start, end = bound_text(frame.start, "PRECEDING"), bound_text(frame.end, "FOLLOWING")
    over = f"OVER (ORDER BY {keys} {frame.unit} BETWEEN {start} AND {end})"
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (k INTEGER, d DOUBLE, v BIGINT)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        columns = ", ".join(f"{text} {over}" for text in shown)
        answer = connection.execute(f"SELECT *, {columns} FROM t").fetchall()
    return Counter(plain_row(row) for row in answer)


def bound_text(bound, unbounded):
    if bound is None:
        return f"UNBOUNDED {unbounded}"
    if bound == 0:
        return "CURRENT ROW"
    return f"{abs(bound)} {'PRECEDING' if bound < 0 else 'FOLLOWING'}"
