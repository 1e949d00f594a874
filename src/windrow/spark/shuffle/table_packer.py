"""Packing the changes of a table: versions of its rows, for the buckets that hold their keys.

Every bucket learns whether changes came that take effect as they come, and how late the others may
be, though it gets none itself: so all give them the same instants.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.connectors.contract import ORDER
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.changelogs import (
    versions_of_changelog,
    versions_of_operations,
    versions_of_records,
)
from windrow.rows.given_table_rows import GivenVersions, versions_of_rows
from windrow.spark.shuffle.bad_values import in_stream_types
from windrow.spark.shuffle.packed_rows import PackedRows
from windrow.spark.shuffle.packets import Packet
from windrow.spark.shuffle.table_router import TableRouter
from windrow.spark.shuffle.table_rows import batch_of_given
from windrow.spark.shuffle.task_packer import TaskPacker
from windrow.table_schema import TableSchema

__all__ = ["RecordForm", "TablePacker"]


@dataclass(frozen=True)
class RecordForm:
    """What records of a table are: rows; with `op`, rows and what became of them; or a changelog.

    changelog: its format; then records have a value, and those of a topic a key.
    """

    changelog: str | None = None
    op: str | None = None


class TablePacker(TaskPacker):
    """Gathers the changes of one task of one table."""

    def __init__(
        self,
        plan: TreePlan,
        schema: TableSchema,
        form: RecordForm,
        buckets: tuple[int, ...],
        task: int = 0,
    ) -> None:
        self._table, self._form = schema, form
        self._router = TableRouter(plan, schema, len(buckets))
        # Tables are numbered after the inputs of the plan.
        self._number = len(plan.inputs) + plan.own_tables.index(schema.name)
        super().__init__(schema, buckets, task)

    def _start(self) -> None:
        super()._start()
        self._rows: list[list[PackedRows]] = [[] for _ in self._buckets]
        self._untimed = 0
        self._oldest_us: int | None = None

    def add(self, given: pa.RecordBatch) -> None:
        """Takes one batch of the table's records."""
        for part, order in _in_order(given):
            versions = _versions(self._table, self._form, part)
            if not versions.size:
                continue
            self._note_times(versions)
            batch = batch_of_given(self._table, versions, pa.repeat(order, versions.size))
            self.held_bytes += batch.nbytes
            for bucket, packed in self._router.packed(self._number, batch):
                self._rows[bucket].append(packed)

    def _note_times(self, versions: GivenVersions) -> None:
        if versions.times is None:
            self._untimed += versions.size
            return
        self._untimed += int(np.count_nonzero(versions.is_untimed))
        timed = versions.times[~versions.is_untimed]
        if timed.size:
            oldest = int(timed.min())
            known = self._oldest_us
            self._oldest_us = oldest if known is None else min(oldest, known)

    def _gather(self, batch: pa.RecordBatch, times_us: NDArray[np.int64]) -> None:
        raise AssertionError(f"{batch.num_rows} rows at {times_us.size} times are of no stream")

    def _packets(self) -> Iterator[Packet]:
        for rows in self._rows:
            packet = self._packet()
            packet.untimed, packet.oldest_us = self._untimed, self._oldest_us
            packet.rows = rows
            yield packet


def _in_order(given: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, pa.Scalar]]:
    """The records of each part of a file, or all; with the text that says where they belong."""
    if ORDER not in given.schema.names:
        yield given, pa.scalar(None, pa.string())
        return
    order = given.column(ORDER)
    rows = given.drop_columns([ORDER])
    ends = [*(np.flatnonzero(_changes(order)) + 1).tolist(), len(order)] if len(order) else []
    begin = 0
    for end in ends:
        yield rows.slice(begin, end - begin), order[begin]
        begin = end


def _changes(order: pa.Array) -> NDArray[np.bool_]:
    """Whether each text is another one than that before it."""
    codes = order.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    changed: NDArray[np.bool_] = codes[1:] != codes[:-1]
    return changed


def _versions(schema: TableSchema, form: RecordForm, records: pa.RecordBatch) -> GivenVersions:
    if form.changelog is not None:
        values = records.column("value").to_pylist()
        if "key" in records.schema.names:
            keys = records.column("key").to_pylist()
            return versions_of_records(schema, keys, values, form.changelog)
        lines = [line for line in values if line.strip()]
        return versions_of_changelog(schema, changes=lines, kind=form.changelog)
    names = [column.name for column in schema.columns]
    rows = in_stream_types(records.select(names), schema)
    if form.op is None:
        return versions_of_rows(schema, rows)
    with_operations = rows.append_column(form.op, records.column(form.op))
    return versions_of_operations(schema, with_operations, form.op)
