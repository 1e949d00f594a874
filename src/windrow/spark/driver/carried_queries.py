"""State files of queries on Spark: written from a checkpoint, or made a new one."""

from __future__ import annotations

import os
from dataclasses import replace

from pyspark.sql import SparkSession

from windrow.carryover.carryover import Carryover
from windrow.carryover.fitting import fitted
from windrow.carryover.state_file import write_state_file
from windrow.plan.catalog import Catalog
from windrow.plan.relations.on_spark import plan_on_spark
from windrow.plan.relations.tree_plan import RunnablePlan
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.begun_checkpoint import begin_checkpoint
from windrow.spark.driver.bundle_registry import recorded_bundle, recorded_names
from windrow.spark.driver.taken_member import member_taken
from windrow.spark.driver.taken_state import as_driver, carryover_of, not_begun
from windrow.sql import parse_query
from windrow.storage import Storage

__all__ = ["begin_from", "export_query", "planned_again"]

Path = str | os.PathLike[str]


def export_query(
    spark: SparkSession, root: Storage, name: str, path: Path, time_zone: str = "UTC"
) -> None:
    """Writes the state of a query after its last batch; it must not be running."""
    if name in recorded_names(root):
        _export_member(spark, root, name, path, time_zone)
        return
    if not root.has(f"{name}/windrow.json"):
        raise not_begun(root, name)
    checkpoint = QueryCheckpoint(root, name)
    with as_driver(checkpoint):
        carried = carryover_of(spark, checkpoint, time_zone)
        assert carried.positions is not None
        write_state_file(path, replace(carried, positions=carried.positions.elsewhere))


def _export_member(
    spark: SparkSession, root: Storage, name: str, path: Path, time_zone: str
) -> None:
    """The same of a query that shares an operator, of which the others may run on later."""
    folder, record = recorded_bundle(root, name)
    bundle = QueryCheckpoint(root, folder)
    with as_driver(bundle):
        carried = member_taken(spark, bundle, record, name, time_zone)
        assert carried.positions is not None
        write_state_file(path, replace(carried, positions=carried.positions.elsewhere))


def begin_from(
    carried: Carryover, root: Storage, name: str, plan: RunnablePlan, buckets: int
) -> None:
    """Begins the checkpoint of a query with what is handed over."""
    given = fitted(carried, plan)
    checkpoint = QueryCheckpoint(root, name)
    with as_driver(checkpoint):
        begin_checkpoint(checkpoint, given, buckets)


def planned_again(plan: RunnablePlan, time_zone: str) -> RunnablePlan:
    """The plan as Spark runs it: a query in process may be planned in another way."""
    catalog = Catalog(time_zone=time_zone)
    for stream in {entry.stream.name: entry.stream for entry in plan.inputs}.values():
        catalog = catalog.with_stream(stream)
    how = ["auto" if each in ("scan", "tree") else each for each in (plan.algorithm, plan.store)]
    return plan_on_spark(parse_query(plan.text), catalog, how[0], how[1])
