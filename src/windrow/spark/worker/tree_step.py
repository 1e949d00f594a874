"""One batch in one bucket of a query that is a tree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pyarrow as pa

from windrow.event_time import END_OF_TIME, MIN_EVENT_TIME, START_OF_TIME
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.life import life_of
from windrow.rows.prepare import prepared_columns
from windrow.runtime.ledger import Ledger
from windrow.runtime.tables.taking_effect import instants_of_versions
from windrow.runtime.tables.versions import Versions
from windrow.spark.checkpoint.table_declaration import tables_of_text
from windrow.spark.processes.python_worker import tree_of
from windrow.spark.shuffle.arrivals import Arrivals, gather
from windrow.spark.shuffle.table_rows import batch_of_versions, given_of_batch, given_schema
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.live_cache import PROCESS_CACHE, LiveCache
from windrow.spark.worker.live_shard import Live, StepResult
from windrow.spark.worker.live_tree import LiveTree
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.spark.worker.shard_step import ShardStep
from windrow.spark.worker.tree_output import with_aside
from windrow.spark.worker.tree_segments import TreeSegments
from windrow.table_schema import TableSchema

__all__ = ["TreeStep", "step_of"]


def step_of(
    plan_text: str,
    fingerprint: str,
    owner: str,
    grid_us: int,
    begins: str,
    tables: str,
    bucket: int,
) -> TreeStep:
    """The step of a bucket, as the operator carries it; tables: those that the tree reads."""
    place = (fingerprint, owner, bucket, PROCESS_CACHE, grid_us, begins)
    return TreeStep(tree_of(plan_text), *place, tables=tables_of_text(tables))


class TreeStep(ShardStep):
    """As that of a single block, with a tree in its place."""

    plan: TreePlan

    def __init__(
        self,
        plan: TreePlan,
        fingerprint: str,
        owner: str,
        bucket: int,
        cache: LiveCache,
        grid_us: int = 1,
        begins: str = "",
        tables: Sequence[TableSchema] = (),
    ) -> None:
        super().__init__(plan, fingerprint, owner, bucket, cache, grid_us, begins)
        self._tables = tables

    def run_batch(self, packets: Iterable[bytes], state: BucketState) -> ShardOutput:
        """Applies the packets of one batch; rows that operators set aside are counted, too."""
        output = super().run_batch(packets, state)
        output.aside = with_aside(output.aside, output.partial.header.pop("aside"))
        tables = {
            name: held if self._counts(name) else {**held, "rows": 0, "waiting": 0}
            for name, held in output.running["tables"].items()
        }
        output.running = {**output.running, "tables": tables}
        return output

    def _counts(self, table: str) -> bool:
        """Whether this bucket counts the rows that it has of a table: of copies only one does."""
        return self.bucket == 0 or table not in self.plan.partitioning.copied

    def _segments(self, header: BucketHeader, state: BucketState) -> ShardSegments:
        return TreeSegments(self.plan, header, state)

    def _rebuilt(self, before: BucketHeader, store: ShardSegments) -> Live:
        return LiveTree.rebuild(self.plan, store.stored(), before, self._tables)

    def _schemas(self) -> dict[int, pa.Schema]:
        places = enumerate(self.plan.places)
        found = {number: prepared_columns(plan, own).schema for number, (plan, own) in places}
        return found | dict(enumerate(map(given_schema, self._tables), len(found)))

    def _gathered(self, packets: Iterable[bytes]) -> Arrivals:
        names = [*self.plan.streams, *(table.name for table in self._tables)]
        return gather(packets, names, self._schemas())

    def _table_changes(self, header: BucketHeader, arrivals: Arrivals) -> dict[int, pa.RecordBatch]:
        """All that came in a batch and takes effect as it came is of one instant.

        It follows all rows of the batches before, as if it had come between them and this one.
        """
        came = [arrivals.streams.pop(table.name) for table in self._tables]
        numbers = enumerate(self._tables, len(self.plan.inputs))
        rows_of = {schema: arrivals.rows.pop(number, None) for number, schema in numbers}
        life = life_of(self.plan, header.first_us)
        if life is not None and header.clock_us >= life[1]:
            return {}  # nobody reads them any more
        complete = (each for each in header.complete_us.values() if each < END_OF_TIME)
        reached = max(header.tables_us, *complete, START_OF_TIME)
        following = max(reached, *header.newest_us.values()) + 1
        found = {}
        for number, (schema, rows) in enumerate(rows_of.items(), len(self.plan.inputs)):
            if rows is not None:
                given = given_of_batch(schema, rows)
                at, time, _ = instants_of_versions(given, reached, following)
                versions = Versions(at, time, given.gone, given.columns)
                found[number] = batch_of_versions(schema, versions)
        # Buckets without a row of these tables, too, know that there were some.
        oldest = [each.oldest_us for each in came if each.oldest_us is not None]
        if any(each.untimed for each in came):
            header.tables_us = following
        elif oldest and min(oldest) <= reached:
            header.tables_us = reached + 1
        return found

    def _move_clock(self, header: BucketHeader, arrivals: Arrivals, life: tuple[int, int]) -> None:
        """Before the first event, where no stream says anything, tables alone say where time is."""
        super()._move_clock(header, arrivals, life)
        known_us = min(header.tables_us, MIN_EVENT_TIME - 1, life[1])
        header.reached_us = max(header.reached_us, known_us)
        header.clock_us = max(header.clock_us, known_us)

    def _count_rows(
        self, header: BucketHeader, arrivals: Arrivals, segment: Segment, result: StepResult
    ) -> None:
        super()._count_rows(header, arrivals, segment, result)
        for name, each in result.running["tables"].items():
            header.ledgers[name] = Ledger(**each["ledger"]) if self._counts(name) else Ledger()
