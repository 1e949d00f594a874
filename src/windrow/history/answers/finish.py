"""Columns of values from states: order words back to values, pairs of doubles to exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.aggregate_functions import Form
from windrow.history.aggregates import Aggregate
from windrow.history.answers import kernels
from windrow.history.answers.kernels import POPULATION, SAMPLE
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals
from windrow.history.cells.kernels import PARTS
from windrow.history.spec import HistorySpec
from windrow.history.state_kernels import LARGEST_WORD, ROWS, VALID, WHOLE_STEP
from windrow.schema import BIGINT, ColumnType
from windrow.windows.column_words import array_of_words

__all__ = ["Finished", "finished", "order_of_words", "words_of_order"]

_MAX_INT64 = (1 << 63) - 1
_DIGITS = 38
_WIDE = Context(prec=2 * _DIGITS)
_EXACT_LIMIT = 2.0**53
_YES, _NO = np.ones(1, np.bool_), np.zeros(1, np.bool_)
_ROUNDINGS: tuple[Callable[[float], int], ...] = (round, math.floor, math.ceil)


@dataclass(frozen=True)
class Finished:
    """Values with bounds, [group, side], as kernels return them; rest: rounding errors of sums.

    missing: groups for which the value is NULL.
    """

    form: Form
    type: ColumnType
    values: NDArray[Any]
    rest: Reals | None
    missing: NDArray[np.bool_]

    def columns(self) -> list[pa.Array]:
        """Value, lower and upper bound, for each group."""
        if self.form is Form.COUNT:
            return [pa.array(np.ascontiguousarray(self.values[:, side])) for side in range(3)]
        if self.form is Form.EXTREME:
            return [_extremes(self.values[:, side], self.missing, self.type) for side in range(3)]
        if self.form is not Form.SUM or self.type.is_float:
            values = self.values if self.rest is None else self.values + self.rest
            return _doubles(values, self.missing)
        return _sums(self.values, self.rest, self.missing, self.type)

    def first(self) -> list[Any]:
        """Value, lower and upper bound of the first group; quicker than by its columns."""
        if self.missing[0]:
            return [None, None, None]
        shown: list[Any] = self.values[0].tolist()
        if self.form in (Form.COUNT, Form.MEAN, Form.SPREAD):
            return shown
        if self.form is Form.SUM and self.type.is_float and self.rest is not None:
            return [high + low for high, low in zip(shown, self.rest[0].tolist(), strict=True)]
        if self.form is Form.EXTREME and self.type.is_integer:
            return shown
        return [column[0].as_py() for column in self.columns()]


def finished(
    aggregate: Aggregate, spec: HistorySpec, whole: Longs, real: Reals, shares: Reals
) -> Finished:
    """One aggregate, for each group."""
    groups = shares.shape[0]
    if aggregate.measure is None:
        return _counts(whole, ROWS, shares)
    measure = spec.measure_index(aggregate.measure)
    w = VALID + WHOLE_STEP * measure
    function = aggregate.traits
    if function.form is Form.COUNT:
        return _counts(whole, w, shares)
    kind, column_type = spec.kinds[measure], spec.measures[measure].type
    if function.form is Form.EXTREME:
        words = np.empty((groups, 3), np.int64)
        kernels.finish_extremes(whole, measure, function.is_greatest, words)
        return Finished(Form.EXTREME, column_type, words, None, _with_less(whole[w], 1))
    if function.form is Form.SUM:
        sums, rests = np.empty((groups, 3)), np.empty((groups, 3))
        kernels.finish_sums(whole, real, kind, measure, shares, sums, rests)
        return Finished(Form.SUM, column_type, sums, rests, _with_less(whole[w], 1))
    scale = 10.0**column_type.scale if column_type.name == "DECIMAL" else 1.0
    if function.form is Form.MEAN:
        means = np.empty((groups, 3))
        kernels.finish_averages(whole, real, kind, measure, shares, means)
        return Finished(Form.MEAN, column_type, means / scale, None, _with_less(whole[w], 1))
    variances = np.empty((groups, 2, 3))
    kernels.finish_variances(whole, real, kind, measure, variances)
    out = variances[:, SAMPLE if function.rows_less else POPULATION] / (scale * scale)
    if function.is_root:
        out = np.sqrt(out)
    missing = _with_less(whole[w], function.fewest_values)
    return Finished(Form.SPREAD, column_type, out, None, missing)


def _with_less(valid: Longs, least: int) -> NDArray[np.bool_]:
    """The groups with fewer than this many valid rows, sure or not."""
    if valid.size == PARTS:  # much quicker, for the one group that most questions are about
        return _YES if sum(valid.tolist()) < least else _NO
    less: NDArray[np.bool_] = valid.reshape(-1, PARTS).sum(axis=1) < least
    return less


def _counts(whole: Longs, row: int, shares: Reals) -> Finished:
    counts = np.empty((shares.shape[0], 3), np.int64)
    kernels.finish_counts(whole, row, shares, counts)
    return Finished(Form.COUNT, BIGINT, counts, None, np.zeros(shares.shape[0], np.bool_))


def words_of_order(order: Longs) -> Longs:
    """Bits of doubles from their order words, and the other way round."""
    words: Longs = order ^ ((order >> 63) & LARGEST_WORD)
    return words


order_of_words = words_of_order


def _extremes(order: Longs, missing: NDArray[np.bool_], kind: ColumnType) -> pa.Array:
    words = words_of_order(order) if kind.is_float else np.ascontiguousarray(order)
    words = np.where(missing, 0, words)
    return array_of_words(words, missing, kind.arrow)


def _doubles(values: Reals, missing: NDArray[np.bool_]) -> list[pa.Array]:
    mask = missing if missing.any() else None
    return [pa.array(np.ascontiguousarray(values[:, side]), mask=mask) for side in range(3)]


def _sums(
    sums: Reals, rests: Reals | None, missing: NDArray[np.bool_], kind: ColumnType
) -> list[pa.Array]:
    rests = np.zeros_like(sums) if rests is None else rests
    if kind.is_integer and bool((np.abs(sums) < _EXACT_LIMIT).all()):
        small = [np.rint(sums[:, 0]), np.floor(sums[:, 1]), np.ceil(sums[:, 2])]
        mask = missing if missing.any() else None
        return [pa.array(column.astype(np.int64), mask=mask) for column in small]
    exact = [
        [
            None if gone else round_side(high) + round_side(low)
            for high, low, gone in zip(sums[:, side], rests[:, side], missing, strict=True)
        ]
        for side, round_side in enumerate(_ROUNDINGS)
    ]
    if kind.name == "DECIMAL":
        return [_decimals(column, kind.scale) for column in exact]
    largest = max(
        (abs(value) for column in exact for value in column if value is not None), default=0
    )
    if largest <= _MAX_INT64:
        return [pa.array(column, pa.int64()) for column in exact]
    return [_decimals(column, 0) for column in exact]


def _decimals(values: list[Any], scale: int) -> pa.Array:
    whole = [None if value is None else Decimal(value).scaleb(-scale, _WIDE) for value in values]
    return pa.array(whole, pa.decimal128(_DIGITS, scale))
