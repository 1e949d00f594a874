"""Heavy keys: which keys have a large share of a query's rows, estimated from samples.

A packing task looks at a few rows of each batch; the driver adds up what tasks report and lets it
fade, so that a key that was heavy yesterday is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from windrow.plan.model import QueryPlan
from windrow.rows.prepare import key_columns, mixed_words
from windrow.spark.shuffle.splitting import shown_key

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["KEYS_KEPT", "KeySampler", "faded", "heavy_shares"]

# So many rows of a batch are looked at. A key with a share of 1/64 is among them 8 times in the
# mean; keys of a smaller share burden no bucket.
SAMPLED_ROWS = 512
# Sampling costs as much as packing a hundredth of this many rows: of smaller batches only some
# are looked at, which then stand for the others.
ROWS_PER_SAMPLE = 200_000
LEAST_PARTS = 64
KEYS_KEPT = 32
TEXT_KEPT = 80
# What was seen counts for less with every batch: after 22 of them for a tenth.
FADING = 0.9

Counts = list[list[Any]]  # input, key as text (None: all rows of the input), rows


# Where in a batch the rows are: fixed, so that a task that is run again reports the same.
_PLACES = np.random.default_rng(1).random(SAMPLED_ROWS)
_MIX = 0x9E3779B97F4A7C15


class KeySampler:
    """Counts keys of the rows of one task; columns: of the key, by input."""

    def __init__(self, columns: Mapping[int, Sequence[str]]) -> None:
        self._columns = columns
        self._counts: dict[tuple[int, str | None], float] = {}

    @classmethod
    def of_block(cls, plan: QueryPlan, inputs: Iterable[int]) -> KeySampler:
        """Of a query that is one block."""
        return cls({each: key_columns(plan, each) for each in inputs})

    def add(self, input_index: int, prepared: pa.RecordBatch) -> None:
        """Looks at some of the rows, or at none of a small batch."""
        names, rows = self._columns[input_index], prepared.num_rows
        if not names or not _is_chosen(prepared):
            return
        columns = [prepared.column(name) for name in names]
        if rows > SAMPLED_ROWS:
            chosen = pa.array((_PLACES * rows).astype(np.int64))
            columns = [column.take(chosen) for column in columns]
        self._note(input_index, columns, max(rows, ROWS_PER_SAMPLE))

    def _note(self, input_index: int, columns: Sequence[pa.Array], rows: int) -> None:
        size = len(columns[0])
        counts = self._counts
        counts[input_index, None] = counts.get((input_index, None), 0) + rows
        _, places, times = np.unique(mixed_words(columns), return_index=True, return_counts=True)
        for index in np.flatnonzero(times * LEAST_PARTS >= max(2 * LEAST_PARTS, size)).tolist():
            place = int(places[index])
            shown = shown_key(tuple(column[place].as_py() for column in columns))[:TEXT_KEPT]
            counts[input_index, shown] = (
                counts.get((input_index, shown), 0) + float(times[index]) * rows / size
            )

    def drain(self) -> Counts:
        """What was found since the last call, the heaviest keys only."""
        counts = [
            [input_index, key, round(rows)] for (input_index, key), rows in self._counts.items()
        ]
        self._counts = {}
        return heaviest(counts)


def _is_chosen(prepared: pa.RecordBatch) -> bool:
    """Whether rows stand for those of other batches: by chance, and by their times alone."""
    if prepared.num_rows >= ROWS_PER_SAMPLE:
        return True
    if prepared.num_rows == 0:
        return False
    drawn = prepared.column("ts")[0].as_py() * _MIX >> 33 & 0x7FFFFFFF
    return bool(drawn * ROWS_PER_SAMPLE < prepared.num_rows << 31)


def heaviest(counts: Counts) -> Counts:
    """The totals, and as many keys as are kept."""
    totals = [each for each in counts if each[1] is None]
    keys = [each for each in counts if each[1] is not None]
    return totals + sorted(keys, key=lambda each: (-each[2], each[:2]))[:KEYS_KEPT]


def faded(known: Counts, came: Counts) -> Counts:
    """What is known after a batch."""
    added: dict[tuple[int, str | None], float] = {
        (input_index, key): FADING * rows for input_index, key, rows in known
    }
    for input_index, key, rows in came:
        added[input_index, key] = added.get((input_index, key), 0) + rows
    return heaviest([[*name, round(rows, 3)] for name, rows in added.items()])


def heavy_shares(plan: RunnablePlan, counts: Counts, most: int = 8) -> list[dict[str, Any]]:
    """The heaviest keys with their share of the recent rows of their input."""
    totals = {input_index: rows for input_index, key, rows in counts if key is None}
    shares = [
        {
            "input": plan.inputs[input_index].alias,
            "key": key,
            "share": round(min(1.0, rows / max(1, totals.get(input_index, 0))), 4),
        }
        for input_index, key, rows in counts
        if key is not None
    ]
    heavy = [each for each in shares if each["share"] * LEAST_PARTS >= 1]
    return sorted(heavy, key=lambda each: -each["share"])[:most]
