"""Operators over relations against a slow twin, which computes the relation from all rows anew.

    LEFT, RIGHT = relation("l", "k int, s string"), relation("r", "k int, d double")

    @given(changing(LEFT, RIGHT))
    def test_join(inputs):
        node = Join("inner", LEFT, RIGHT, condition)
        assert_follows(JoinOperator, node, inputs, lambda left, right: Counter(...))

A relation at an instant is a Counter of rows; a row is a tuple of Python values. There is one NaN
(math.nan itself, so that rows with it are equal) and one zero.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from windrow.event_time import START_OF_TIME
from windrow.operators.relations.changes import Changes
from windrow.operators.relations.operator import RelationOperator
from windrow.plan.relations.algebra import Field, Relation, Values
from windrow.schema import ColumnType, columns_of

Row = tuple[Any, ...]
Held = Counter[Row]
Slow = Callable[..., Held]
LAST_INSTANT = 40
MAX_WEIGHT = 3


class Change(NamedTuple):
    """A row that enters (weight > 0) or leaves."""

    at: int
    weight: int
    row: Row


def relation(prefix: str, columns: str) -> Values:
    """A relation for tests, which has no inputs; the id of column k is l.k for the prefix l."""
    named = columns_of(columns)
    return Values((), tuple(Field(f"{prefix}.{c.name}", c.name, c.type) for c in named))


# ---- strategies


def values_of(kind: ColumnType) -> st.SearchStrategy[Any]:
    """Few values of a type, NULL and the odd ones among them."""
    if kind.name == "DECIMAL":
        top = 10**kind.precision - 1
        pool = [0, 1, 1, -1, 250, top, -top]
        return st.sampled_from([None, *(Decimal(n).scaleb(-kind.scale) for n in pool)])
    return st.sampled_from(_POOLS[kind.name])


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POOLS: dict[str, list[Any]] = {
    "BOOLEAN": [True, False, None],
    "TINYINT": [0, 1, 1, 2, -128, None],
    "SMALLINT": [0, 1, 1, 2, -32_768, None],
    "INT": [0, 0, 1, 1, 2, 3, -5, None],
    "BIGINT": [0, 0, 1, 1, 2, 3, 2**62, -(2**63), None],
    "FLOAT": [0.0, -0.0, 1.5, 1.5, math.nan, math.inf, None],
    "DOUBLE": [0.0, -0.0, 1.0, 1.0, 0.1, -2.25, math.nan, math.inf, -math.inf, 1e300, None],
    "STRING": ["", "x", "x", "y", "é", "日本", "z" * 40, None],
    "TIMESTAMP": [None, *(_EPOCH + timedelta(seconds=n, microseconds=n) for n in (-3, 0, 1, 1, 2))],
    "DATE": [date(1970, 1, 1), date(1969, 12, 31), date(2024, 2, 29), None],
}


def rows_of(node: Relation) -> st.SearchStrategy[Row]:
    """Rows of the relation."""
    return st.tuples(*(values_of(field.type) for field in node.fields)).map(plain_row)


def changing(
    *nodes: Relation, instants: int = 8, changes: int = 5
) -> st.SearchStrategy[tuple[list[Change], ...]]:
    """Changes of each of the relations, which share instants; at most so many an instant."""
    return st.tuples(*(changes_of(node, instants, changes) for node in nodes))


@st.composite
def changes_of(
    draw: st.DrawFn, node: Relation, instants: int = 8, changes: int = 5
) -> list[Change]:
    """Changes of one relation, in time order and in any order within an instant.

    A row that leaves is there at the end of the instant before, or enters in the same one: within
    an instant a row may leave before it enters.
    """
    # Of a few rows many are equal, and changes meet rows that are there.
    pool = draw(st.lists(rows_of(node), min_size=1, max_size=6))
    held: Held = Counter()
    out: list[Change] = []
    times = draw(st.lists(st.integers(0, LAST_INSTANT), unique=True, max_size=instants))
    for at in sorted(times):
        now = _changes_at(draw, at, pool, held, changes)
        for change in now:
            held[change.row] += change.weight
        out += now
    return out


def _changes_at(draw: st.DrawFn, at: int, pool: list[Row], held: Held, limit: int) -> list[Change]:
    now: list[Change] = []
    left: Held = Counter(held)
    for _ in range(draw(st.integers(1, limit))):
        kind = draw(st.sampled_from(["enter", "enter", "leave", "leave", "pass"]))
        row = draw(st.sampled_from(pool))
        weight = draw(st.sampled_from([1, 1, 1, MAX_WEIGHT - 1, MAX_WEIGHT]))
        if kind == "leave":
            present = sorted((each for each in left if left[each] > 0), key=repr)
            if not present:
                continue
            row = draw(st.sampled_from(present))
            weight = min(weight, left[row])
            left[row] -= weight
        if kind != "leave":
            now.append(Change(at, weight, row))
        if kind != "enter":
            now.append(Change(at, -weight, row))
    return draw(st.permutations(now))


# ---- rows and changes, plain and in columns


def plain_row(row: Sequence[Any]) -> Row:
    """The row with one NaN and one zero."""
    return tuple(_plain(value) for value in row)


def _plain(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return math.nan if math.isnan(value) else value + 0.0


def in_columns(changes: Sequence[Change], node: Relation) -> Changes:
    """Changes as operators are given them."""
    at = np.array([change.at for change in changes], np.int64)
    weight = np.array([change.weight for change in changes], np.int64)
    columns = tuple(
        pa.array([change.row[i] for change in changes], field.type.arrow)
        for i, field in enumerate(node.fields)
    )
    return Changes(at, weight, columns)


def plain_changes(changes: Changes) -> list[Change]:
    """Changes as operators give them."""
    columns = [column.to_pylist() for column in changes.columns]
    rows = zip(*columns, strict=True) if columns else [()] * changes.size
    numbers = zip(changes.at.tolist(), changes.weight.tolist(), rows, strict=True)
    return [Change(at, weight, plain_row(row)) for at, weight, row in numbers]


def held_at(changes: Sequence[Change], instant: int) -> Held:
    """The relation after the instant: what all changes until then add up to."""
    held: Held = Counter()
    for change in changes:
        if change.at <= instant:
            held[change.row] += change.weight
    return without_zeros(held)


def without_zeros(held: Held) -> Held:
    """The rows that are there, or less than there."""
    return Counter({row: count for row, count in held.items() if count})


# ---- the comparison


def assert_follows(
    operator: Callable[[Any], RelationOperator],
    node: Relation,
    inputs: Sequence[Sequence[Change]],
    slow: Slow,
) -> None:
    """The changes that operator(node) gives add up to slow(*relations) after every instant.

    In every way to cut them into calls, and when a new operator is given the rows held.
    """
    instants = sorted({change.at for changes in inputs for change in changes})
    wanted = {at: without_zeros(slow(*_held(inputs, at))) for at in [START_OF_TIME, *instants]}
    for cuts in (instants, [LAST_INSTANT], instants[1::2], instants[::3]):
        found = outcome(operator(node), node, inputs, cuts)
        for at, expected in wanted.items():
            assert held_at(found, at) == expected, f"at {at}, cut at {cuts}"
    if instants:
        _assert_continues(operator(node), node, inputs, instants[len(instants) // 2], wanted)


def outcome(
    operator: RelationOperator,
    node: Relation,
    inputs: Sequence[Sequence[Change]],
    cuts: Sequence[int],
    last: int = LAST_INSTANT,
) -> list[Change]:
    """What the operator gives when it is advanced to each of the cuts, and to the last instant."""
    out: list[Change] = []
    before = START_OF_TIME
    for until in [*cuts, last]:
        parts = [[c for c in changes if before < c.at <= until] for changes in inputs]
        given = [in_columns(part, each) for part, each in zip(parts, node.inputs, strict=True)]
        assert operator.growth_bytes(sum(map(len, parts))) >= 0
        found = operator.advance(given, until)
        _check_form(found, node, before, until)
        out += plain_changes(found)
        before = max(before, until)
        assert operator.nbytes >= 0
    return out


def _check_form(found: Changes, node: Relation, before: int, until: int) -> None:
    assert [column.type for column in found.columns] == [f.type.arrow for f in node.fields]
    assert all(len(column) == found.size for column in found.columns)
    assert found.weight.size == found.size
    assert np.all(found.weight != 0)
    assert np.all(found.at[1:] >= found.at[:-1])
    # Only the first call may speak of the start of time.
    assert np.all((found.at > before) | (before == START_OF_TIME))
    assert np.all(found.at <= until)


def _held(inputs: Sequence[Sequence[Change]], at: int) -> list[Held]:
    return [held_at(changes, at) for changes in inputs]


def _assert_continues(
    operator: RelationOperator,
    node: Relation,
    inputs: Sequence[Sequence[Change]],
    begin: int,
    wanted: dict[int, Held],
) -> None:
    """A new operator with the rows held at an instant goes on as one that saw all changes."""
    continued = [
        [Change(begin, count, row) for row, count in held.items()]
        + [change for change in changes if change.at > begin]
        for changes, held in zip(inputs, _held(inputs, begin), strict=True)
    ]
    found = outcome(operator, node, continued, [begin])
    for at in (at for at in wanted if at >= begin):
        assert held_at(found, at) == wanted[at], f"at {at}, continued from {begin}"
