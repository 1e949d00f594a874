"""Packing for a bundle: rows are partitioned as they came, for all queries at once."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from windrow.plan.model import one_block
from windrow.spark.shuffle.carried_rows import CarriedRows
from windrow.spark.shuffle.packed_rows import BucketRows
from windrow.spark.shuffle.packer import Packer, PartitionsRows, PreparesRows
from windrow.spark.shuffle.routing import Routing, rows_by_bucket

__all__ = ["BundlePacker"]


class BundlePacker(Packer):
    """Gathers the rows of one task of one stream; the plan is the bundle's carrier."""

    def _tools(
        self,
        inputs: list[int],
        routing: Routing,  # noqa: ARG002 - hot keys are a query's own
    ) -> tuple[dict[int, PreparesRows], PartitionsRows]:
        plan = one_block(self._plan)
        carried = {input_index: CarriedRows(plan, input_index) for input_index in inputs}
        return dict(carried), _ByKeys(carried, len(self._buckets))


class _ByKeys:
    """Partitions rows by the keys that all queries of the bundle share."""

    def __init__(self, carried: Mapping[int, CarriedRows], buckets: int) -> None:
        self._carried, self._buckets = carried, buckets

    def parts(self, input_index: int, prepared: pa.RecordBatch) -> BucketRows:
        """The rows for each of the buckets, in order of arrival."""
        owners = self._carried[input_index].bucket_of(prepared, self._buckets)
        return rows_by_bucket(prepared, owners, self._buckets)
