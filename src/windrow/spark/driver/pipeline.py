"""The way of a row on Spark: select, pack, shuffle by bucket, shard.

Only Column and DataFrame calls build it: no part of a query's text ever reaches Spark as text.
"""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from windrow.plan.fingerprint import fingerprint
from windrow.plan.history_schema import HistorySchema
from windrow.plan.model import QueryPlan
from windrow.plan.relations.tree_plan import RunnablePlan, TreePlan, first_stage
from windrow.plan.serialise import plan_to_json
from windrow.plan.shipped_plan import shipped
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.checkpoint.history_declaration import columns_kept, history_of_text, history_text
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.spark_part import takes_frames
from windrow.spark.checkpoint.table_declaration import tables_of_text, tables_text, with_tables
from windrow.spark.driver.parquet_scan import files_scanned
from windrow.spark.driver.table_feed import TableFeed
from windrow.spark.processes.python_worker import plan_of, tree_of
from windrow.spark.shuffle.bundle_packer import BundlePacker
from windrow.spark.shuffle.carrier import carried_columns
from windrow.spark.shuffle.checked_frames import checked
from windrow.spark.shuffle.columns import columns_read
from windrow.spark.shuffle.control import control_packets
from windrow.spark.shuffle.history_packer import HistoryPacker
from windrow.spark.shuffle.known_completeness import known_completeness
from windrow.spark.shuffle.packer import Packer
from windrow.spark.shuffle.packets import PACKET_SCHEMA
from windrow.spark.shuffle.parquet_rows import rows_of_files
from windrow.spark.shuffle.routing import NO_ROUTING, Routing
from windrow.spark.shuffle.table_packer import TablePacker
from windrow.spark.shuffle.task_packer import TaskPacker, packing
from windrow.spark.shuffle.tree_packer import TreePacker
from windrow.spark.worker.operator import BucketOperator
from windrow.spark.worker.shard_output import OUTPUT_SCHEMA
from windrow.table_schema import TableSchema

__all__ = [
    "bundle_outputs",
    "history_outputs",
    "question_outputs",
    "shard_outputs",
    "started_stream",
]

OUTPUT_MODE = "append"

PackerOf = Callable[[int, TaskContext | None], TaskPacker]  # by the number of the task


def shard_outputs(
    session: SparkSession,
    plan: RunnablePlan,
    print_: str,
    sources: Mapping[str, DataFrame],
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
    grid_us: int,
    routing: Routing = NO_ROUTING,
    tables: Sequence[TableFeed] = (),
    begins: str = "",
    control: str = "",
    *,
    passes: bool = False,
) -> DataFrame:
    """The stream of what the shards give, one row per bucket and batch; tables: those it reads.

    begins: the folder with what buckets have before their first batch, '' for nothing. control:
    where orders are, if not in the checkpoint. passes: whether rows pass and are not kept.
    """
    text, owner = shipped(plan, uuid.uuid4().bytes), checkpoint.spark_location
    is_tree = isinstance(plan, TreePlan)

    def packer_of(stream: str) -> PackerOf:
        def make(task: int, context: TaskContext | None) -> TaskPacker:
            if is_tree:
                return TreePacker(first_stage(tree_of(text), len(buckets)), stream, buckets, task)
            packer = Packer(plan_of(text), stream, buckets, task, routing)
            if grid_us > 1 and not routing.keys:
                known = known_completeness(context, owner, stream, is_begun=bool(begins))
                packer.combine_above(known, grid_us)
            return packer

        return make

    packed = [
        _read_and_packed(sources[name], columns_read(plan, name), packer_of(name))
        for name in plan.streams
    ]
    packed += [_packed_table(text, feed, checkpoint, buckets) for feed in tables]
    packed.append(control_packets(session, control or checkpoint.control.uri, buckets))
    if isinstance(plan, TreePlan) and first_stage(plan, len(buckets)) is not plan:
        schemas = [feed.schema for feed in tables]
        return _given_by_stages(plan, text, checkpoint, buckets, packed, schemas)
    given: tuple[Any, ...] = (text, print_, owner, grid_us, begins)
    if is_tree:
        given = (*given, tables_text(feed.schema for feed in tables))
    step = "tree_step" if is_tree else "passing_step" if passes else "shard_step"
    return _given_by(BucketOperator(step, given, buckets), packed, checkpoint)


def _given_by_stages(
    plan: TreePlan,
    text: str,
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
    packed: list[DataFrame],
    tables: Sequence[TableSchema],
) -> DataFrame:
    """An operator for each stage; between them all that goes from buckets to buckets."""
    owner = checkpoint.spark_location
    # Rows of streams and tables come to the first one.
    read = [tables if number == 0 else () for number in range(len(plan.stages))]
    prints = [
        with_tables(fingerprint(stage), own) for stage, own in zip(plan.stages, read, strict=True)
    ]
    # What cannot be partitioned is in the first bucket.
    used = [buckets if stage.partitioning.is_sharded else buckets[:1] for stage in plan.stages]
    frame = reduce(DataFrame.union, packed)
    as_frames = takes_frames(checkpoint.spark_part)
    for number, own in enumerate(used):
        receivers = used[number + 1] if number + 1 < len(used) else ()
        given = (text, prints, owner, number, len(receivers), tables_text(read[number]))
        operator = BucketOperator("stage_step", given, own, receivers)
        schema = PACKET_SCHEMA if receivers else OUTPUT_SCHEMA
        frame = _by_bucket(operator, frame, schema, as_frames)
    return frame


