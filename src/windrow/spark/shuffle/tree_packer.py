"""Packing rows for a query that is a tree: prepared for every input of every block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Call, ColumnRef, Expr
from windrow.plan.relations.tree_partitioning import ALONE
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate_or_null
from windrow.rows.prepare import Preparer, buckets_of_words, mixed_words, prepared_columns
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedColumns
from windrow.schema import TIMESTAMP
from windrow.spark.shuffle.heavy_keys import KeySampler
from windrow.spark.shuffle.packed_rows import BucketRows
from windrow.spark.shuffle.packer import Packer, PartitionsRows, PreparesRows
from windrow.spark.shuffle.routing import Routing, rows_by_bucket

__all__ = ["TreePacker", "TreeRouter"]


class TreePacker(Packer):
    """Gathers the rows of one task of one stream."""

    _plan: TreePlan

    def _tools(
        self,
        inputs: list[int],
        routing: Routing,  # noqa: ARG002 - hot keys are those of single blocks
    ) -> tuple[dict[int, PreparesRows], PartitionsRows]:
        places = self._plan.places
        preparers: dict[int, PreparesRows] = {each: Preparer(*places[each]) for each in inputs}
        router = TreeRouter(self._plan, len(self._buckets))
        self._sampler = KeySampler({each: router.key_columns(each) for each in inputs})
        return preparers, router


class TreeRouter:
    """Partitions prepared rows by the keys of the plan; all go to the first bucket without them."""

    def __init__(self, plan: TreePlan, buckets: int) -> None:
        self._buckets, self._is_sharded = buckets, plan.partitioning.is_sharded
        keys = plan.partitioning.keys
        self._alone = {number for number, own in enumerate(keys) if ALONE in own}
        self._keys = {
            number: _over_columns(keys[number], prepared_columns(*plan.places[number]))
            for number in range(len(keys))
            if number not in self._alone
        }

    def parts(self, input_index: int, prepared: pa.RecordBatch) -> BucketRows:
        """The rows for each of the buckets, in order of arrival."""
        if self._buckets == 1 or not self._is_sharded or input_index in self._alone:
            return BucketRows.all_in_first(prepared, self._buckets)
        owners = self.owners(input_index, prepared)
        return rows_by_bucket(prepared, owners, self._buckets)

    def key_columns(self, input_index: int) -> list[str]:
        """The columns by which rows are partitioned; none where any row may go anywhere."""
        keys = self._keys.get(input_index, [])
        names = [key.column for key in keys if isinstance(key, ColumnRef)]
        return [] if len(names) < len(keys) or names == [TIME] else names

    def owners(self, input_index: int, prepared: pa.RecordBatch) -> NDArray[np.int64]:
        """The bucket of each row; those of equal keys, of any input, have the same one."""
        leaf, size = leaf_of(prepared), prepared.num_rows
        columns = [evaluate_or_null(key, leaf, size) for key in self._keys[input_index]]
        return buckets_of_words(mixed_words(columns), self._buckets)


def _over_columns(keys: Sequence[Expr], columns: PreparedColumns) -> list[Expr]:
    """Keys as they are computed from prepared rows; rows that go anywhere go by their time."""
    if not keys:
        return [ColumnRef(0, TIME, TIMESTAMP)]
    return [_over(key, columns) for key in keys]


def _over(key: Expr, columns: PreparedColumns) -> Expr:
    name = columns.name_of(key)
    if name is not None:
        return ColumnRef(0, name, key.type)
    if isinstance(key, Call):
        arguments = tuple(_over(each, columns) for each in key.arguments)
        return replace(key, arguments=arguments)
    assert not isinstance(key, ColumnRef), f"{key.column} is no column of prepared rows"
    return key
