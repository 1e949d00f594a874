"""Functions over partitions in order, row by row from the whole relation, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from support.relation_changes import Held, Row, plain_row
from support.slow_aggregates import exact_sum, exact_variance, largest, smallest
from support.slow_order import are_peers, key_of, partitions_in_order
from windrow.plan.expressions import ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import Frame, WindowCall, WindowFunctions

RANKINGS = ("row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile")


def slow_windows(node: WindowFunctions) -> Callable[[Held], Held]:
    """What the node means, by the rows held."""

    def slow(held: Held) -> Held:
        out: Held = Counter()
        for rows in partitions_in_order(node, held):
            for place, row in enumerate(rows):
                values = [_value(node, call, rows, place) for call in node.calls]
                out[plain_row((*row, *values))] += 1
        return out

    return slow


def _value(node: WindowFunctions, call: WindowCall, rows: Sequence[Row], place: int) -> Any:
    if call.function in RANKINGS:
        return _ranking(node, call, rows, place)
    arguments = [_reader(node, each) for each in call.arguments]
    if call.function in ("lag", "lead"):
        distance = call.arguments[1].value if len(call.arguments) > 1 else 1
        source = place + (distance if call.function == "lead" else -distance)
        if 0 <= source < len(rows):
            return arguments[0](rows[source])
        return arguments[2](rows[place]) if len(arguments) > 2 else None
    framed = [rows[i] for i in _frame(node, call.frame, rows, place)]
    if call.function == "first_value":
        return arguments[0](framed[0]) if framed else None
    if call.function == "last_value":
        return arguments[0](framed[-1]) if framed else None
    if call.function == "nth_value":
        nth = call.arguments[1].value
        return arguments[0](framed[nth - 1]) if nth <= len(framed) else None
    if call.function == "count_star":
        return len(framed)
    values = [value for value in map(arguments[0], framed) if value is not None]
    return _aggregate(call, values)


def _ranking(node: WindowFunctions, call: WindowCall, rows: Sequence[Row], place: int) -> Any:
    peers = [i for i, row in enumerate(rows) if are_peers(node, row, rows[place])]
    if call.function == "row_number":
        return place + 1
    if call.function == "rank":
        return peers[0] + 1
    if call.function == "dense_rank":
        return _dense_rank(node, rows, peers[0])
    if call.function == "percent_rank":
        return peers[0] / (len(rows) - 1) if len(rows) > 1 else 0.0
    if call.function == "cume_dist":
        return (peers[-1] + 1) / len(rows)
    return _ntile(call, len(rows), place)


def _aggregate(call: WindowCall, values: list[Any]) -> Any:
    if call.function in _COUNTS:
        return _COUNTS[call.function](values)
    if not values:
        return None
    if call.function in _EXTREMES:
        return _EXTREMES[call.function](values)
    if call.function == "sum":
        return exact_sum(values)
    if call.function == "avg":
        return float(exact_sum(values)) / len(values)
    variance = exact_variance([float(value) for value in values], call.function.endswith("samp"))
    if variance is None:
        return None
    return math.sqrt(variance) if call.function.startswith("stddev") else variance


_COUNTS: dict[str, Callable[[list[Any]], int]] = {
    "count": len,
    "count_if": sum,
    "count_distinct": lambda values: len({key_of(value) for value in values}),
}
_EXTREMES: dict[str, Callable[[list[Any]], Any]] = {
    "bool_and": all,
    "bool_or": any,
    "min": lambda values: min(values) if isinstance(values[0], str) else smallest(values),
    "max": lambda values: max(values) if isinstance(values[0], str) else largest(values),
}


def _reader(node: WindowFunctions, expression: Expr) -> Callable[[Row], Any]:
    if isinstance(expression, Literal):
        return lambda _row: expression.value
    assert isinstance(expression, ColumnRef)
    place = [field.id for field in node.input.fields].index(expression.column)
    return lambda row: row[place]


def _frame(node: WindowFunctions, frame: Frame, rows: Sequence[Row], place: int) -> list[int]:
    return [
        other
        for other in range(len(rows))
        if _is_within(node, frame, rows, place, other)
    ]  # fmt: skip


def _is_within(
    node: WindowFunctions, frame: Frame, rows: Sequence[Row], place: int, other: int
) -> bool:
    if frame.unit == "rows":
        distance = other - place
        return (frame.start is None or distance >= frame.start) and (
            frame.end is None or distance <= frame.end
        )
    return all(
        _is_beyond(node, bound, rows, place, other, sign)
        for bound, sign in ((frame.start, 1), (frame.end, -1))
    )


def _is_beyond(
    node: WindowFunctions,
    bound: float | None,
    rows: Sequence[Row],
    place: int,
    other: int,
    sign: int,
) -> bool:
    """Whether a row is not before the start of a frame (sign 1), or not behind its end (-1)."""
    if bound is None or are_peers(node, rows[other], rows[place]):
        if bound is None or bound == 0:
            return True
    elif bound == 0:
        return (other > place) == (sign == 1)
    key = node.order[0]
    read = _reader(node, key.expression)
    mine, theirs = read(rows[place]), read(rows[other])
    if not _is_number(mine) or not _is_number(theirs):
        # NULL and NaN have no distance but to themselves: by order, their group is one value.
        if are_peers(node, rows[other], rows[place]):
            return not _is_number(mine)
        return (other > place) == (sign == 1)
    edge = _moved(mine, -bound if key.is_descending else bound)
    if key.is_descending:
        return theirs <= edge if sign == 1 else theirs >= edge
    return theirs >= edge if sign == 1 else theirs <= edge


def _is_number(value: Any) -> bool:
    return value is not None and value == value


def _moved(value: Any, distance: float) -> Any:
    if isinstance(value, datetime):
        return value + timedelta(microseconds=distance)
    if isinstance(value, date):
        return value + timedelta(days=distance)
    return value + (Decimal(str(distance)) if isinstance(value, Decimal) else distance)


def _dense_rank(node: WindowFunctions, rows: Sequence[Row], first: int) -> int:
    return 1 + sum(not are_peers(node, rows[i - 1], rows[i]) for i in range(1, first + 1))


def _ntile(call: WindowCall, size: int, place: int) -> int:
    tiles = call.arguments[0].value
    small, larger = divmod(size, tiles)
    sizes = [small + (tile < larger) for tile in range(tiles)]
    tile = 0
    while place >= sizes[tile]:
        place -= sizes[tile]
        tile += 1
    return tile + 1
