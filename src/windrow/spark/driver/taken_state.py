"""What a query of a checkpoint holds after its last batch, taken while it is not running."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.carryover.carryover import Carryover, not_carried
from windrow.errors import CheckpointError
from windrow.plan.serialise import plan_from_json
from windrow.spark.checkpoint.beginning import PUBLICATION, read_beginning
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.source_places import places_after
from windrow.spark.checkpoint.spark_part import last_commit
from windrow.spark.driver.handed_over import Stood, handed_over
from windrow.spark.driver.publication import Publication
from windrow.spark.driver.query_routing import QueryRouting
from windrow.spark.driver.stored_buckets import stored_buckets
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.storage import Storage

__all__ = ["as_driver", "carryover_of", "not_begun"]


def carryover_of(
    spark: SparkSession, checkpoint: QueryCheckpoint, time_zone: str = "UTC"
) -> Carryover:
    """All that a query needs to go on after its last batch; who calls is its driver."""
    name, owner = checkpoint.query, checkpoint.owner()
    batch_id = -1 if owner is None else last_commit(checkpoint.spark_part)
    if owner is None or batch_id < 0:
        raise not_begun(Storage(checkpoint.storage.location.rpartition("/")[0], make=False), name)
    if owner.passes_rows:
        why = "its rows pass, as its sink takes changes only, and no result is kept"
        raise not_carried(name, why, "start it anew where it shall go on")
    plan = plan_from_json(json.dumps(owner.plan))
    begins = checkpoint.begins
    begun = None if begins is None else read_beginning(begins, PUBLICATION)
    ids = bucket_ids(owner.buckets, owner.buckets)
    states = stored_buckets(spark, checkpoint.spark_location, name, batch_id, ids)
    publication = Publication(plan, checkpoint.publish, begun)
    routing = QueryRouting(plan, checkpoint).stored()
    place = (batch_id, states, publication, routing, owner.grid_us or 1, time_zone)
    carried = handed_over(Stood(name, plan, *place))
    positions = places_after(checkpoint.spark_part, batch_id)
    offsets = dict(zip(plan.streams, positions.lines, strict=False))
    return replace(carried, offsets=offsets, positions=positions)


@contextmanager
def as_driver(checkpoint: QueryCheckpoint) -> Iterator[None]:
    """Inside, no other driver continues the checkpoint."""
    lease = DriverLease(checkpoint.storage, f"query {checkpoint.query!r}", lambda: False)
    lease.take()
    try:
        yield
    finally:
        lease.release()


def not_begun(root: Storage, name: str) -> CheckpointError:
    """The refusal to take what is not there."""
    return CheckpointError(
        "WC431",
        f"the checkpoint {root.location} has no query {name!r} that has finished a batch",
        hint="name a query that has run with this checkpoint",
    )
