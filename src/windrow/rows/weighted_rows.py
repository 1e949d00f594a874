"""Prepared rows that stand for several equal ones: a column says for how many.

Where answers show at instants of a grid only, rows that enter and leave between the same of them
need not be distinguished. Those of one group become one weighted row, or two where their values do
not divide: seven rows with the sum 24 are six of 3 and one of 6. Whatever is added up over rows
stays the same, to the last bit.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.rows.prepared_names import WEIGHT

__all__ = ["WEIGHT", "expanded", "with_weights"]


def with_weights(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The rows with the column, where each stands for itself if there is none."""
    if WEIGHT in rows.schema.names:
        return rows
    return rows.append_column(WEIGHT, pa.array(np.ones(rows.num_rows, np.int64)))


def expanded(rows: pa.RecordBatch) -> pa.RecordBatch:
    """As many rows as they stand for, without the column.

    >>> rows = pa.record_batch({"ts": [5, 6], "w": [1, 2]})
    >>> expanded(rows).to_pydict()
    {'ts': [5, 6, 6]}
    """
    if WEIGHT not in rows.schema.names:
        return rows
    places = np.repeat(np.arange(rows.num_rows), rows.column(WEIGHT).to_numpy())
    names = [name for name in rows.schema.names if name != WEIGHT]
    return rows.select(names).take(pa.array(places))
