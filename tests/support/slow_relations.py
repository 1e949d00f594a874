"""The slow twin of relations: a tree of the algebra over rows in plain Python, recomputed whole.

Rows are dicts by field id. Sub-queries are asked anew for each row. Order, equality and NULL are as
the engine has them: NaN is larger than every number and equal to itself, -0.0 is 0.0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from support.closing_windows import bounds_at
from support.slow_partition_windows import sessions_of
from support.streams import instant
from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    Apply,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Frame,
    Join,
    OrderKey,
    Project,
    Relation,
    Scan,
    SetOperation,
    TopRows,
    Unnest,
    ValidRows,
    Values,
    WindowCall,
    WindowFunctions,
)
from windrow.plan.relations.instants import INSTANT
from windrow.plan.relations.window_algebra import SessionScan, WindowBounds
from windrow.rows.evaluate import evaluate
from windrow.schema import TIMESTAMP, ColumnType
from windrow.window_kinds import TIME

Row = dict[str, Any]
Rows = list[Row]
# What each Scan holds: by alias, else by the name of the stream. An AnswerWindow: by the id of the
# field that times it, rows by the names of its fields, the time among them.
Held = Mapping[str, Sequence[Mapping[str, Any]]]


class SeveralRowsError(Exception):
    """A scalar sub-query has more than one row."""


def slow_rows(relation: Relation, held: Held) -> list[tuple[Any, ...]]:
    """The rows of the relation as tuples of its fields, in no order that counts."""
    found = SlowRelations(held).rows(relation)
    return [tuple(row[each.id] for each in relation.fields) for row in found]


@dataclass
class SlowRelations:
    """Evaluates trees; outer: the row that a sub-query is asked for.

    at: the instant, for what reads it; windows of time hold the rows that they have then, and all
    without one.
    """

    held: Held
    outer: Row = field(default_factory=dict)
    at: datetime | None = None

    def rows(self, relation: Relation) -> Rows:
        """All rows of the relation."""
        for kind, found in _NODES.items():
            if isinstance(relation, kind):
                return found(self, relation)
        raise AssertionError(f"no slow twin of {type(relation).__name__}")

    def values(self, expression: Expr, rows: Rows) -> list[Any]:
        """The value of the expression in each row."""

        def leaf(part: Expr) -> pa.Array:
            assert isinstance(part, ColumnRef)
            found = [
                row[part.column] if part.column in row else self.outer[part.column] for row in rows
            ]
            return pa.array(found, part.type.arrow)

        if not rows:
            return []
        return list(evaluate(self.dated(expression), leaf, len(rows)).to_pylist())

    def dated(self, expression: Expr) -> Expr:
        """The expression with the instant as a constant."""
        if expression == INSTANT:
            assert self.at is not None
            return Literal((self.at - instant(0)) // timedelta(microseconds=1), TIMESTAMP)
        if not isinstance(expression, Call):
            return expression
        return replace(expression, arguments=tuple(map(self.dated, expression.arguments)))

    def scan(self, node: Scan) -> Rows:
        """The rows that are held, under the ids of their columns."""
        held = self.held[node.alias if node.alias in self.held else node.stream.name]
        pairs = list(zip(node.columns, node.given, strict=True))
        rows = [row for row in held if self.is_inside(row[node.stream.time], node.window)]
        return [{each.id: row[name] for name, each in pairs} for row in rows]

    def is_inside(self, time: datetime, window: WindowSpec) -> bool:
        """Whether a window has the row of that time."""
        if self.at is None or window.kind != TIME.name:
            return self.at is None or time <= self.at
        return self.at - timedelta(microseconds=window.length_us) <= time <= self.at

    def valid(self, node: ValidRows) -> Rows:
        """The rows that hold at the instant."""
        assert self.at is not None
        rows = self.rows(node.input)
        since = [self.values(each, rows) for each in node.since]
        until = [self.values(each, rows) for each in node.until]
        return [
            row
            for place, row in enumerate(rows)
            if all(column[place] is not None and column[place] <= self.at for column in since)
            and all(column[place] is not None and self.at < column[place] for column in until)
        ]

    def unnested(self, node: Unnest) -> Rows:
        """Every row with each entry of an array or a map."""
        rows = self.rows(node.input)
        found: Rows = []
        for row, entries in zip(rows, self.values(node.expression, rows), strict=True):
            counted = list(enumerate(entries or [], node.first_position))
            for number, entry in counted or [(None, None)] * node.is_outer:
                values = _entry_values(entry, node)
                own = dict(zip((each.id for each in node.given), values, strict=True))
                if node.position is not None:
                    own[node.position.id] = number
                found.append(row | own)
        return found

    def bounds(self, node: WindowBounds) -> Rows:
        """Every row with the bounds of one window."""
        start, end = bounds_at(node.window, 0)
        found = {"start": start, "end": end, "time": end - 1000}
        own = {each.field.id: instant(found[each.part]) for each in node.bounds}
        return [row | own for row in self.rows(node.input)]

    def sessions(self, node: SessionScan) -> Rows:
        """Every row with the bounds of its session, as if all were open."""
        scan = node.scan
        held = self.held[scan.alias if scan.alias in self.held else scan.stream.name]
        times = [(row[scan.stream.time] - instant(0)) // timedelta(microseconds=1) for row in held]
        by = [part.column for part in scan.window.partition_by if isinstance(part, ColumnRef)]
        keys = [tuple(repr(row[name]) for name in by) for row in held]
        rows, found = self.scan(scan), []
        for each in sessions_of(times, keys, scan.window.length_us, 2**62):
            us = {"start": each.start, "end": each.end, "time": each.end - 1000}
            own = {bound.field.id: instant(us[bound.part]) for bound in node.bounds}
            places = each.places[-1:] if node.mode == "newest" else each.places
            found += [rows[place] | own for place in places]
        return found

    def answers(self, node: AnswerWindow) -> Rows:
        """The answers that are held."""
        held = self.held[node.time.id]
        return [{each.id: row[each.name] for each in node.fields} for row in held]

    def constants(self, node: Values) -> Rows:
        """Each row by itself."""
        return [
            {
                each.id: self.values(part, [{}])[0]
                for each, part in zip(node.given, row, strict=True)
            }
            for row in node.rows
        ]

    def filtered(self, node: Filter) -> Rows:
        """Where the condition is true."""
        return self.where(node.condition, self.rows(node.input))

    def where(self, condition: Expr | None, rows: Rows) -> Rows:
        """Those for which it is neither false nor NULL."""
        if condition is None:
            return rows
        truth = self.values(condition, rows)
        return [row for row, is_true in zip(rows, truth, strict=True) if is_true]

    def projected(self, node: Project) -> Rows:
        """Computed columns."""
        rows = self.rows(node.input)
        columns = {each.field.id: self.values(each.expression, rows) for each in node.items}
        return [{name: column[i] for name, column in columns.items()} for i in range(len(rows))]

    def distinct(self, node: Distinct) -> Rows:
        """Every different row once."""
        by_key = {_key(row, node.fields): row for row in reversed(self.rows(node.input))}
        return list(by_key.values())

    def at_most_one(self, node: AtMostOne) -> Rows:
        """The rows, unless two have equal `by`."""
        rows = self.rows(node.input)
        keys = self.keys(node.by, rows)
        if len(set(keys)) < len(keys):
            raise SeveralRowsError(node.text)
        return rows

    def keys(self, expressions: Sequence[Expr], rows: Rows) -> list[tuple[Any, ...]]:
        """The values of the expressions in each row, such that equal ones are equal."""
        columns = [self.values(part, rows) for part in expressions]
        return [tuple(same(column[i]) for column in columns) for i in range(len(rows))]

    def aggregated(self, node: Aggregate) -> Rows:
        """A row for each group, one where there are none to group by."""
        rows = self.rows(node.input)
        groups = [self.values(item.expression, rows) for item in node.groups]
        places: dict[tuple[Any, ...], list[int]] = {} if node.groups else {(): []}
        for i in range(len(rows)):
            places.setdefault(tuple(same(column[i]) for column in groups), []).append(i)
        arguments = [[self.values(part, rows) for part in call.arguments] for call in node.calls]
        found = []
        for members in places.values():
            row = {
                item.field.id: column[members[0]] if members else None
                for item, column in zip(node.groups, groups, strict=True)
            }
            for call, columns in zip(node.calls, arguments, strict=True):
                values = [tuple(column[i] for column in columns) for i in members]
                row[call.field.id] = slow_aggregate(
                    call.function, values, call.field.type, is_distinct=call.is_distinct
                )
            found.append(row)
        return found

    def joined(self, node: Join) -> Rows:
        """Pairs, and rows without one where the kind says so."""
        left, right = self.rows(node.left), self.rows(node.right)
        matched_right: set[int] = set()
        found: Rows = []
        for one in left:
            pairs = [{**one, **other, "place": i} for i, other in enumerate(right)]
            matches = self.where(node.condition, pairs)
            matched_right.update(match.pop("place") for match in matches)
            if node.kind in ("semi", "anti"):
                found += [one] if bool(matches) == (node.kind == "semi") else []
            elif matches or node.kind == "inner":
                found += matches
            else:
                found.append({**one, **_nulls(node.right)})
        if node.kind == "full":
            rest = (row for i, row in enumerate(right) if i not in matched_right)
            found += [{**_nulls(node.left), **row} for row in rest]
        return found

    def applied(self, node: Apply) -> Rows:
        """The sub-query anew for each row."""
        found: Rows = []
        for row in self.rows(node.left):
            inner = SlowRelations(self.held, {**self.outer, **row}, self.at)
            right = inner.where(node.condition, inner.rows(node.right))
            if node.kind in ("inner", "left"):
                rest = right or [_nulls(node.right)] * (node.kind == "left")
                found += [{**row, **each} for each in rest]
                continue
            if node.kind != "scalar":
                found += [row] if bool(right) == (node.kind == "semi") else []
                continue
            if len(right) > 1:
                raise SeveralRowsError("a scalar sub-query")
            found.append({**row, **(right[0] if right else _nulls(node.right))})
        return found

    def together(self, node: SetOperation) -> Rows:
        """UNION ALL, INTERSECT or EXCEPT, counted or not."""
        parts = [
            [
                dict(zip((each.id for each in node.given), _tuple(row, part), strict=True))
                for row in self.rows(part)
            ]
            for part in node.parts
        ]
        if node.kind == "union":
            return list(itertools.chain.from_iterable(parts))
        left, right = parts
        counts: dict[tuple[Any, ...], int] = {}
        for row in right:
            key = _key(row, node.given)
            counts[key] = counts.get(key, 0) + 1
        if not node.is_all:
            firsts = {_key(row, node.given): row for row in reversed(left)}
            wanted = node.kind == "intersect"
            return [row for key, row in firsts.items() if (key in counts) == wanted]
        found = []
        for row in left:
            key = _key(row, node.given)
            has_partner = counts.get(key, 0) > 0
            counts[key] = counts.get(key, 0) - has_partner
            found += [row] if has_partner == (node.kind == "intersect") else []
        return found

    def in_order(self, rows: Rows, order: Sequence[OrderKey], fields: Sequence[Field]) -> Rows:
        """The rows sorted by the keys; whole rows decide where keys are equal."""
        ranks = [self.ranks(rows, order, fields, place) for place in range(len(rows))]
        places = sorted(range(len(rows)), key=lambda place: ranks[place])
        return [rows[place] for place in places]

    def ranks(
        self, rows: Rows, order: Sequence[OrderKey], fields: Sequence[Field], place: int
    ) -> tuple[Any, ...]:
        """What to sort the row at that place by."""
        row = [rows[place]]
        keys = [_sortable(self.values(key.expression, row)[0], key) for key in order]
        whole = [_sortable(rows[place][each.id], _PLAIN) for each in fields]
        return (*keys, *whole)

    def top(self, node: TopRows) -> Rows:
        """The first rows of each partition."""
        end = None if node.limit is None else node.offset + node.limit
        found: Rows = []
        for rows in self.partitions(node.partition, self.rows(node.input)):
            found += self.in_order(rows, node.order, node.fields)[node.offset : end]
        return found

    def partitions(self, by: Sequence[Expr], rows: Rows) -> Iterable[Rows]:
        """Rows with equal values."""
        found: dict[tuple[Any, ...], Rows] = {}
        for key, row in zip(self.keys(by, rows), rows, strict=True):
            found.setdefault(key, []).append(row)
        return found.values()

    def over(self, node: WindowFunctions) -> Rows:
        """Rows with the values of functions over their partitions."""
        found: Rows = []
        fields = node.input.fields
        for rows in self.partitions(node.partition, self.rows(node.input)):
            ordered = self.in_order(rows, node.order, fields)
            keys = [
                tuple(_sortable(self.values(key.expression, [row])[0], key) for key in node.order)
                for row in ordered
            ]
            numbers = self.distances(node, ordered)
            columns = {
                call.field.id: [
                    self.over_one(call, ordered, keys, numbers, place)
                    for place in range(len(ordered))
                ]
                for call in node.calls
            }
            for place, row in enumerate(ordered):
                found.append({**row, **{name: each[place] for name, each in columns.items()}})
        return found

    def distances(self, node: WindowFunctions, rows: Rows) -> list[Any]:
        """The one key of the order as a number that grows along the order, None for NULL."""
        if len(node.order) != 1:
            return [None] * len(rows)
        sign = -1 if node.order[0].is_descending else 1
        values = self.values(node.order[0].expression, rows)
        return [None if value is None else _number(value, sign) for value in values]

    def over_one(
        self, call: WindowCall, rows: Rows, keys: list[Any], numbers: list[Any], place: int
    ) -> Any:
        """The value of one function in the row at that place of its partition."""
        arguments = [self.values(part, rows) for part in call.arguments]
        if call.function in _RANKS:
            return _RANKS[call.function](keys, place, [column[place] for column in arguments])
        if call.function in ("lag", "lead"):
            values, distance, default = arguments
            other = place + (1 if call.function == "lead" else -1) * distance[place]
            return values[other] if 0 <= other < len(rows) else default[place]
        inside = [i for i in range(len(rows)) if _is_inside(call.frame, i, place, keys, numbers)]
        if call.function in ("first_value", "last_value", "nth_value"):
            wanted = {"first_value": 0, "last_value": len(inside) - 1}.get(call.function)
            wanted = arguments[1][place] - 1 if wanted is None else wanted
            return arguments[0][inside[wanted]] if 0 <= wanted < len(inside) else None
        values = [tuple(column[i] for column in arguments) for i in inside]
        return slow_aggregate(call.function, values, call.field.type)


def _entry_values(entry: Any, node: Unnest) -> list[Any]:
    """The columns of one entry: an element, the fields of a struct, or a key and its value."""
    if entry is None:
        return [None] * len(node.given)
    if node.is_spread:
        return list(entry.values())
    return list(entry) if isinstance(entry, tuple) else [entry]


def slow_aggregate(
    function: str, rows: list[tuple[Any, ...]], kind: ColumnType, *, is_distinct: bool = False
) -> Any:
    """The aggregate of rows of arguments; a row with a NULL among them does not count."""
    traits = AGGREGATE_FUNCTIONS[function]
    if traits.form is Form.ROWS:
        return len(rows)
    rows = [row for row in rows if None not in row]
    if is_distinct or traits.form is Form.DISTINCT:
        rows = list({tuple(map(same, row)): row for row in reversed(rows)}.values())
    values = [row[0] for row in rows]
    if traits.is_count:
        return sum(values) if traits.only_true else len(rows)
    if len(values) < traits.fewest_values:
        return None
    if traits.form is Form.EXTREME:
        ordered = sorted(values, key=lambda value: _sortable(value, _PLAIN))
        return ordered[-1 if traits.is_greatest else 0]
    return _of_numbers(function, values, kind)


def _of_numbers(function: str, values: list[Any], kind: ColumnType) -> Any:
    traits = AGGREGATE_FUNCTIONS[function]
    if any(isinstance(value, float) and not math.isfinite(value) for value in values):
        total = math.fsum(values) if not _has_both(values) else math.nan
        return total if traits.form in (Form.SUM, Form.MEAN) else math.nan
    exact = [Fraction(value) for value in values]
    total = sum(exact, Fraction(0))
    if traits.form is Form.SUM:
        if kind.name == "DECIMAL":
            return Decimal(total.numerator) / Decimal(total.denominator)
        return int(total) if kind.is_integer else float(total)
    mean = total / len(exact)
    if traits.form is Form.MEAN:
        return float(mean)
    spread = sum(((each - mean) ** 2 for each in exact), Fraction(0))
    spread /= len(exact) - traits.rows_less
    return math.sqrt(spread) if traits.is_root else float(spread)


def _has_both(values: list[Any]) -> bool:
    return math.inf in values and -math.inf in values


def same(value: Any) -> Any:
    """The value such that those that are equal in SQL are equal here; NULL equals NULL."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


