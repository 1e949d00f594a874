"""Operators take batches and single rows: both leave the same rows and give the same states."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.streams import STREAMS, batch_of, instant
from windrow.operators.operator import Operator
from windrow.operators.partial import Partial
from windrow.operators.registry import first_algorithm, operator_for
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shape import shape_of
from windrow.sql import parse_query

FORMS = {
    "one window by group": "SELECT s, COUNT(*) AS n, SUM(k) AS t "
    "FROM a [3 MICROSECONDS] GROUP BY s",
    "a join": "SELECT COUNT(*) AS n, SUM(a.l) AS t FROM a [3 MICROSECONDS], b [5 MICROSECONDS] "
    "WHERE a.k = b.k",
    "a join by key": "SELECT a.k AS k, COUNT(*) AS n, AVG(b.d) AS m FROM a [3 MICROSECONDS], "
    "b [5 MICROSECONDS] WHERE a.k = b.k GROUP BY a.k",
    "a join by columns of both": "SELECT a.s AS x, b.s AS y, COUNT(*) AS n FROM "
    "a [3 MICROSECONDS], b [5 MICROSECONDS] WHERE a.k = b.k GROUP BY a.s, b.s",
    "the last rows": "SELECT COUNT(*) AS n, SUM(l) AS t FROM a [ROWS 2]",
    "a tree": "SELECT MAX(a.l) AS m, COUNT(DISTINCT b.k) AS n FROM a [3 MICROSECONDS], "
    "b [5 MICROSECONDS] WHERE a.k = b.k",
    "a residual": "SELECT COUNT(*) AS n FROM a [3 MICROSECONDS], b [5 MICROSECONDS] "
    "WHERE a.k = b.k AND a.l < b.l",
}


def plan_of(text: str) -> QueryPlan:
    catalog = Catalog()
    for schema in STREAMS.values():
        catalog = catalog.with_stream(schema)
    return bind(parse_query(text), catalog)


def new(plan: QueryPlan) -> Operator:
    return operator_for(plan, shape_of(plan), 1, first_algorithm(plan))


values = st.fixed_dictionaries(
    {
        "k": st.none() | st.integers(0, 2),
        "l": st.none() | st.integers(-3, 3),
        "s": st.none() | st.sampled_from("pq"),
        "d": st.none() | st.sampled_from([0.5, -1e16, 3.0]),
    }
)
arrivals = st.lists(st.tuples(st.integers(0, 20), st.sampled_from("ab"), values), max_size=14)


def states(partial: Partial) -> list[tuple[object, ...]]:
    """What a partial says, group by group, without its numbering of groups."""
    groups = partial.groups.to_pylist() or [{}]
    found = []
    for row in range(partial.size):
        group = tuple(groups[partial.entity[row]].values()) if partial.groups.num_columns else ()
        lanes, extras = partial.lanes[row].tolist(), partial.extras[row : row + 1].tolist()
        layout = partial.layout
        found.append((int(partial.at[row]), group, int(partial.count[row]), lanes, extras, layout))
    return sorted(found, key=lambda each: (each[0], repr(each[1])))


def one_by_one(rows: PreparedRows) -> list[tuple[int, list[object], list[object]]]:
    columns = rows.columns
    listed = [[column[row].as_py() for column in rows.batch.columns] for row in range(rows.size)]
    plain, kept = slice(1, columns.values.start), columns.values
    return [(values[0], values[plain], values[kept]) for values in listed]


@pytest.mark.parametrize("form", FORMS)
@given(rows=arrivals)
def test_single_rows_do_what_a_batch_does(
    form: str, rows: list[tuple[int, str, dict[str, object]]]
) -> None:
    plan = plan_of(FORMS[form])
    rows = sorted(rows, key=lambda each: each[0])
    whole, single = new(plan), new(plan)
    changes: dict[int, PreparedRows] = {}
    steps: list[tuple[int, int, list[object], list[object]]] = []
    for side, entry in enumerate(plan.inputs):
        name = entry.stream.name
        mine = tuple({"ts": instant(at), **row} for at, to, row in rows if to == name)
        prepared = Preparer(plan, side).prepare(batch_of(name, mine))
        prepared = prepared.taking_part()  # a step takes rows that take part
        changes[side] = prepared
        steps += [(at, side, plain, kept) for at, plain, kept in one_by_one(prepared)]
    expected = [whole.advance(changes, instant_us(10)), whole.run(instant_us(40))]
    found = []
    for at, side, plain, kept in sorted(steps, key=lambda each: each[0]):
        found.append(single.step(at, side, 1, plain, kept, at - 1))
    found.append(single.run(instant_us(40)))
    last = states_at_the_end(expected)
    assert last == states_at_the_end(found)
    for side in range(len(plan.inputs)):
        assert whole.rows(side).equals(single.rows(side))
    assert whole.work_done().rows == single.work_done().rows


def instant_us(at: int) -> int:
    return pa.scalar(instant(at), pa.timestamp("us", "UTC")).value


def states_at_the_end(partials: list[Partial]) -> dict[tuple[object, object], tuple[object, ...]]:
    """Count and extras by instant and group: lanes may be wider where other rows came first."""
    found = {}
    for partial in partials:
        for at, group, count, _, extras, _ in states(partial):
            found[at, repr(group)] = (count, extras)
    return found


def test_a_weighted_row_is_a_step_too() -> None:
    plan = plan_of("SELECT COUNT(*) AS n, SUM(l) AS t FROM a [3 MICROSECONDS]")
    operator = new(plan)
    assert operator.takes_weights
    partial = operator.step(instant_us(1), 0, 3, [], [5], instant_us(1))
    assert partial.count.tolist() == [3]
    assert partial.lanes.tolist() == [[15]]
