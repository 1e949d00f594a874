"""What crosses an exchange: from each bucket of a stage to each of the next one a packet.

It has the changes that go to that bucket and the clock that the stage has come to, so that the next
one runs to the same instant in the same batch. Every bucket gets one from every bucket, also where
nothing has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.operators.relations.changes import Changes
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.exchange_algebra import Received
from windrow.plan.relations.references import substituted
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate_or_null
from windrow.rows.frames import read_frame, table_bytes, table_of, write_frame
from windrow.rows.prepare import buckets_of_words, mixed_words
from windrow.rows.prepared_names import TIME, VALUE, WEIGHT, column_name
from windrow.spark.shuffle.packed_rows import BucketRows
from windrow.spark.shuffle.routing import rows_by_bucket

__all__ = [
    "ExchangePacket",
    "ExchangeRouter",
    "Exchanged",
    "changes_of",
    "gather_exchanged",
    "rows_of",
]


@dataclass
class ExchangePacket:
    """What one bucket of a stage sends to one of the next.

    rows: changes by the number of their relation. below: where a stage has found it, the time of
    the first row below a relation. first_us: from when DURATION counts. reports: outputs of the
    stages below on their way to the driver.
    """

    sender: int
    clock_us: int
    first_us: int | None = None
    rows: dict[int, pa.RecordBatch | pa.Table] = field(default_factory=dict)
    below: dict[int, int] = field(default_factory=dict)
    reports: list[bytes] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """The packet as one frame."""
        header = {
            "sender": self.sender,
            "clock_us": self.clock_us,
            "first_us": self.first_us,
            "numbers": list(self.rows),
            "below": list(self.below.items()),
        }
        return write_frame(
            "exchange", header, [*map(table_bytes, self.rows.values()), *self.reports]
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> ExchangePacket:
        """The packet again; its rows stay where they lie."""
        header, sections = read_frame("exchange", data, "packet of an exchange")
        numbers = header["numbers"]
        rows = {number: table_of(part) for number, part in zip(numbers, sections, strict=False)}
        return cls(
            header["sender"],
            header["clock_us"],
            header["first_us"],
            rows,
            dict(header["below"]),
            [bytes(each) for each in sections[len(numbers) :]],
        )


@dataclass(frozen=True)
class Exchanged:
    """All packets of one batch for one bucket: as one of all senders, by time."""

    clock_us: int
    first_us: int | None
    rows: Mapping[int, pa.RecordBatch]
    below: Mapping[int, int]
    reports: Sequence[bytes]


def gather_exchanged(packets: Iterable[bytes]) -> Exchanged:
    """Everything that came, in an order that does not depend on the network."""
    opened = sorted(map(ExchangePacket.from_bytes, packets), key=lambda packet: packet.sender)
    clocks = {(packet.clock_us, packet.first_us) for packet in opened}
    assert len(clocks) == 1, f"buckets of a stage have come to different instants: {clocks}"
    ((clock_us, first_us),) = clocks
    numbers = sorted({number for packet in opened for number in packet.rows})
    below: dict[int, int] = {}
    for packet in opened:
        for number, time_us in packet.below.items():
            below[number] = min(time_us, below.get(number, time_us))
    return Exchanged(
        clock_us,
        first_us,
        {
            number: _in_order([p.rows[number] for p in opened if number in p.rows])
            for number in numbers
        },
        below,
        [report for packet in opened for report in packet.reports],
    )


def _in_order(tables: Sequence[pa.Table]) -> pa.RecordBatch:
    batches = [batch for table in tables for batch in table.to_batches()]
    whole = pa.concat_batches(batches)
    at = whole.column(TIME).to_numpy()
    if len(tables) == 1 or bool(np.all(at[1:] >= at[:-1])):
        return whole
    return whole.take(pa.array(np.argsort(at, kind="stable")))


def rows_of(changes: Changes) -> pa.RecordBatch:
    """Changes as a batch: the instant, the weight, and the row."""
    columns = [pa.array(changes.at), pa.array(changes.weight), *changes.columns]
    names = [TIME, WEIGHT, *(column_name(VALUE, place) for place in range(len(columns) - 2))]
    return pa.RecordBatch.from_arrays(columns, names=names)


def changes_of(rows: pa.RecordBatch) -> Changes:
    """Back from rows_of()."""
    at, weight, *columns = rows.columns
    return Changes(
        at.to_numpy(zero_copy_only=False), weight.to_numpy(zero_copy_only=False), tuple(columns)
    )


class ExchangeRouter:
    """Partitions changes for the buckets of the stage that receives them."""

    def __init__(self, plan: TreePlan, buckets: int) -> None:
        self._buckets = buckets
        keys = plan.partitioning.received
        self._spread = plan.partitioning.spread
        self._keys: dict[int, list[Expr]] = {}
        if plan.partitioning.is_sharded:
            pairs = zip(plan.received, keys, strict=True)
            self._keys = {node.number: _over_rows(own, node) for node, own in pairs}

    def parts(self, number: int, rows: pa.RecordBatch) -> Sequence[pa.RecordBatch]:
        """The changes for each of the buckets, in order of time."""
        if number in self._spread:
            return [rows] * self._buckets
        if self._buckets == 1 or number not in self._keys:
            return BucketRows.all_in_first(rows, self._buckets)
        return rows_by_bucket(rows, self._owners(number, rows), self._buckets)

    def _owners(self, number: int, rows: pa.RecordBatch) -> NDArray[np.int64]:
        leaf, size = leaf_of(rows), rows.num_rows
        columns = [evaluate_or_null(key, leaf, size) for key in self._keys[number]]
        return buckets_of_words(mixed_words(columns), self._buckets)


def _over_rows(keys: Sequence[Expr], node: Received) -> list[Expr]:
    """Keys over the columns of rows_of(); without keys a row goes by all that it holds."""
    columns = {
        each.id: ColumnRef(0, column_name(VALUE, place), each.type)
        for place, each in enumerate(node.fields)
    }
    return [substituted(key, columns) for key in keys] or [*columns.values()]