def _sortable(value: Any, key: OrderKey) -> Any:
    """NULL first or last, then the value, with NaN the largest."""
    is_first = key.nulls_first
    if value is None:
        return (0 if is_first else 2, _SMALLEST)
    return (1, _Reversed(_number_or_text(value)) if key.is_descending else _number_or_text(value))


def _number_or_text(value: Any) -> Any:
    is_nan = isinstance(value, float) and math.isnan(value)
    return (is_nan, 0.0 if is_nan else value)


class _Reversed:
    """Sorts the other way."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and bool(self.value == other.value)

    __hash__ = None  # type: ignore[assignment]


_SMALLEST = ()
_PLAIN = OrderKey(ColumnRef(0, "", ColumnType("INT")))


def _number(value: Any, sign: int) -> Any:
    if isinstance(value, datetime):
        epoch = datetime(1970, 1, 1, tzinfo=value.tzinfo)
        return sign * ((value - epoch) // timedelta(microseconds=1))
    if isinstance(value, date):
        return sign * value.toordinal()
    return sign * value if isinstance(value, (int, float, Decimal)) else None


def _is_inside(frame: Frame, other: int, place: int, keys: list[Any], numbers: list[Any]) -> bool:
    if frame.unit == "rows":
        after = frame.start is None or other - place >= frame.start
        return after and (frame.end is None or other - place <= frame.end)
    return _after(frame.start, other, place, keys, numbers) and _after(
        None if frame.end is None else -frame.end, place, other, keys, numbers
    )


def _after(
    distance: int | float | None, other: int, place: int, keys: list[Any], numbers: list[Any]
) -> bool:
    """Whether the row is at least the distance behind the place, in the order of the keys."""
    if distance is None or keys[other] == keys[place]:
        return distance is None or distance <= 0 or numbers[place] is None
    if distance == 0 or numbers[other] is None or numbers[place] is None:
        return bool(keys[place] < keys[other])
    return bool(numbers[other] - numbers[place] >= distance)


def _nulls(relation: Relation) -> Row:
    return dict.fromkeys((each.id for each in relation.fields), None)


def _tuple(row: Row, relation: Relation) -> list[Any]:
    return [row[each.id] for each in relation.fields]


def _key(row: Row, fields: Sequence[Field]) -> tuple[Any, ...]:
    return tuple(same(row[each.id]) for each in fields)


def _rank(keys: list[Any], place: int, _: list[Any]) -> int:
    return 1 + sum(key < keys[place] for key in keys)


def _percent_rank(keys: list[Any], place: int, _: list[Any]) -> float:
    return 0.0 if len(keys) == 1 else (_rank(keys, place, []) - 1) / (len(keys) - 1)


def _dense_rank(keys: list[Any], place: int, _: list[Any]) -> int:
    before: list[Any] = []
    for key in keys:
        if key < keys[place] and key not in before:
            before.append(key)
    return 1 + len(before)


def _cume_dist(keys: list[Any], place: int, _: list[Any]) -> float:
    return sum(not keys[place] < key for key in keys) / len(keys)


def _ntile(keys: list[Any], place: int, arguments: list[Any]) -> int:
    size, larger = divmod(len(keys), arguments[0])
    for tile in range(1, arguments[0] + 1):
        place -= size + (tile <= larger)
        if place < 0:
            return tile
    raise AssertionError("every row is in a tile")


_RANKS: dict[str, Callable[[list[Any], int, list[Any]], Any]] = {
    "row_number": lambda _keys, place, _arguments: place + 1,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
}
_NODES: dict[type[Relation], Callable[[SlowRelations, Any], Rows]] = {
    Scan: SlowRelations.scan,
    AnswerWindow: SlowRelations.answers,
    WindowBounds: SlowRelations.bounds,
    SessionScan: SlowRelations.sessions,
    ValidRows: SlowRelations.valid,
    Unnest: SlowRelations.unnested,
    Values: SlowRelations.constants,
    Filter: SlowRelations.filtered,
    Project: SlowRelations.projected,
    Distinct: SlowRelations.distinct,
    AtMostOne: SlowRelations.at_most_one,
    Aggregate: SlowRelations.aggregated,
    Join: SlowRelations.joined,
    Apply: SlowRelations.applied,
    SetOperation: SlowRelations.together,
    TopRows: SlowRelations.top,
    WindowFunctions: SlowRelations.over,
}
