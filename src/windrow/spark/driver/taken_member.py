"""What a query holds that shares an operator with others: its part of the rows that are carried."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import SparkSession

from windrow.carryover.carryover import CarriedStream, Carryover
from windrow.carryover.positions import positions_for
from windrow.plan.model import QueryPlan, one_block
from windrow.plan.serialise import plan_from_json
from windrow.rows.prepare import Preparer, lifetime_of
from windrow.runtime.ledger import total_ledger
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.source_places import places_after
from windrow.spark.checkpoint.spark_part import last_commit
from windrow.spark.driver.bundle_record import BundleRecord
from windrow.spark.driver.handed_over import stored_header
from windrow.spark.driver.publication import Publication
from windrow.spark.driver.stored_buckets import stored_buckets
from windrow.spark.driver.taken_state import not_begun
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.spark.shuffle.carried_rows import CarriedRows
from windrow.spark.worker.bucket_header import BucketHeader
from windrow.spark.worker.bucket_state import BucketState
from windrow.spark.worker.bundle_members import Member
from windrow.spark.worker.live_shard import instants_of
from windrow.spark.worker.segments import Segment
from windrow.spark.worker.shard_segments import ShardSegments
from windrow.storage import Storage

__all__ = ["StoodMember", "member_checkpoint", "member_handed_over", "member_taken"]

Instants = NDArray[np.int64]


@dataclass(frozen=True)
class StoodMember:
    """A query of a bundle after one of its batches; states: of the bundle's buckets, in order."""

    name: str
    number: int
    plan: QueryPlan
    carrier: QueryPlan
    fingerprint: str
    batch_id: int
    states: list[BucketState]
    publication: Publication
    time_zone: str = "UTC"


def member_checkpoint(bundle: QueryCheckpoint, number: int, name: str) -> QueryCheckpoint:
    """The directories of one query of a bundle; a name may come again, with another plan."""
    root = bundle.storage.inside("queries")
    return QueryCheckpoint(root, name, f"{number:06d}-{name}", is_lasting=bundle.is_lasting)


def member_taken(
    spark: SparkSession,
    bundle: QueryCheckpoint,
    record: BundleRecord,
    name: str,
    time_zone: str = "UTC",
) -> Carryover:
    """All that a query of a bundle needs to go on; who calls is the bundle's driver."""
    number = record.running()[name]
    own = member_checkpoint(bundle, number, name)
    owner, operator = own.owner(), bundle.owner()
    batch_id = last_commit(bundle.spark_part)
    if owner is None or operator is None or batch_id < 0 or not own.is_begun():
        raise not_begun(Storage(bundle.storage.location.rpartition("/")[0], make=False), name)
    plan = one_block(plan_from_json(json.dumps(owner.plan)))
    ids = bucket_ids(operator.buckets, operator.buckets)
    states = stored_buckets(spark, bundle.spark_location, name, batch_id, ids)
    publication = Publication(plan, own.publish)
    place = (record.carrier, record.partitioning.fingerprint, batch_id, states, publication)
    carried = member_handed_over(StoodMember(name, number, plan, *place, time_zone))
    streams = [stream.name for stream in record.partitioning.streams]
    read = places_after(bundle.spark_part, batch_id)
    positions = positions_for(read, name, streams, plan.streams)
    offsets = dict(zip(plan.streams, positions.lines, strict=False))
    return replace(carried, offsets=offsets, positions=positions)


def member_handed_over(stood: StoodMember) -> Carryover:
    """The same without the places of sources."""
    plan, name = stood.plan, stood.name
    headers = [
        stored_header(state, name, stood.fingerprint, bucket)
        for bucket, state in enumerate(stood.states)
    ]
    rows: dict[int, list[pa.RecordBatch]] = {}
    times: dict[str, list[Instants]] = {stream: [] for stream in plan.streams}
    due: list[Instants] = []
    for header, state in zip(headers, stood.states, strict=True):
        for segment in _seen(stood, header, state):
            for number, own in _rows_of(stood, segment, header.clock_us):
                rows.setdefault(number, []).append(own)
            for stream, waiting in _waiting(plan, segment, header.clock_us).items():
                times[stream].append(waiting)
                due.append(instants_of(plan)[stream](waiting))
    status, _, answered_us = stood.publication.handed_over(stood.batch_id)
    first = headers[0]
    schemas = {entry.stream.name: entry.stream for entry in plan.inputs}
    return Carryover(
        name=name,
        plan=plan,
        clock_us=first.clock_us,
        streams={
            stream: CarriedStream(
                schemas[stream],
                first.complete_us[stream],
                first.newest_us[stream],
                None,
                total_ledger(header.ledgers[stream] for header in headers),
                np.sort(np.concatenate([np.empty(0, np.int64), *times[stream]])),
            )
            for stream in plan.streams
        },
        rows={number: pa.Table.from_batches(parts) for number, parts in rows.items()},
        due=np.unique(np.concatenate([np.empty(0, np.int64), *due])),
        answered_us=answered_us,
        began_us=status.began_us,
        rows_in=status.account.get("rows_in", {}),
        set_aside=status.account.get("set_aside", {}),
        time_zone=stood.time_zone,
    )


def _seen(stood: StoodMember, header: BucketHeader, state: BucketState) -> Iterator[Segment]:
    """The segments of a bucket that came when the query was there."""
    members = map(Member.from_json, header.members)
    first = next(each.first_sequence for each in members if each.number == stood.number)
    for segment, entry in ShardSegments(stood.carrier, header, state).stored():
        if entry.sequence >= first:
            yield segment


def _rows_of(
    stood: StoodMember, segment: Segment, clock_us: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of a segment as inputs of the query have them, of those in its windows."""
    carrier, plan = stood.carrier, stood.plan
    for place, carried in segment.rows.items():
        rows = CarriedRows(carrier, place).rows_of_stream(carried)
        for number, entry in enumerate(plan.inputs):
            if entry.stream.name != carrier.inputs[place].stream.name:
                continue
            prepared = Preparer(plan, number).prepare(rows)
            held = lifetime_of(entry.window).leave(prepared.times) > clock_us
            for key in prepared.keys:  # rows without one match nothing
                held &= key.is_valid().to_numpy(zero_copy_only=False)
            if held.any():
                yield number, prepared.batch.filter(pa.array(held))


def _waiting(plan: QueryPlan, segment: Segment, clock_us: int) -> Mapping[str, Instants]:
    """The times of rows above the clock."""
    found = {name: segment.times[name] for name in plan.streams if name in segment.times}
    above = {name: times[times > clock_us] for name, times in found.items()}
    return {name: times for name, times in above.items() if times.size}
