"""States as Arrow columns: rows, and for each measure what is known of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.history.answers.finish import order_of_words, words_of_order
from windrow.history.cells.arena import Longs
from windrow.history.cells.cell_store import Reals, States, empty_states
from windrow.history.spec import MEASURE_ENDINGS, ROWS_COLUMN, START_COLUMN, HistorySpec
from windrow.history.state_kernels import (
    LARGEST_WORD,
    REAL_STEP,
    ROWS,
    SMALLEST_WORD,
    START,
    VALID,
    WHOLE_STEP,
)
from windrow.schema import Column
from windrow.windows.column_words import array_of_words, words_of_array

__all__ = ["columns_of_states", "states_of_columns"]


def columns_of_states(spec: HistorySpec, whole: Longs, real: Reals) -> dict[str, pa.Array]:
    """Rows, and seven columns for each measure; extremes in the type of the measure."""
    columns = {ROWS_COLUMN: pa.array(np.ascontiguousarray(whole[ROWS]))}
    for place, measure in enumerate(spec.measures):
        w, r = VALID + WHOLE_STEP * place, REAL_STEP * place
        missing = whole[w] == 0
        values = [pa.array(np.ascontiguousarray(whole[w]))]
        values += [_extremes(row, missing, measure) for row in (whole[w + 1], whole[w + 2])]
        values += [pa.array(np.ascontiguousarray(row)) for row in real[r : r + REAL_STEP]]
        names = [measure.name + ending for ending in MEASURE_ENDINGS]
        columns.update(zip(names, values, strict=True))
    return columns


def states_of_columns(spec: HistorySpec, table: pa.Table) -> States:
    """The states that columns_of_states() was given; starts where the table has them."""
    whole, real = empty_states(table.num_rows, len(spec.measures))
    whole[ROWS] = _numbers(table, ROWS_COLUMN)
    if START_COLUMN in table.column_names:
        whole[START] = _numbers(table, START_COLUMN)
    for place, measure in enumerate(spec.measures):
        w, r = VALID + WHOLE_STEP * place, REAL_STEP * place
        names = [measure.name + ending for ending in MEASURE_ENDINGS]
        whole[w] = _numbers(table, names[0])
        missing = whole[w] == 0
        for row, neutral, name in ((1, LARGEST_WORD, names[1]), (2, SMALLEST_WORD, names[2])):
            words, _ = words_of_array(table.column(name).combine_chunks())
            order = order_of_words(words) if measure.type.is_float else words
            whole[w + row] = np.where(missing, neutral, order)
        for row, name in enumerate(names[3:]):
            real[r + row] = table.column(name).to_numpy()
    return whole, real


def _extremes(order: Longs, missing: NDArray[np.bool_], measure: Column) -> pa.Array:
    words = words_of_order(order) if measure.type.is_float else np.ascontiguousarray(order)
    return array_of_words(np.where(missing, 0, words), missing, measure.type.arrow)


def _numbers(table: pa.Table, name: str) -> Longs:
    numbers: Longs = table.column(name).cast(pa.int64()).to_numpy()
    return numbers
