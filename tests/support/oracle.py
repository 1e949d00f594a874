"""The slow twin of every query: its answer at any instant, recomputed by DuckDB from all rows.

Nothing is kept between instants and nothing of the engine is used: a window is a WHERE on the time,
or a row_number over all rows up to the instant; joins are joins; sums are made in Python, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import duckdb
import pyarrow as pa

from support.closing_windows import (
    CLOSING,
    closes_together,
    entry_of,
    moments_of,
    ticks_of,
)
from support.duckdb_text import add_functions, key_text, print_expression, type_text
from support.slow_aggregates import SumOverflowError, exact_sum, gathered_text, made
from windrow.plan.expressions import AggregateRef, ColumnRef, Expr, GroupRef
from windrow.plan.model import Negation, QueryPlan, WindowSpec
from windrow.schema import ColumnType

__all__ = [
    "Oracle",
    "Row",
    "SumOverflowError",
    "assert_same_rows",
    "exact_sum",
    "order_of",
    "rows_of",
    "same_row",
    "same_value",
]

Row = tuple[object, ...]
Rows = Mapping[str, pa.Table]

RELATIVE_TOLERANCE = 1e-12
# Registered tables replace each other; nothing else is kept in it.
DATABASE = duckdb.connect(config={"threads": 1})
add_functions(DATABASE)
# One step of the smallest numbers: below it a relative bound means nothing.
SMALLEST_STEP = 5e-324


class Oracle:
    """Answers of one plan; `rows` are all rows ever applied, by stream, in order of arrival."""

    def __init__(self, plan: QueryPlan) -> None:
        self.plan = plan

    def answer_at(self, rows: Rows, instant: int) -> list[Row]:
        """The answer at one instant."""
        return self.answers(rows, [instant])[instant]

    def answers(self, rows: Rows, instants: Iterable[int]) -> dict[int, list[Row]]:
        """The answers at many instants."""
        wanted = sorted(set(instants))
        if not wanted:
            return {}
        DATABASE.register("instants", pa.table({"t": pa.array(wanted, pa.int64())}))
        for stream in self.plan.streams:
            DATABASE.register(f"stream_{stream}", _numbered(rows[stream], self._time(stream)))
        found = DATABASE.execute(self._text()).fetchall()
        if self.plan.kind == "aggregate":
            found = self._finish(found)
        out: dict[int, list[Row]] = {instant: [] for instant in wanted}
        for instant, *values in found:
            out[instant].append(tuple(values))
        return out

    def answer_instants(self, rows: Rows, clock: int) -> list[int]:
        """Where an answer is due up to the clock."""
        entries = [t for t in self._entries(rows) if t <= clock]
        windows = [entry.window for entry in self.plan.inputs]
        if not self.plan.every_us and entries and closes_together(windows):
            return ticks_of(windows[0], min(entries), clock)
        if not self.plan.every_us or not entries:
            return sorted(set(entries))
        every = self.plan.every_us
        first = -(-min(entries) // every) * every
        return list(range(first, clock + 1, every))

    def change_instants(self, rows: Rows, clock: int) -> list[int]:
        """Every instant up to the clock at which the answer can change."""
        moments = set(self._entries(rows))
        for entry in self.plan.inputs:
            times = _times(rows[entry.stream.name], entry.stream.time)
            if entry.window.kind in CLOSING:
                moments.update(moments_of(entry.window, times))
            elif entry.window.traits.has_width:
                # Windows that move in steps have one open end.
                held_us = entry.window.length_us + (not entry.window.traits.moves_in_steps)
                enters = (_rounded_up(t, entry.window.slide_us or 1) for t in times)
                moments.update(t + held_us for t in enters)
        return sorted(t for t in moments if t <= clock)

    def _entries(self, rows: Rows) -> list[int]:
        return [
            _entry(entry.window, t)
            for entry in self.plan.inputs
            for t in _times(rows[entry.stream.name], entry.stream.time)
        ]

    def _time(self, stream: str) -> str:
        return next(e.stream.time for e in self.plan.inputs if e.stream.name == stream)

    # ---- the rows of the answer, as one statement over all instants

    def _text(self) -> str:
        parts = [self._input_text(input_index) for input_index in range(len(self.plan.inputs))]
        if self.plan.kind == "select":
            return f"WITH {', '.join(parts)} {self._select_text()}"
        parts.append(self._joined_text())
        groups = [f"g{i}" for i in range(len(self.plan.group_by))]
        made_of = [gathered_text(each, i) for i, each in enumerate(self.plan.aggregates)]
        source = "joined" if groups else "instants LEFT JOIN joined USING (t)"
        listed = ", ".join(["t", *groups])
        shown = f"SELECT {', '.join([listed, 'count(one)', *made_of])} FROM {source}"
        return f"WITH {', '.join(parts)} {shown} GROUP BY {listed}"

    def _input_text(self, input_index: int) -> str:
        entry = self.plan.inputs[input_index]
        window = _window_text(entry.window, f"stream_{entry.stream.name}")
        where = "" if entry.filter is None else f" WHERE {_show(entry.filter)}"
        return f"i{input_index} AS (SELECT * FROM ({window}) i{input_index}{where})"

    def _joined_text(self) -> str:
        """Groups and arguments of every joined row."""
        names = ["i0.t AS t", "1 AS one"]
        for i, part in enumerate(self.plan.group_by):
            names.append(f"{key_text(_show(part), part.type)} AS g{i}")
        for i, each in enumerate(self.plan.aggregates):
            if each.argument is not None and not each.terms:
                names.append(f"{_show(each.argument)} AS a{i}")
            factors = [factor for term in each.terms for factor in term]
            names += [f"{_show(factor)} AS a{i}_{j}" for j, factor in enumerate(factors)]
        return f"joined AS (SELECT {', '.join(names)} FROM {self._from_text()})"

    def _select_text(self) -> str:
        """The select list of every joined row; of equal rows one, where this is asked for."""
        parts = [column.expression for column in self.plan.select]
        if self.plan.distinct:
            return (
                f"SELECT DISTINCT {', '.join(['i0.t', *map(_key, parts)])} FROM {self._from_text()}"
            )
        return f"SELECT {', '.join(['i0.t', *map(_show, parts)])} FROM {self._from_text()}"

    def _from_text(self) -> str:
        """The joined rows that no row of a negated input matches."""
        joined = "i0"
        for input_index in range(1, len(self.plan.joined)):
            joined += f" JOIN i{input_index} ON {' AND '.join(self._equalities(input_index))}"
        residual = self.plan.residual
        where = [] if residual is None else [_show(residual)]
        where += [_without_match(negation) for negation in self.plan.negations]
        return joined + (f" WHERE {' AND '.join(where)}" if where else "")

    def _equalities(self, input_index: int) -> list[str]:
        """What joins an input to those before it: the instant, and each variable met before."""
        equal = [f"i{input_index}.t = i0.t"]
        entry = self.plan.inputs[input_index]
        for key, variable in zip(entry.keys, entry.variables, strict=True):
            for other in self.plan.inputs[:input_index]:
                if variable in other.variables:
                    same = other.keys[other.variables.index(variable)]
                    equal.append(f"{_key(key)} = {_key(same)}")
                    break
        return equal

    # ---- sums made in Python, then the select list and HAVING over them

    def _finish(self, found: Sequence[Row]) -> list[Row]:
        groups, plan = len(self.plan.group_by), self.plan
        names, columns = ["t"], [pa.array([row[0] for row in found], pa.int64())]
        for i, part in enumerate(plan.group_by):
            names.append(f"g{i}")
            columns.append(pa.array([row[1 + i] for row in found], _arrow(part.type)))
        for i, each in enumerate(plan.aggregates):
            values = [made(each, row[1 + groups], row[2 + groups + i]) for row in found]
            names.append(f"a{i}")
            columns.append(pa.array(values, _arrow(each.type)))
        DATABASE.register("states", pa.table(columns, names=names))
        shown = [print_expression(column.expression, _state) for column in plan.select]
        having = "" if plan.having is None else f" WHERE {print_expression(plan.having, _state)}"
        return DATABASE.execute(f"SELECT t, {', '.join(shown)} FROM states{having}").fetchall()


def _without_match(negation: Negation) -> str:
    input_index = negation.input
    pairs = zip(negation.keys, negation.of_keys, strict=True)
    match = [f"i{input_index}.t = i0.t", *(f"{_key(own)} = {_key(other)}" for own, other in pairs)]
    if negation.residual is not None:
        match.append(_show(negation.residual))
    return f"NOT EXISTS (SELECT 1 FROM i{input_index} WHERE {' AND '.join(match)})"


def _window_text(window: WindowSpec, stream: str) -> str:
    numbers = {"length_us": window.length_us, "slide_us": window.slide_us}
    numbers["offset_us"] = window.offset_us
    condition = window.traits.condition.format(**numbers)
    head = f"SELECT i.t, s.* FROM instants i JOIN {stream} s ON {condition}"
    if not window.traits.counts_rows:
        return head
    partition = ["i.t", *map(_partition, window.partition_by)]
    order = "s.time_us DESC, s.arrival DESC"
    number = f"row_number() OVER (PARTITION BY {', '.join(partition)} ORDER BY {order})"
    return f"{head} QUALIFY {number} <= {window.rows}"


def _partition(part: Expr) -> str:
    assert isinstance(part, ColumnRef)
    return key_text(f's."{part.column}"', part.type)


def _numbered(rows: pa.Table, time: str) -> pa.Table:
    """The rows with times and dates as integers, and their number of arrival."""
    columns = {name: _plain(rows[name]) for name in rows.schema.names}
    arrival = pa.array(range(rows.num_rows), pa.int64())
    return pa.table({**columns, "time_us": _plain(rows[time]), "arrival": arrival})


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.int64())
    return column.cast(pa.int32()) if pa.types.is_date(column.type) else column


def _arrow(kind: ColumnType) -> pa.DataType:
    return {"BIGINT": pa.int64(), "INTEGER": pa.int32()}.get(type_text(kind), kind.arrow)


def _times(rows: pa.Table, time: str) -> list[int]:
    return rows[time].cast(pa.int64()).to_pylist()


def _entry(window: WindowSpec, time: int) -> int:
    if window.kind in CLOSING:
        return entry_of(window, time)
    return _rounded_up(time, window.slide_us or 1)


def _rounded_up(instant: int, step: int) -> int:
    return -(-instant // step) * step


def _show(part: Expr) -> str:
    return print_expression(part, _column)


def _key(part: Expr) -> str:
    return key_text(_show(part), part.type)


def _column(part: Expr) -> str:
    assert isinstance(part, ColumnRef)
    return f'i{part.source}."{part.column}"'


def _state(part: Expr) -> str:
    assert isinstance(part, (GroupRef, AggregateRef))
    return f"{'g' if isinstance(part, GroupRef) else 'a'}{part.index}"


# ---- comparing answers


def rows_of(table: pa.Table) -> list[Row]:
    """The rows of an answer of ours, in the oracle's types."""
    columns = [_plain(column).to_pylist() for column in table.columns]
    return [tuple(row) for row in zip(*columns, strict=True)] if columns else []


