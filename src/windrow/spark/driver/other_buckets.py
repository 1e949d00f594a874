"""A query that is started in another number of buckets: its state is partitioned anew.

All is written into a new generation of its checkpoint, which is the checkpoint's once its last file
is there: what breaks off before leaves the old one as it was, and what comes behind begins again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.carryover.carryover import Carryover
from windrow.errors import CheckpointError, UnsupportedError
from windrow.plan.model import QueryPlan
from windrow.rows.frames import write_frame
from windrow.spark.checkpoint.query_checkpoint import ROUTING, QueryCheckpoint
from windrow.spark.checkpoint.spark_part import last_commit, last_offsets
from windrow.spark.driver.begun_checkpoint import begin_next, bucket_count
from windrow.spark.driver.query_routing import QueryRouting
from windrow.spark.driver.taken_state import carryover_of
from windrow.spark.shuffle.routing import Routing
from windrow.spark.shuffle.splitting import since_us

__all__ = ["into_buckets"]


def into_buckets(spark: SparkSession, checkpoint: QueryCheckpoint, buckets: int) -> None:
    """Has the query of a checkpoint go on in so many buckets; who calls is its driver."""
    owner = checkpoint.owner()
    if owner is None or owner.buckets == buckets:
        return
    name, before = checkpoint.query, owner.buckets
    done = last_commit(checkpoint.spark_part)
    if done < 0 and last_offsets(checkpoint.spark_part) < 0 and not owner.goes_on:
        checkpoint.give_up()  # nothing has happened in it
        return
    if done < 0:
        raise _refused(name, before, buckets, "its first batch is not over")
    try:
        carried = carryover_of(spark, checkpoint)
    except CheckpointError as error:
        if error.code != "WC424":
            raise
        why = error.message.partition(" cannot be taken: ")[2]
        raise _refused(name, before, buckets, why) from None
    if bucket_count(carried.plan, buckets) != buckets:
        raise _refused(name, before, buckets, "its rows would be exchanged between operators")
    routing = _routing(checkpoint, carried)
    if routing.keys:
        data = write_frame("routing", {"keys": routing.to_json()})
        checkpoint.following().state.write(ROUTING, data)
    first = owner.first_batch + done
    begin_next(checkpoint, carried, buckets, grid_us=owner.grid_us, first_batch=first)


def _routing(checkpoint: QueryCheckpoint, carried: Carryover) -> Routing:
    """Split keys stay split for rows that meet none of those that are there."""
    plan = carried.plan
    if not isinstance(plan, QueryPlan):
        return Routing()
    complete: Mapping[str, int] = {name: each.complete_us for name, each in carried.streams.items()}
    keys = []
    for key in QueryRouting(plan, checkpoint).stored().keys:
        # One whose rows never leave goes to one bucket again.
        with suppress(UnsupportedError):
            keys.append(replace(key, from_us=since_us(plan, key.position, complete)))
    return Routing(tuple(keys))


def _refused(name: str, before: int, buckets: int, why: str) -> CheckpointError:
    return CheckpointError(
        "WC434",
        f"query {name!r} ran in {before} buckets by its checkpoint and cannot go on in {buckets}: "
        f"{why}",
        hint=f"start it with connect(spark, buckets={before}), or in a new checkpoint",
    )
