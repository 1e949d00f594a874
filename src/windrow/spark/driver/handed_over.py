"""The carryover of a query on Spark: what its buckets hold, and what the driver knows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.carryover.carryover import CarriedStream, Carryover, follows_from_rows, not_carried
from windrow.errors import CheckpointError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.plan.relations.tree_plan import RunnablePlan, first_stage
from windrow.rows.prepare import buckets_of_words, key_words
from windrow.rows.weighted_rows import WEIGHT, with_weights
from windrow.runtime.ledger import total_ledger
from windrow.spark.driver.publication import Publication
from windrow.spark.shuffle.combining import can_combine
from windrow.spark.shuffle.picking import can_pick
from windrow.spark.shuffle.routing import Routing
from windrow.spark.worker.bucket_header import SHARD, BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.held_bucket import held_bucket
from windrow.spark.worker.segments import Segment

__all__ = ["Stood", "handed_over", "stored_header"]

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class Stood:
    """A query after one of its batches: its buckets in order, and how they were given rows."""

    name: str
    plan: RunnablePlan
    batch_id: int
    states: Sequence[BucketState]
    publication: Publication
    routing: Routing
    grid_us: int
    time_zone: str = "UTC"


def handed_over(stood: Stood) -> Carryover:
    """All that another run needs to go on after the batch."""
    plan = stood.plan
    if plan.error_percent is not None:
        why = "a query with ERROR knows of rows that its window no longer holds"
        raise not_carried(stood.name, why, "start it anew where it shall go on")
    if not isinstance(plan, QueryPlan) and plan.tables:
        why = "it reads a table, whose rows would have to be handed over, too"
        raise not_carried(stood.name, why, "start it anew where it shall go on")
    if not isinstance(plan, QueryPlan) and first_stage(plan, len(stood.states)) is not plan:
        why = "its rows are exchanged between several operators, each with a state of its own"
        raise not_carried(stood.name, why, "run it in one bucket: connect(spark, buckets=1)")
    print_ = fingerprint(plan)
    headers = [
        stored_header(state, stood.name, print_, bucket)
        for bucket, state in enumerate(stood.states)
    ]
    held = [
        held_bucket(plan, header, state)
        for header, state in zip(headers, stood.states, strict=True)
    ]
    status, publishers, answered_us = stood.publication.handed_over(stood.batch_id)
    is_rows = follows_from_rows(plan)
    return Carryover(
        name=stood.name,
        plan=plan,
        clock_us=headers[0].clock_us,
        streams={stream: _stream(plan, stream, headers, held) for stream in plan.streams},
        rows=_rows(stood, held) if is_rows else {},
        due=_instants([each.instants for each in held if each.instants is not None]),
        answered_us=answered_us,
        began_us=status.began_us,
        shards=() if is_rows else tuple(bytes(each.snapshot or b"") for each in held),
        publishers={} if is_rows else publishers,
        rows_in=status.account.get("rows_in", {}),
        set_aside=status.account.get("set_aside", {}),
        is_combined=isinstance(plan, QueryPlan)
        and (can_combine(plan, stood.grid_us) or can_pick(plan, stood.grid_us)),
        time_zone=stood.time_zone,
    )


def stored_header(state: BucketState, name: str, fingerprint: str, bucket: int) -> BucketHeader:
    """The header of a bucket, which must be there."""
    data = state.read_header()
    if data is None:
        raise CheckpointError(
            "WC213",
            f"the state store has lost the header of bucket {bucket} of query {name!r}",
            hint="restore the checkpoint directory from a copy, or start with a new one",
        )
    return BucketHeader.from_bytes(data, fingerprint, bucket, SHARD)


def _stream(
    plan: RunnablePlan, name: str, headers: Sequence[BucketHeader], held: Sequence[Segment]
) -> CarriedStream:
    schema = next(entry.stream for entry in plan.inputs if entry.stream.name == name)
    first = headers[0]
    first_us = first.first_us if name == plan.streams[0] else None
    ledger = total_ledger(header.ledgers[name] for header in headers)
    times = _instants([each.times[name] for each in held if name in each.times], is_set=False)
    return CarriedStream(
        schema, first.complete_us[name], first.newest_us[name], first_us, ledger, times
    )


def _instants(parts: Sequence[Instants], *, is_set: bool = True) -> Instants:
    found = np.concatenate([np.empty(0, np.int64), *parts])
    return np.unique(found) if is_set else np.sort(found)


def _rows(stood: Stood, held: Sequence[Segment]) -> dict[int, pa.Table]:
    """The rows of all buckets; those of a split key that were copied, once."""
    rows: dict[int, pa.Table] = {}
    for number in range(len(stood.plan.inputs)):
        parts = [
            _own_rows(stood, number, bucket, _one_batch(segment.rows[number]))
            for bucket, segment in enumerate(held)
            if number in segment.rows
        ]
        if any(WEIGHT in part.schema.names for part in parts):
            parts = [with_weights(part) for part in parts]
        if sum(part.num_rows for part in parts):
            rows[number] = pa.Table.from_batches(parts)
    return rows


def _own_rows(stood: Stood, number: int, bucket: int, rows: pa.RecordBatch) -> pa.RecordBatch:
    copied = [key.word for key in stood.routing.keys if key.position != number]
    if not copied or not isinstance(stood.plan, QueryPlan):
        return rows
    words = key_words(stood.plan, number, rows)
    is_copy = np.isin(words, np.array(copied, np.uint64))
    is_own = buckets_of_words(words, len(stood.states)) == bucket
    return rows.filter(pa.array(is_own | ~is_copy))


def _one_batch(rows: pa.RecordBatch | pa.Table) -> pa.RecordBatch:
    if isinstance(rows, pa.RecordBatch):
        return rows
    (batch,) = rows.combine_chunks().to_batches()
    return batch