def bundle_outputs(
    session: SparkSession,
    carrier: QueryPlan,
    print_: str,
    sources: Mapping[str, DataFrame],
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
) -> DataFrame:
    """The stream of what the buckets of a bundle give, one row per bucket and batch."""
    text = plan_to_json(carrier)

    def packer_of(stream: str) -> PackerOf:
        return lambda task, _: BundlePacker(plan_of(text), stream, buckets, task)

    packed = [
        _packed(
            sources[name],
            carried_columns(carrier, input_index),
            packer_of(name),
        )
        for input_index, name in enumerate(carrier.streams)
    ]
    given = (text, print_, checkpoint.spark_location)
    operator = BucketOperator("bundle_step", given, buckets)
    packed.append(control_packets(session, checkpoint.control.uri, buckets))
    return _given_by(operator, packed, checkpoint)


def history_outputs(
    session: SparkSession,
    schema: HistorySchema,
    source: DataFrame,
    checkpoint: HistoryCheckpoint,
    buckets: tuple[int, ...],
    archive: str | None,
) -> DataFrame:
    """The stream of what the buckets of a history give, one row per bucket and batch."""
    text = history_text(schema)

    def packer_of(task: int, _: TaskContext | None) -> TaskPacker:
        return HistoryPacker(history_of_text(text), buckets, task)

    orders = control_packets(session, checkpoint.control.uri, buckets)
    packed = [_packed(source, columns_kept(schema), packer_of), orders]
    operator = BucketOperator("history_step", (text, checkpoint.spark_location, archive), buckets)
    return _given_by(operator, packed, checkpoint)


def question_outputs(
    session: SparkSession,
    schema: HistorySchema,
    text: str,
    source: DataFrame,
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
) -> DataFrame:
    """The stream of what the bucket of a continuous question gives; text: as workers read it."""
    history = history_text(schema)

    def packer_of(task: int, _: TaskContext | None) -> TaskPacker:
        return HistoryPacker(history_of_text(history), buckets, task)

    orders = control_packets(session, checkpoint.control.uri, buckets)
    packed = [_packed(source, columns_kept(schema), packer_of), orders]
    operator = BucketOperator("question_step", (text, checkpoint.spark_location), buckets)
    return _given_by(operator, packed, checkpoint)


def _packed(source: DataFrame, columns: Iterable[str], packer_of: PackerOf) -> DataFrame:
    """The rows of a stream as packets for the buckets."""
    return checked(source, columns).mapInArrow(packing(packer_of), PACKET_SCHEMA)


def _packed_table(
    text: str, feed: TableFeed, checkpoint: QueryCheckpoint, buckets: tuple[int, ...]
) -> DataFrame:
    """The changes of a table as packets for the buckets."""
    schema, form = tables_text([feed.schema]), feed.form

    def packer_of(task: int, _: TaskContext | None) -> TaskPacker:
        (table,) = tables_of_text(schema)
        stage = first_stage(tree_of(text), len(buckets))
        return TablePacker(stage, table, form, buckets, task)

    return feed.records(checkpoint).mapInArrow(packing(packer_of), PACKET_SCHEMA)


def _read_and_packed(source: DataFrame, columns: Iterable[str], packer_of: PackerOf) -> DataFrame:
    """The same; files that tasks can read themselves do not pass through Spark row by row."""
    files = files_scanned(source, columns)
    if files is None:
        return _packed(source, columns, packer_of)
    read = rows_of_files(files.folder, files.columns)
    return files.paths.mapInArrow(packing(packer_of, read), PACKET_SCHEMA)


def started_stream(
    outputs: DataFrame,
    take: Callable[[DataFrame, int], None],
    location: str,
    name: str,
    options: Mapping[str, Any],
) -> StreamingQuery:
    """Spark at work on them, under a name that no other run has; each batch is given to `take`."""
    writer = outputs.writeStream.foreachBatch(take).outputMode(OUTPUT_MODE)
    writer = writer.option("checkpointLocation", location)
    return writer.queryName(f"{name}{uuid.uuid4().hex[:8]}").trigger(**options).start()


def _given_by(
    operator: BucketOperator,
    packed: list[DataFrame],
    checkpoint: QueryCheckpoint | HistoryCheckpoint,
) -> DataFrame:
    packets = reduce(DataFrame.union, packed)
    return _by_bucket(operator, packets, OUTPUT_SCHEMA, takes_frames(checkpoint.spark_part))


def _by_bucket(
    operator: BucketOperator, packets: DataFrame, schema: str, as_frames: bool
) -> DataFrame:
    grouped = packets.groupBy("bucket")
    if as_frames:
        # A new checkpoint needs no pandas in its workers.
        frames = importlib.import_module("windrow.spark.worker.frame_operator")
        given = (frames.FrameOperator(operator), schema, OUTPUT_MODE, "None")
        return grouped.transformWithStateInPandas(*given)
    return grouped.transformWithState(operator, schema, OUTPUT_MODE, "None")
