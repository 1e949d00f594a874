"""Functions of a row's place in its partition or frame: numbers, ranks, shares and values."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.changes import Vector
from windrow.operators.relations.frames import Segments
from windrow.plan.expressions import Literal
from windrow.plan.relations.algebra import WindowCall

__all__ = ["RANKINGS", "SELECTIONS", "literal_number", "selected"]

Ranking = Callable[[WindowCall, Segments], Vector | NDArray[np.float64]]
Selection = Callable[[WindowCall, Vector, Vector], Vector]
NO_ROW = -1


def literal_number(call: WindowCall, argument: int) -> int:
    """An argument that is a constant."""
    literal = call.arguments[argument]
    assert isinstance(literal, Literal)
    assert isinstance(literal.value, int)
    return literal.value


def _row_number(_call: WindowCall, segments: Segments) -> Vector:
    return segments.shown - segments.begins[segments.shown] + 1


def _rank(_call: WindowCall, segments: Segments) -> Vector:
    found: Vector = (segments.first_peer - segments.begins)[segments.shown] + 1
    return found


def _dense_rank(_call: WindowCall, segments: Segments) -> Vector:
    is_first = segments.first_peer == np.arange(segments.rows.size)
    groups: Vector = np.cumsum(is_first)
    found: Vector = (groups - groups[segments.begins] + 1)[segments.shown]
    return found


def _percent_rank(_call: WindowCall, segments: Segments) -> NDArray[np.float64]:
    others = (segments.ends - segments.begins)[segments.shown] - 1
    before = (segments.first_peer - segments.begins)[segments.shown]
    share: NDArray[np.float64] = before / np.maximum(others, 1)
    return share


def _cume_dist(_call: WindowCall, segments: Segments) -> NDArray[np.float64]:
    until = (segments.behind_peers - segments.begins)[segments.shown]
    share: NDArray[np.float64] = until / (segments.ends - segments.begins)[segments.shown]
    return share


def _ntile(call: WindowCall, segments: Segments) -> Vector:
    tiles = literal_number(call, 0)
    place = segments.shown - segments.begins[segments.shown]
    small, larger = np.divmod((segments.ends - segments.begins)[segments.shown], tiles)
    # The first ones have a row more each.
    in_larger = larger * (small + 1)
    behind = larger + (place - in_larger) // np.maximum(small, 1)
    found: Vector = np.where(place < in_larger, place // (small + 1), behind) + 1
    return found


# Of the partition alone; the frame does not matter.
RANKINGS: Mapping[str, Ranking] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
}


def _first(_call: WindowCall, low: Vector, high: Vector) -> Vector:
    return np.where(low < high, low, NO_ROW)


def _last(_call: WindowCall, low: Vector, high: Vector) -> Vector:
    return np.where(low < high, high - 1, NO_ROW)


def _nth(call: WindowCall, low: Vector, high: Vector) -> Vector:
    place = low + literal_number(call, 1) - 1
    return np.where(place < high, place, NO_ROW)


# Which row of the frame from low to high - 1 has the value.
SELECTIONS: Mapping[str, Selection] = {
    "first_value": _first,
    "last_value": _last,
    "nth_value": _nth,
}


def selected(values: pa.Array, rows: Vector) -> pa.Array:
    """The values of rows, NULL for NO_ROW."""
    missing = rows == NO_ROW
    return values.take(pa.array(np.where(missing, 0, rows), mask=missing))
