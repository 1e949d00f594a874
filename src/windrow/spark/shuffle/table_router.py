"""Which buckets get which versions of a table's rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Expr
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.checked_columns import leaf_of
from windrow.rows.evaluate import evaluate_or_null
from windrow.rows.prepare import buckets_of_words, mixed_words
from windrow.spark.shuffle.packed_rows import BucketRows, PackedRows, pack_rows, packed_by_bucket
from windrow.spark.shuffle.routing import rows_by_bucket
from windrow.table_schema import TableSchema

__all__ = ["TableRouter"]


class TableRouter:
    """Partitions versions by the keys of the plan; without them all go to the first bucket."""

    def __init__(self, plan: TreePlan, schema: TableSchema, buckets: int) -> None:
        self._schema, self._buckets = schema, buckets
        found = plan.partitioning
        self._is_sharded = found.is_sharded and buckets > 1
        self._is_copied = schema.name in found.copied
        self._keys: tuple[Expr, ...] = ()
        if self._is_sharded:
            self._keys = found.tables[plan.own_tables.index(schema.name)]

    def packed(self, number: int, versions: pa.RecordBatch) -> Iterator[tuple[int, PackedRows]]:
        """The versions of each bucket that gets some, in order of arrival."""
        if self._is_sharded and self._is_copied:
            all_of_them = pack_rows(number, versions)
            return ((bucket, all_of_them) for bucket in range(self._buckets))
        rows = BucketRows.all_in_first(versions, self._buckets)
        if self._is_sharded:
            rows = rows_by_bucket(versions, self._owners(versions), self._buckets)
        return packed_by_bucket(number, rows)

    def _owners(self, versions: pa.RecordBatch) -> NDArray[np.int64]:
        leaf, size = leaf_of(versions), versions.num_rows
        columns = [evaluate_or_null(key, leaf, size) for key in self._keys]
        own = [versions.column(place) for place in self._schema.key_places]
        return buckets_of_words(mixed_words(columns or own), self._buckets)
