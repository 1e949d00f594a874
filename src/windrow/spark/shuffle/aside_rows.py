"""Rows that ON ERROR SET ASIDE leaves out where a task packs them, and what buckets count of them.

Only a bucket knows which rows are late, so each row that is set aside goes there with its time; of
the newest the expression and the values that it read go with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.rows.frames import table_bytes
from windrow.rows.set_aside import MAX_ASIDE_ROWS, AsideRow, QueryLedger

__all__ = ["TaskLedger", "counted_aside"]

Instants = NDArray[np.int64]
_SCHEMA = pa.schema(
    [
        ("input", pa.string()),
        ("ts", pa.int64()),
        ("expression", pa.string()),
        ("values", pa.string()),
    ]
)


class TaskLedger(QueryLedger):
    """The rows of one task that are set aside, since the last packets were taken."""

    def __init__(self, inputs: Sequence[str]) -> None:
        super().__init__(inputs)
        self.times_us: Instants = np.empty(0, np.int64)  # of the batch that is prepared
        self._noted: list[pa.Table] = []

    def note(self, name: str, places: Instants, count: int, rows: Sequence[AsideRow]) -> None:
        """Rows at these places of the batch are set aside; rows: the last of them, to be shown."""
        super().note(name, places, count, rows)
        unseen: list[None] = [None] * (places.size - len(rows))
        columns = [
            pa.repeat(pa.scalar(name), places.size),
            pa.array(self.times_us[places]),
            pa.array([*unseen, *(row.expression for row in rows)], pa.string()),
            pa.array([*unseen, *(row.values for row in rows)], pa.string()),
        ]
        self._noted.append(pa.Table.from_arrays(columns, schema=_SCHEMA))

    def to_bytes(self) -> memoryview | None:
        """All of them; None where there are none."""
        return table_bytes(pa.concat_tables(self._noted)) if self._noted else None


def counted_aside(
    given: Sequence[pa.Table], timely: Mapping[str, tuple[int, int]]
) -> dict[str, Any]:
    """How many rows of each input are set aside, and the newest of them as texts.

    timely: by input, the bounds of the times that count: above the first, up to the second.
    """
    counts: dict[str, int] = {}
    shown: list[list[str]] = []
    for table in given:
        times_us = table.column("ts").to_numpy()
        for name, bounds in timely.items():
            is_own = table.column("input").to_numpy(zero_copy_only=False) == name
            chosen = is_own & (times_us > bounds[0]) & (times_us <= bounds[1])
            counts[name] = counts.get(name, 0) + int(np.count_nonzero(chosen))
            kept = table.filter(pa.array(chosen)).drop_columns("ts").drop_null()
            shown += [list(row.values()) for row in kept.to_pylist()[-MAX_ASIDE_ROWS:]]
    return {"counts": counts, "rows": shown[-MAX_ASIDE_ROWS:]}
