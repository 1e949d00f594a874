"""The tables that a tree reads, in one bucket: as far as its clock, with what waits for it.

Versions have their instants when they come here: a tree that is run again from a snapshot on sees
them at the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.frames import read_frame, write_frame
from windrow.runtime.tables.table_store import TableStore
from windrow.runtime.tables.versions import no_versions
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.spark.shuffle.table_rows import versions_of_batch
from windrow.table_schema import TableSchema

__all__ = ["BucketTables"]

Instants = NDArray[np.int64]
Rows = Mapping[int, pa.RecordBatch | pa.Table]


class BucketTables:
    """stores: by name, in the order of the plan; their rows are numbered after its inputs."""

    def __init__(self, plan: TreePlan, schemas: Sequence[TableSchema]) -> None:
        self._schemas = schemas
        self.stores = {schema.name: TableStore(schema) for schema in schemas}
        self._first = len(plan.inputs)
        self._answering = {scan.table for scan in plan.table_scans if scan in plan.entered}

    def append(self, rows: Rows) -> Rows:
        """Versions among rows wait for the clock; the other rows are given back."""
        for number, schema in enumerate(self._schemas, self._first):
            if number in rows:
                store = self.stores[schema.name]
                more = versions_of_batch(schema, rows[number])
                store.change(more, store.reached).finish()
        return {number: each for number, each in rows.items() if number < self._first}

    def move_to(self, clock_us: int) -> None:
        """Versions up to there hold."""
        for store in self.stores.values():
            waiting = store.waiting
            due = waiting.part(0, int(np.searchsorted(waiting.at, clock_us, side="right")))
            late = int(np.count_nonzero(due.at > due.time))
            store.change(no_versions(store.types), clock_us, late).finish()

    def instants(self, after_us: int, until_us: int) -> list[Instants]:
        """Those at which tables changed whose changes ask for answers."""
        stores = (store for name, store in self.stores.items() if name in self._answering)
        return [store.log.instants(after_us, until_us) for store in stores]

    def trim(self, shard: TreeShard) -> None:
        """What the tree has read goes, unless it can ask for it again."""
        for name, store in self.stores.items():
            leaves = (leaf for scan, leaf in shard.table_leaves.items() if scan.table == name)
            store.trim(min((leaf.needed_after for leaf in leaves), default=store.reached))
            store.compact()

    def clear(self) -> None:
        """Nobody reads them any more; what became of their rows stays known."""
        ledgers = {name: store.ledger for name, store in self.stores.items()}
        self.stores = {schema.name: TableStore(schema) for schema in self._schemas}
        for name, store in self.stores.items():
            store.ledger = ledgers[name]

    @property
    def nbytes(self) -> int:
        """Bytes of all."""
        return sum(store.nbytes for store in self.stores.values())

    def report(self) -> dict[str, Any]:
        """What each holds, and what became of its rows, as JSON can hold it."""
        return {
            name: {
                "rows": store.row_count,
                "waiting": store.waiting.size,
                "bytes": store.nbytes,
                "ledger": asdict(store.ledger),
            }
            for name, store in self.stores.items()
        }

    def snapshot(self, tree: bytes) -> bytes:
        """All of them, with the tree that has read them so far."""
        saved = [store.snapshot() for store in self.stores.values()]
        return write_frame("tree with tables", {}, [tree, *saved])

    def restore(self, data: bytes | memoryview) -> memoryview:
        """The tables that snapshot() saved; returns the tree."""
        _, (tree, *saved) = read_frame("tree with tables", data)
        pairs = zip(self._schemas, saved, strict=True)
        self.stores = {
            schema.name: TableStore.restore(schema, bytes(each)) for schema, each in pairs
        }
        return tree
