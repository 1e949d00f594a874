"""A new checkpoint for a query on Spark that goes on from the state of another run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from windrow.carryover.carryover import (
    Carryover,
    follows_from_rows,
    not_in_buckets,
)
from windrow.errors import CheckpointError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.rows.prepare import can_shard
from windrow.runtime.ledger import Ledger
from windrow.runtime.shard import Shard
from windrow.spark.checkpoint.beginning import BEGIN_FOLDER, PUBLICATION, bucket_file
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.source_places import save_places
from windrow.spark.driver.publication import Publication
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.packer import PartitionsRows
from windrow.spark.shuffle.routing import NO_ROUTING, Router
from windrow.spark.shuffle.tree_packer import TreeRouter
from windrow.spark.worker.begun_bucket import begun_bucket
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.clock import clock_of
from windrow.spark.worker.live_shard import Live, LiveShard, StepInput
from windrow.spark.worker.live_tree import LiveTree
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["begin_checkpoint", "begin_next", "bucket_count"]


def bucket_count(plan: RunnablePlan, wanted: int) -> int:
    """In how many buckets a query goes on of which so many are wanted.

    One whose rows would be exchanged between operators goes on in one bucket, and one operator.
    """
    is_sharded = can_shard(plan) if isinstance(plan, QueryPlan) else plan.partitioning.is_sharded
    return wanted if is_sharded else 1


def begin_checkpoint(checkpoint: QueryCheckpoint, carried: Carryover, wanted: int) -> None:
    """Writes a checkpoint that begins with the carryover, which is one of its plan.

    It belongs to the query from the last write on: nothing is ever begun with a part of it.
    """
    if checkpoint.claimed_buckets() is not None or checkpoint.is_begun():
        raise CheckpointError(
            "WC431",
            f"the checkpoint of query {checkpoint.query!r} has begun already",
            hint="give the query another name, or another checkpoint directory",
        )
    _write_beginning(checkpoint, carried, bucket_count(carried.plan, wanted))
    buckets = bucket_count(carried.plan, wanted)
    checkpoint.begin(fingerprint(carried.plan), buckets, carried.plan)


def begin_next(
    checkpoint: QueryCheckpoint, carried: Carryover, buckets: int, *, grid_us: int, first_batch: int
) -> None:
    """The same of the next generation of a checkpoint: until the last write it stays as it was.

    grid_us: 0 where that is open until the query is started. first_batch: as what its sink counts
    the batch that puts this into the state store.
    """
    after = checkpoint.following()
    _write_beginning(after, carried, buckets)
    after.begin(fingerprint(carried.plan), buckets, carried.plan, grid_us, first_batch)
    checkpoint.look_again()


def _write_beginning(checkpoint: QueryCheckpoint, carried: Carryover, buckets: int) -> None:
    if carried.is_by_arrival:
        raise CheckpointError(
            "WC432",
            f"the state of query {carried.name!r} is of a session with clock='arrival', which "
            "there is not on Spark",
            hint="import it in process: windrow.connect(clock='arrival')",
        )
    folder = checkpoint.state.inside(BEGIN_FOLDER)
    if carried.positions is not None:
        save_places(folder, carried.positions)
    outputs = []
    for bucket, segment in enumerate(_segments(carried, buckets)):
        header = _header(carried, bucket)
        if not carried.shards:
            outputs.append(_given_again(carried, header, segment))
        folder.write(bucket_file(bucket), begun_bucket(carried.plan, header, segment))
    publication = Publication(carried.plan, checkpoint.publish)
    status = _status(carried, outputs)
    folder.write(PUBLICATION, publication.beginning(carried, outputs, status))


def _segments(carried: Carryover, buckets: int) -> list[Segment]:
    """What each bucket has; the first one has the times, which it counts rows by."""
    plan = carried.plan
    if carried.shards and len(carried.shards) != buckets:
        raise not_in_buckets(carried, buckets)
    if carried.shards:
        made = [Segment(snapshot=shard) for shard in carried.shards]
    else:
        made = [Segment(rows) for rows in _rows_of_buckets(carried, buckets)]
    times = {name: each.times for name, each in carried.streams.items() if each.times.size}
    due = carried.due if carried.due.size or carried.shards else None
    made[0] = replace(made[0], times=times, instants=due)
    if not follows_from_rows(plan):
        none = np.empty(0, np.int64)
        made[1:] = [replace(each, instants=none) for each in made[1:]]
    return made


def _rows_of_buckets(carried: Carryover, buckets: int) -> list[dict[int, pa.RecordBatch]]:
    plan = carried.plan
    router: PartitionsRows
    if isinstance(plan, QueryPlan):
        router = Router(plan, buckets, NO_ROUTING)
    else:
        router = TreeRouter(plan, buckets)
    found: list[dict[int, pa.RecordBatch]] = [{} for _ in range(buckets)]
    for number, table in carried.rows.items():
        (batch,) = table.combine_chunks().to_batches()
        for bucket, rows in enumerate(router.parts(number, batch)):
            if rows.num_rows:
                found[bucket][number] = rows
    return found


def _header(carried: Carryover, bucket: int) -> BucketHeader:
    """The header of a bucket that stands where the query stood; the first one has the ledgers."""
    plan, streams = carried.plan, carried.streams
    header = BucketHeader.new(fingerprint(plan), bucket, plan.streams)
    header.complete_us = {name: each.complete_us for name, each in streams.items()}
    header.newest_us = {name: each.newest_us for name, each in streams.items()}
    header.clock_us = carried.clock_us
    reached = clock_of(header.complete_us, header.newest_us, carried.clock_us)
    header.reached_us = max(carried.clock_us, reached)
    if plan.duration is not None:
        header.first_us = streams[plan.streams[0]].first_us
    if bucket == 0:
        header.ledgers = {name: replace(each.ledger) for name, each in streams.items()}
    else:
        header.ledgers = {name: Ledger() for name in streams}
    return header


def _given_again(carried: Carryover, header: BucketHeader, segment: Segment) -> ShardOutput:
    """What the rows of a bucket give up to the clock: the result there follows from it."""
    plan, live = carried.plan, _new_live(carried.plan)
    step = StepInput(_batches(segment.rows), {}, carried.clock_us, carried.clock_us)
    result = live.advance(step)
    result.partial.header.pop("aside", None)
    return ShardOutput(
        bucket=header.bucket,
        clock_us=carried.clock_us,
        complete_us=header.complete_us,
        partial=result.partial,
        instants=np.empty(0, np.int64),
        windows=list(result.windows),
        state_bytes=0,
        segment_count=1,
        was_rebuilt=False,
        running=result.running,
        ledgers=header.ledgers,
        first_us=header.first_us if plan.duration is not None else None,
    )


def _batches(rows: Mapping[int, pa.RecordBatch | pa.Table]) -> dict[int, pa.RecordBatch]:
    return {number: each for number, each in rows.items() if isinstance(each, pa.RecordBatch)}


def _new_live(plan: RunnablePlan) -> Live:
    if isinstance(plan, QueryPlan):
        return LiveShard(plan, Shard(plan))
    return LiveTree.rebuild(plan, (), BucketHeader.new("", 0, plan.streams))


def _status(carried: Carryover, outputs: Sequence[ShardOutput]) -> QueryStatus:
    status = QueryStatus.new(carried.plan)
    if outputs:
        status.absorb(-1, outputs, 0)
    status.clock_us = carried.clock_us
    status.complete_us = {name: each.complete_us for name, each in carried.streams.items()}
    status.ledgers = {name: each.ledger for name, each in carried.streams.items()}
    status.began_us = carried.began_us
    status.account = {
        "rows_in": dict(carried.rows_in),
        "set_aside": dict(carried.set_aside),
        "rows": [],
    }
    return status
