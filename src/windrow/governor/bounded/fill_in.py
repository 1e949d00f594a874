"""Fill-in: what a narrowed window lacks is taken from the history of its stream.

The history knows the aggregates of every node of the past. So an answer from the rows held is added
to what the history says of the older ones: exactly, where the missing part begins at a node's
border, within bounds where it cuts a node. Only the cut can be wrong, not all that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from windrow.aggregate_functions import COUNT, SUM, VARIANCE, AggregateFunction, Form
from windrow.governor.bounded.inner_plan import BoundedAggregate, InnerPlan
from windrow.governor.bounded.shown_rows import shown_rows
from windrow.history.aggregates import Aggregate
from windrow.history.answers.answer import Answer
from windrow.history.history import History
from windrow.history.spec import HistorySpec
from windrow.plan.expressions import AggregateRef, ColumnRef, Expr
from windrow.plan.model import QueryPlan

__all__ = ["FillIn", "reason_against_filling"]

Instants = NDArray[np.int64]
Floats = NDArray[np.float64]

# Two roundings of sums and one of a quotient, as a part of the numbers that are added.
ROUNDING = 2.0**-50


def reason_against_filling(plan: QueryPlan, spec: HistorySpec) -> str | None:
    """Why a history cannot complete the answers of a query; None where it can."""
    entry = plan.inputs[0]
    if entry.filter is not None or plan.having is not None:
        return "the history includes the rows that WHERE filters out, and has no HAVING"
    if not entry.window.traits.ends_at_any_instant:
        return "only windows that move with every row end at any instant"
    keys = {column.name for column in spec.keys}
    grouped = [part.column for part in plan.group_by if isinstance(part, ColumnRef)]
    if plan.group_by and (len(grouped) < len(plan.group_by) or set(grouped) != keys):
        return f"it is kept by {', '.join(sorted(keys)) or 'no column'}"
    measures = {column.name for column in spec.measures}
    for aggregate in plan.aggregates:
        argument = aggregate.measured
        if argument is None:
            continue
        if not isinstance(argument, ColumnRef) or argument.column not in measures:
            return f"it keeps {', '.join(sorted(measures)) or 'only counts'}"
    return None


@dataclass(frozen=True)
class _Bounded:
    """Values as they are shown, and as doubles with their bounds.

    is_beyond: where the type does not hold the value.
    """

    shown: pa.Array
    value: Floats
    low: Floats
    high: Floats
    is_beyond: NDArray[np.bool_] | bool = False


class FillIn:
    """Completes answers of one query from one history.

    known_from_us: from there on the history has exactly the rows that the query was given; windows
    that begin before are left as they are.
    """

    def __init__(
        self, inner: InnerPlan, history: History, range_us: int, known_from_us: int
    ) -> None:
        self._inner, self._history, self._range_us = inner, history, range_us
        self._known_from_us = known_from_us
        group_by = inner.plan.group_by
        self._keys = [part.column for part in group_by if isinstance(part, ColumnRef)]

    def read_from(self, history: History) -> None:
        """The same history, in another object."""
        self._history = history

    def filled(self, answers: pa.Table, at: Instants, edges: Instants) -> tuple[pa.Table, Floats]:
        """The select list with what was missing, and a bound on the relative error of each row.

        answers: with hidden columns, in the order of their instants.
        """
        parts, bounds = [], []
        starts = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        for first, end in zip(starts, [*starts[1:], at.size], strict=True):
            rows = answers.slice(first, end - first)
            table, bound = self._filled_at(rows, int(at[first]), int(edges[first]))
            parts.append(table)
            bounds.append(bound)
        return pa.concat_tables(parts), np.concatenate(bounds)

    def _filled_at(self, rows: pa.Table, at: int, edge: int) -> tuple[pa.Table, Floats]:
        keys = None
        if self._keys:
            columns = [rows.column(name) for name in self._inner.groups]
            keys = pa.table(dict(zip(self._keys, columns, strict=True)))
        if at - self._range_us < self._known_from_us or not self._history.is_whole:
            return rows.select(list(self._inner.shown)), np.full(rows.num_rows, np.inf)
        tail = self._history.tail(at, self._range_us, edge, keys=keys, total=not self._keys)
        with np.errstate(all="ignore"):  # what NaN and infinities make unknown has infinite bounds
            return self._completed_rows(rows, tail)

    def _completed_rows(self, rows: pa.Table, tail: Answer) -> tuple[pa.Table, Floats]:
        columns_of: dict[Expr, pa.Array] = {}
        bound, broken = np.zeros(rows.num_rows), np.zeros(rows.num_rows, np.bool_)
        for number, aggregate in enumerate(self._inner.aggregates):
            kind = self._inner.plan.aggregates[number].type
            found = self._completed(aggregate, rows, _Tail(tail, self._measure(aggregate)))
            columns_of[AggregateRef(number, kind)] = found.shown.cast(kind.arrow)
            bound = np.maximum(bound, _relative(found))
            broken |= found.is_beyond
        return shown_rows(self._inner, rows, columns_of, bound, broken), bound

    def _measure(self, aggregate: BoundedAggregate) -> str | None:
        if aggregate.measure is None:
            return None
        argument = self._inner.measures[aggregate.measure]
        assert isinstance(argument, ColumnRef)
        return argument.column

    def _completed(self, aggregate: BoundedAggregate, rows: pa.Table, tail: _Tail) -> _Bounded:
        held = rows.column(aggregate.value).combine_chunks()
        function = aggregate.traits
        if function.is_count:
            return _added(held, tail.of(COUNT))
        if function.form is Form.SUM:
            return _added(held, tail.of(SUM), tail.may_lack())
        if function.form is Form.EXTREME:
            return _extreme(function, held, tail)
        count = _doubles(rows.column(aggregate.count).combine_chunks())
        mean = _doubles(rows.column(aggregate.mean).combine_chunks())
        if function.form is Form.MEAN:
            return _average(count, mean, tail)
        return _moment(function, count, mean, _doubles(held), tail)


class _Tail:
    """What the history says of the rows that are missing: value, lower and upper bound."""

    def __init__(self, answer: Answer, measure: str | None) -> None:
        self._answer, self._measure = answer, measure

    def of(self, function: AggregateFunction) -> list[pa.Array]:
        return self._answer.columns(Aggregate(function.name, self._measure))

    def may_lack(self) -> NDArray[np.bool_]:
        """Where all rows that have a value may turn out not to be missing: then there is none."""
        lacks: NDArray[np.bool_] = _doubles(self.of(COUNT)[1]) == 0
        return lacks


def _added(
    held: pa.Array, tail: Sequence[pa.Array], may_lack: NDArray[np.bool_] | None = None
) -> _Bounded:
    """Counts and sums; NULL where neither part has a value."""
    is_null = pc.and_(held.is_null(), tail[0].is_null())
    own = pc.fill_null(held, 0)
    parts = [pc.fill_null(each, 0) for each in tail]
    total = _plus(own, parts[0])
    shown = pc.if_else(is_null, pa.scalar(None, held.type), total)
    values = [_doubles(own) + _doubles(each) for each in parts]
    slack = ROUNDING * (np.abs(_doubles(own)) + np.abs(_doubles(parts[0])))
    if pa.types.is_integer(held.type):
        slack = np.zeros_like(slack)
    # A sum that its type does not hold, or that may be NULL, is not known.
    is_beyond = unknown = total.is_null().to_numpy(zero_copy_only=False)
    if may_lack is not None:
        some = pc.and_(held.is_null(), tail[0].is_valid()).to_numpy(zero_copy_only=False)
        unknown = unknown | (may_lack & some)
    low, high = (np.where(unknown, np.nan, side) for side in (values[1] - slack, values[2] + slack))
    return _Bounded(shown, values[0], low, high, is_beyond)


def _plus(held: pa.Array, more: pa.Array) -> pa.Array:
    """The sums of two columns in the type of the first; NULL where it does not hold them."""
    try:
        return pc.add_checked(held, more.cast(held.type)).cast(held.type)
    except pa.ArrowInvalid:  # some sum has too many digits
        pairs = zip(held.to_pylist(), more.to_pylist(), strict=True)
        totals = [_fitting(one + type(one)(other), held.type) for one, other in pairs]
        return pa.array(totals, held.type)


def _fitting(total: int | Decimal | float, kind: pa.DataType) -> int | Decimal | float | None:
    try:
        return pa.scalar(total, kind).as_py()  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, OverflowError):
        return None


def _extreme(function: AggregateFunction, held: pa.Array, tail: _Tail) -> _Bounded:
    """The better of both; what is missing may turn out to be nothing where a node is cut."""
    pick = pc.max_element_wise if function.is_greatest else pc.min_element_wise
    value, low, high = (each.cast(held.type) for each in tail.of(function))
    may_lack = np.asarray(_doubles(tail.of(COUNT)[1]) == 0) & value.is_valid().to_numpy(
        zero_copy_only=False
    )
    found = [pick(held, each) for each in (value, low, high)]
    bounds = [_doubles(each) for each in found]
    # Without the missing part the answer is the one of the rows held; NaN where there is none.
    worst = 1 if function.is_greatest else 2
    bounds[worst] = np.where(may_lack, _doubles(held), bounds[worst])
    # NaN is larger than all numbers, but Arrow passes over it: then nothing is known.
    for each in (held, value, low, high):
        if pa.types.is_floating(each.type):
            is_nan = pc.fill_null(pc.is_nan(each), False).to_numpy(zero_copy_only=False)
            bounds[1] = np.where(is_nan, np.nan, bounds[1])
    value_bounds, low_bounds, high_bounds = bounds
    return _Bounded(found[0], value_bounds, low_bounds, high_bounds)


def _average(count: Floats, mean: Floats, tail: _Tail) -> _Bounded:
    own = np.where(count > 0, count * mean, 0.0)
    sums = [own + _doubles(pc.fill_null(each, 0)) for each in tail.of(SUM)]
    counts = [count + _doubles(each) for each in tail.of(COUNT)]
    value = sums[0] / counts[0]
    corners = np.stack([s / c for s in sums[1:] for c in counts[1:]])
    slack = ROUNDING * (np.abs(own) + np.abs(sums[0])) / counts[0]
    is_null = counts[0] == 0
    shown = pa.array(value, mask=is_null)
    return _Bounded(shown, value, corners.min(axis=0) - slack, corners.max(axis=0) + slack)


def _moment(
    function: AggregateFunction, count: Floats, mean: Floats, held: Floats, tail: _Tail
) -> _Bounded:
    """Variances: exact where the missing part is known exactly, else unknown."""
    sums = [_doubles(each) for each in tail.of(SUM)]
    counts = [_doubles(each) for each in tail.of(COUNT)]
    squares = [_doubles(each) for each in tail.of(VARIANCE)]
    rows_less = function.rows_less
    spread = held**2 if function.is_root else held
    own = np.where(count > rows_less, spread * (count - rows_less), 0.0)
    missing = counts[0]
    far = np.where(missing > 0, sums[0] / missing, 0.0) - np.where(count > 0, mean, 0.0)
    both = count + missing
    between = np.where((count > 0) & (missing > 0), far**2 * count * missing / both, 0.0)
    total = own + np.where(missing > 0, squares[0] * missing, 0.0) + between
    value = total / (both - rows_less)
    value = np.sqrt(value) if function.is_root else value
    is_known = (counts[1] == counts[2]) & ((sums[1] == sums[2]) | (missing == 0))
    is_known &= (squares[1] == squares[2]) | (missing == 0)
    slack = np.where(is_known, 16 * ROUNDING * np.abs(value), np.inf)
    shown = pa.array(value, mask=both - rows_less <= 0)
    return _Bounded(shown, value, value - slack, value + slack)


def _relative(found: _Bounded) -> Floats:
    """The largest relative error that the bounds allow; infinite where they enclose zero."""
    far = np.maximum(found.value - found.low, found.high - found.value)
    near = np.minimum(np.abs(found.low), np.abs(found.high))
    bound = np.where(far == 0, 0.0, far / near)
    encloses = (found.low <= 0) & (found.high >= 0) & (far > 0)
    is_null = np.asarray(found.shown.is_null())
    bound = np.where(encloses | ~np.isfinite(bound), np.inf, bound)
    bounded: Floats = np.where(is_null & (far == 0), 0.0, bound)
    return bounded


def _doubles(column: pa.Array) -> Floats:
    # Not safe: an integer beyond 53 bits is the nearest double, and no error.
    values: Floats = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values