def assert_same_rows(found: Iterable[Row], wanted: Iterable[Row], note: object = "") -> None:
    """The same multiset of rows; floats may differ by RELATIVE_TOLERANCE."""
    left, right = sorted(found, key=_order), sorted(wanted, key=_order)
    same = len(left) == len(right) and all(map(same_row, left, right))
    assert same, f"{note}\nfound:  {left}\nwanted: {right}"


def same_row(left: Row, right: Row) -> bool:
    """Whether two rows show the same."""
    return len(left) == len(right) and all(map(same_value, left, right))


def same_value(left: object, right: object) -> bool:
    """Whether two values show the same: NULL as NULL, NaN as NaN, floats nearly."""
    if left is None or right is None:
        return left is right
    if not isinstance(left, float) or not isinstance(right, float):
        return type(left) is type(right) and left == right
    if left == right or (math.isnan(left) and math.isnan(right)):
        return True
    if not (math.isfinite(left) and math.isfinite(right)):
        return False
    room = RELATIVE_TOLERANCE * max(abs(left), abs(right))
    return abs(left - right) <= max(room, SMALLEST_STEP)


def _order(row: Row) -> tuple[object, ...]:
    """Exact values first: floats that differ by rounding must not change places with others."""
    # A float counts as its place only, so that columns stay side by side where one is NULL.
    exact = tuple((3, 0) if isinstance(value, float) else order_of(value) for value in row)
    floats = tuple(order_of(value) for value in row if isinstance(value, float))
    return (exact, floats)


def order_of(value: object) -> tuple[int, object]:
    """A key that sorts NULL first and NaN last."""
    if value is None:
        return (0, 0)
    if isinstance(value, float) and math.isnan(value):
        return (2, 0)
    return (1, value)
