"""Columns of values from states: order words back to values, pairs of doubles to exact integers."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.history.aggregates import Aggregate
from windrow.history.answers import kernels
from windrow.history.answers.kernels import POPULATION, SAMPLE
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals
from windrow.history.cells.kernels import PARTS
from windrow.history.leaves.batch import kinds_of
from windrow.history.spec import HistorySpec
from windrow.history.states.kernels import LARGEST_WORD, ROWS, VALID, WHOLE_STEP
from windrow.schema import ColumnType
from windrow.windows.key_coder import array_of_words

__all__ = ["columns_of_aggregate", "order_of_words", "words_of_order"]

_MAX_INT64 = (1 << 63) - 1
_DIGITS = 38
_WIDE = Context(prec=2 * _DIGITS)
_EXACT_LIMIT = 2.0**53
_ROUNDINGS: tuple[Callable[[float], int], ...] = (round, math.floor, math.ceil)


def columns_of_aggregate(
    aggregate: Aggregate, spec: HistorySpec, whole: Longs, real: Reals, shares: Reals
) -> list[pa.Array]:
    """Value, lower and upper bound of one aggregate, for each group."""
    groups = shares.shape[0]
    if aggregate.measure is None:
        counts = np.empty((groups, 3), np.int64)
        kernels.finish_counts(whole, ROWS, shares, counts)
        return [pa.array(np.ascontiguousarray(counts[:, side])) for side in range(3)]
    measure = spec.measure_index(aggregate.measure)
    kind = int(kinds_of(spec.measures)[measure])
    column_type = spec.measures[measure].type
    valid = whole[VALID + WHOLE_STEP * measure]
    held = valid[0::PARTS] + valid[1::PARTS] + valid[2::PARTS]
    if aggregate.function == "count":
        counts = np.empty((groups, 3), np.int64)
        kernels.finish_counts(whole, VALID + WHOLE_STEP * measure, shares, counts)
        return [pa.array(np.ascontiguousarray(counts[:, side])) for side in range(3)]
    if aggregate.function in ("min", "max"):
        words = np.empty((groups, 3), np.int64)
        kernels.finish_extremes(whole, measure, aggregate.function == "max", words)
        return [_extremes(words[:, side], held == 0, column_type) for side in range(3)]
    if aggregate.function == "sum":
        sums, rests = np.empty((groups, 3)), np.empty((groups, 3))
        kernels.finish_sums(whole, real, kind, measure, shares, sums, rests)
        return _sums(sums, rests, held == 0, column_type)
    scale = 10.0**column_type.scale if column_type.name == "DECIMAL" else 1.0
    if aggregate.function == "avg":
        means = np.empty((groups, 3))
        kernels.finish_averages(whole, real, kind, measure, shares, means)
        return _doubles(means / scale, held == 0)
    variances = np.empty((groups, 2, 3))
    kernels.finish_variances(whole, real, kind, measure, variances)
    which = SAMPLE if aggregate.function.endswith("_samp") else POPULATION
    out = variances[:, which] / (scale * scale)
    if aggregate.function.startswith("stddev"):
        out = np.sqrt(out)
    return _doubles(out, held < (2 if which == SAMPLE else 1))


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
    sums: Reals, rests: Reals, missing: NDArray[np.bool_], kind: ColumnType
) -> list[pa.Array]:
    if kind.is_float:
        return _doubles(sums + rests, missing)
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
