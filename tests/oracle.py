"""The slow twin of every query: its answer at any instant, recomputed by DuckDB from all rows.

Nothing is kept between instants and nothing of the engine is used: a window is a WHERE on the time,
or a row_number over all rows up to the instant; joins are joins; sums are made in Python, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

import duckdb
import pyarrow as pa

from duckdb_text import key_text, print_expression, type_text
from windrow.plan.expressions import AggregateRef, ColumnRef, Expr, GroupRef
from windrow.plan.model import Aggregate, QueryPlan, WindowSpec
from windrow.schema import ColumnType

Row = tuple[object, ...]
Rows = Mapping[str, pa.Table]

RELATIVE_TOLERANCE = 1e-12
# Registered tables replace each other; nothing else is kept in it.
DATABASE = duckdb.connect(config={"threads": 1})
# One step of the smallest numbers: below it a relative bound means nothing.
SMALLEST_STEP = 5e-324


class SumOverflowError(ArithmeticError):
    """A SUM of integers is beyond 64 bits: the engine must refuse to show it."""


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
            if entry.window.kind == "time":
                moments.update(t + entry.window.length_us + 1 for t in times)
            elif entry.window.kind == "slide":
                enters = (_rounded_up(t, entry.window.slide_us) for t in times)
                moments.update(t + entry.window.length_us for t in enters)
        return sorted(t for t in moments if t <= clock)

    def _entries(self, rows: Rows) -> list[int]:
        return [
            _rounded_up(t, entry.window.slide_us or 1)
            for entry in self.plan.inputs
            for t in _times(rows[entry.stream.name], entry.stream.time)
        ]

    def _time(self, stream: str) -> str:
        return next(e.stream.time for e in self.plan.inputs if e.stream.name == stream)

    # ---- the rows of the answer, as one statement over all instants

    def _text(self) -> str:
        parts = [self._input_text(side) for side in range(len(self.plan.inputs))]
        if self.plan.kind == "select":
            columns = ", ".join(f"c{i}" for i in range(len(self.plan.select)))
            return f"WITH {', '.join(parts)} SELECT t, {columns} FROM i0"
        joined = "i0"
        for side in range(1, len(self.plan.inputs)):
            keys = range(len(self.plan.inputs[0].keys))
            equal = " AND ".join(f"i0.k0_{j} = i{side}.k{side}_{j}" for j in keys)
            joined += f" JOIN i{side} ON i0.t = i{side}.t AND {equal}"
        names = ["i0.t", "1 AS one", *self._group_texts(), *self._argument_names()]
        parts.append(f"pairs AS (SELECT {', '.join(names)} FROM {joined})")
        groups = [f"g{i}" for i in range(len(self.plan.group_by))]
        made = ["count(one)", *(_gathered(each, i) for i, each in enumerate(self.plan.aggregates))]
        source = "pairs" if groups else "instants LEFT JOIN pairs USING (t)"
        listed = ", ".join(["t", *groups])
        shown = f"SELECT {listed}, {', '.join(made)} FROM {source} GROUP BY {listed}"
        return f"WITH {', '.join(parts)} {shown}"

    def _group_texts(self) -> list[str]:
        return [
            f"{print_expression(part, _no_leaf)} AS g{i}" if source is None else f"g{i}"
            for i, (part, source) in enumerate(
                zip(self.plan.group_by, self.plan.group_sources, strict=True)
            )
        ]

    def _argument_names(self) -> list[str]:
        used = enumerate(self.plan.aggregates)
        return [
            f"{print_expression(each.argument, _no_leaf)} AS a{i}"
            if each.source is None
            else f"a{i}"
            for i, each in used
            if each.argument is not None
        ]

    def _input_text(self, side: int) -> str:
        entry = self.plan.inputs[side]

        def show(part: Expr) -> str:
            return print_expression(part, _column)

        columns = [f"{key_text(show(k), k.type)} AS k{side}_{j}" for j, k in enumerate(entry.keys)]
        for i, (part, source) in enumerate(
            zip(self.plan.group_by, self.plan.group_sources, strict=True)
        ):
            if source == side:
                columns.append(f"{key_text(show(part), part.type)} AS g{i}")
        for i, each in enumerate(self.plan.aggregates):
            if each.source == side and each.argument is not None:
                columns.append(f"{show(each.argument)} AS a{i}")
        if self.plan.kind == "select":
            columns += [f"{show(c.expression)} AS c{i}" for i, c in enumerate(self.plan.select)]
        where = "" if entry.filter is None else f" WHERE {show(entry.filter)}"
        window = _window_text(entry.window, f"stream_{entry.stream.name}")
        return (
            f"w{side} AS ({window}), "
            f"i{side} AS (SELECT {', '.join(['t', *columns])} FROM w{side}{where})"
        )

    # ---- sums made in Python, then the select list and HAVING over them

    def _finish(self, found: Sequence[Row]) -> list[Row]:
        groups, plan = len(self.plan.group_by), self.plan
        names, columns = ["t"], [pa.array([row[0] for row in found], pa.int64())]
        for i, part in enumerate(plan.group_by):
            names.append(f"g{i}")
            columns.append(pa.array([row[1 + i] for row in found], _arrow(part.type)))
        for i, each in enumerate(plan.aggregates):
            values = [_made(each, row[1 + groups], row[2 + groups + i]) for row in found]
            names.append(f"a{i}")
            columns.append(pa.array(values, _arrow(each.type)))
        DATABASE.register("states", pa.table(columns, names=names))
        shown = [print_expression(column.expression, _state) for column in plan.select]
        having = "" if plan.having is None else f" WHERE {print_expression(plan.having, _state)}"
        return DATABASE.execute(f"SELECT t, {', '.join(shown)} FROM states{having}").fetchall()


def _window_text(window: WindowSpec, stream: str) -> str:
    head = f"SELECT i.t, s.* FROM instants i JOIN {stream} s ON "
    if window.kind == "time":
        return head + f"s.time_us BETWEEN i.t - {window.length_us} AND i.t"
    if window.kind == "slide":
        slide = window.slide_us
        step = f"(i.t - ((i.t % {slide}) + {slide}) % {slide})"
        return head + f"s.time_us > {step} - {window.length_us} AND s.time_us <= {step}"
    head += "s.time_us <= i.t"
    if window.kind == "unbounded":
        return head
    partition = ["i.t", *(key_text(_column(p), p.type) for p in window.partition_by)]
    order = "s.time_us DESC, s.arrival DESC"
    number = f"row_number() OVER (PARTITION BY {', '.join(partition)} ORDER BY {order})"
    return f"{head} QUALIFY {number} <= {window.rows}"


def _gathered(aggregate: Aggregate, index: int) -> str:
    if aggregate.argument is None:
        return "NULL"
    name = f"a{index}"
    if aggregate.function == "count":
        return f"count({name})"
    return f"list({name}) FILTER (WHERE {name} IS NOT NULL)"


def _made(aggregate: Aggregate, count: object, gathered: object) -> object:
    """The value of an aggregate from its arguments."""
    if aggregate.argument is None:
        return count
    if aggregate.function == "count":
        return gathered
    if not gathered:
        return None
    assert isinstance(gathered, list)
    total = exact_sum(gathered)
    if aggregate.function == "avg":
        return float(total) / len(gathered)
    if aggregate.type.is_integer and not -(2**63) <= total < 2**63:
        raise SumOverflowError(total)
    return total


def exact_sum(values: Sequence[int | float | Decimal]) -> int | float | Decimal:
    """The sum, rounded once where the values are floats."""
    if isinstance(values[0], Decimal):
        unscaled = sum(Fraction(value) for value in values)
        scale = max(-value.as_tuple().exponent for value in values)
        return Decimal(int(unscaled * 10**scale)).scaleb(-scale)
    if not isinstance(values[0], float):
        return sum(values)
    if any(math.isnan(value) for value in values):
        return math.nan
    infinite = {value for value in values if math.isinf(value)}
    if infinite:
        return infinite.pop() if len(infinite) == 1 else math.nan
    try:
        return math.fsum(values)
    except OverflowError:
        return _nearest(sum(Fraction(value) for value in values))


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


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


def _rounded_up(instant: int, step: int) -> int:
    return -(-instant // step) * step


def _column(part: Expr) -> str:
    assert isinstance(part, ColumnRef)
    return f'"{part.column}"'


def _state(part: Expr) -> str:
    assert isinstance(part, (GroupRef, AggregateRef))
    return f"{'g' if isinstance(part, GroupRef) else 'a'}{part.index}"


def _no_leaf(part: Expr) -> str:
    raise AssertionError(f"{part} is not a constant")


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
