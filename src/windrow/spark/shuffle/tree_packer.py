"""Packing rows for a query that is a tree: prepared for every input of every block."""

from __future__ import annotations

import pyarrow as pa

from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.prepare import Preparer
from windrow.spark.shuffle.packer import Packer, PartitionsRows, PreparesRows
from windrow.spark.shuffle.routing import Routing

__all__ = ["TreePacker"]


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
        return preparers, _InOne(len(self._buckets))


class _InOne:
    """All rows go to the first bucket."""

    def __init__(self, buckets: int) -> None:
        self._buckets = buckets

    def parts(self, input_index: int, prepared: pa.RecordBatch) -> list[pa.RecordBatch]:  # noqa: ARG002
        """The rows for each of the buckets, in order of arrival."""
        return [prepared, *[prepared.slice(0, 0)] * (self._buckets - 1)]
