"""State files of queries on Spark: written from a checkpoint, or made a new one."""

from __future__ import annotations

import json
import os
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.carryover.carryover import Carryover, not_carried
from windrow.carryover.fitting import fitted
from windrow.carryover.state_file import write_state_file
from windrow.errors import CheckpointError
from windrow.plan.catalog import Catalog
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.plan.serialise import plan_from_json
from windrow.spark.checkpoint.beginning import PUBLICATION, read_beginning
from windrow.spark.checkpoint.driver_lease import DriverLease
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import last_commit, source_offsets
from windrow.spark.driver.begun_checkpoint import begin_checkpoint
from windrow.spark.driver.bundle_registry import recorded_names
from windrow.spark.driver.handed_over import Stood, handed_over
from windrow.spark.driver.publication import Publication
from windrow.spark.driver.query_routing import QueryRouting
from windrow.spark.driver.stored_buckets import stored_buckets
from windrow.spark.shuffle.buckets import bucket_ids
from windrow.sql import parse_query
from windrow.storage import Storage

__all__ = ["begin_from", "export_query", "planned_again"]

Path = str | os.PathLike[str]


def export_query(
    spark: SparkSession, root: Storage, name: str, path: Path, time_zone: str = "UTC"
) -> None:
    """Writes the state of a query after its last batch; it must not be running."""
    if not root.has(f"{name}/windrow.json"):
        if name in recorded_names(root):
            why = "it runs in an operator that it shares with others"
            raise not_carried(name, why, "run it by itself: session.query(...).start(sink)")
        raise _not_begun(name, root)
    checkpoint = QueryCheckpoint(root, name)
    owner = checkpoint.owner()
    if owner is None:
        raise _not_begun(name, root)
    plan = plan_from_json(json.dumps(owner.plan))
    lease = DriverLease(checkpoint.storage, f"query {name!r}", lambda: False)
    lease.take()
    try:
        batch_id = last_commit(checkpoint.storage.under("spark"))
        if batch_id < 0:
            raise _not_begun(name, root)
        begins = checkpoint.begins
        begun = None if begins is None else read_beginning(begins, PUBLICATION)
        ids = bucket_ids(owner.buckets, owner.buckets)
        states = stored_buckets(spark, checkpoint.spark_location, name, batch_id, ids)
        publication = Publication(plan, checkpoint.publish, begun)
        routing = QueryRouting(plan, checkpoint.storage).stored()
        place = (batch_id, states, publication, routing, owner.grid_us or 1, time_zone)
        carried = handed_over(Stood(name, plan, *place))
        offsets = source_offsets(checkpoint.storage.under("spark"), batch_id)
        named = dict(zip(plan.streams, offsets, strict=False))
        write_state_file(path, replace(carried, offsets=named))
    finally:
        lease.release()


def begin_from(
    carried: Carryover, root: Storage, name: str, plan: RunnablePlan, buckets: int
) -> None:
    """Begins the checkpoint of a query with what is handed over."""
    given = fitted(carried, plan)
    checkpoint = QueryCheckpoint(root, name)
    lease = DriverLease(checkpoint.storage, f"query {name!r}", lambda: False)
    lease.take()
    try:
        begin_checkpoint(checkpoint, given, buckets)
    finally:
        lease.release()


def planned_again(plan: RunnablePlan, time_zone: str) -> RunnablePlan:
    """The plan as Spark runs it: a query in process may be planned in another way."""
    catalog = Catalog(time_zone=time_zone)
    for stream in {entry.stream.name: entry.stream for entry in plan.inputs}.values():
        catalog = catalog.with_stream(stream)
    how = ["auto" if each in ("scan", "tree") else each for each in (plan.algorithm, plan.store)]
    return plan_on_spark(parse_query(plan.text), catalog, how[0], how[1])


def _not_begun(name: str, root: Storage) -> CheckpointError:
    return CheckpointError(
        "WC431",
        f"the checkpoint {root.location} has no query {name!r} that has finished a batch",
        hint="name a query that has run with this checkpoint",
    )
