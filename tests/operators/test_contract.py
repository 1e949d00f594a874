"""Operators take batches and single rows: both leave the same rows and give the same states."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.streams import STREAMS, batch_of, instant
from windrow.exact.kernels import INTEGER_LIMB, LIMB_BITS
from windrow.operators.lanes import read_value
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


def sums(partial: Partial, row: int) -> list[tuple[object, ...]]:
    """The exact sums of a state, whatever the lanes are that hold them."""
    one = slice(row, row + 1)
    found: list[tuple[object, ...]] = []
    for value in range(partial.layout.value_count):
        read = read_value(partial.lanes[one], partial.count[one], partial.layout, value)
        limbs = [] if read.narrow is not None else read.limbs[0].tolist()
        total = Fraction(0 if read.narrow is None else int(read.narrow[0]))
        for place, limb in enumerate(limbs, read.low_limb - INTEGER_LIMB):
            total += limb * Fraction(2) ** (LIMB_BITS * place)
        special = read.special[0].tolist() if read.special.any() else []
        found.append((int(read.valid[0]), total, special))
    return found


def states(partials: list[Partial]) -> dict[tuple[int, str], tuple[object, ...]]:
    """Count, sums and extras by instant and group, without the numbering of groups."""
    found: dict[tuple[int, str], tuple[object, ...]] = {}
    for partial in partials:
        groups = partial.groups.to_pylist() or [{}]
        for row in range(partial.size):
            group = groups[partial.group[row]] if partial.groups.num_columns else {}
            extras = partial.extras[row : row + 1].tolist()
            state = (int(partial.count[row]), sums(partial, row), extras)
            found[int(partial.at[row]), repr(group)] = state
    return found


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
    assert states(expected) == states(found)
    for side in range(len(plan.inputs)):
        assert whole.rows(side).equals(single.rows(side))
    assert whole.work_done().rows == single.work_done().rows


def instant_us(at: int) -> int:
    return pa.scalar(instant(at), pa.timestamp("us", "UTC")).value


def test_a_weighted_row_is_a_step_too() -> None:
    plan = plan_of("SELECT COUNT(*) AS n, SUM(l) AS t FROM a [3 MICROSECONDS]")
    operator = new(plan)
    assert operator.takes_weights
    partial = operator.step(instant_us(1), 0, 3, [], [5], instant_us(1))
    assert partial.count.tolist() == [3]
    assert partial.lanes.tolist() == [[15]]


@pytest.mark.parametrize("form", ["a tree", "a residual"])
def test_an_operator_without_weights_takes_a_weighted_row_as_several(form: str) -> None:
    plan = plan_of(FORMS[form])
    operator = new(plan)
    assert not operator.takes_weights
    rows = [
        Preparer(plan, side).prepare(batch_of(name, ({"ts": instant(1), "k": 1, "l": value},)))
        for side, (name, value) in enumerate([("a", 1), ("b", 2)])
    ]
    for side, weight in enumerate([3, 1]):
        ((at, plain, kept),) = one_by_one(rows[side])
        partial = operator.step(at, side, weight, plain, kept, at - 1 + side)
    assert operator.joined_rows() == 3
    assert partial.count.tolist() == [3]
