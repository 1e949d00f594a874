"""The way of a row on Spark: select, pack, shuffle by bucket, shard.

Only Column and DataFrame calls build it: no part of a query's text ever reaches Spark as text.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from windrow.plan.history_schema import HistorySchema
from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json
from windrow.schema import StreamSchema
from windrow.spark.checkpoint.history_checkpoint import HistoryCheckpoint
from windrow.spark.checkpoint.history_declaration import columns_kept, history_text
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.shuffle.bundle_packer import BundlePacker
from windrow.spark.shuffle.carrier import carried_columns
from windrow.spark.shuffle.columns import columns_read
from windrow.spark.shuffle.control import control_packets
from windrow.spark.shuffle.history_control import history_orders
from windrow.spark.shuffle.history_packer import history_packing
from windrow.spark.shuffle.judged_frames import judged
from windrow.spark.shuffle.packer import packing
from windrow.spark.shuffle.packets import PACKET_SCHEMA
from windrow.spark.shuffle.routing import NO_ROUTING, Routing
from windrow.spark.worker.history_operator import HistoryOperator
from windrow.spark.worker.operator import ShardOperator
from windrow.spark.worker.shard_output import OUTPUT_SCHEMA

__all__ = ["bundle_outputs", "history_outputs", "shard_outputs", "started_stream"]

OUTPUT_MODE = "append"


def shard_outputs(
    session: SparkSession,
    plan: QueryPlan,
    fingerprint: str,
    sources: Mapping[str, DataFrame],
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
    grid_us: int,
    routing: Routing = NO_ROUTING,
) -> DataFrame:
    """The stream of what the shards give, one row per bucket and batch."""
    text, owner = plan_to_json(plan), checkpoint.spark_location
    packed = [
        judged(sources[stream], columns_read(plan, stream), _stream_of(plan, stream)).mapInArrow(
            packing(text, stream, buckets, routing, grid_us=grid_us, owner=owner), PACKET_SCHEMA
        )
        for stream in plan.streams
    ]
    packed.append(control_packets(session, checkpoint.control_location, buckets))
    return _given_by(ShardOperator(text, fingerprint, owner, buckets, grid_us), packed)


def bundle_outputs(
    session: SparkSession,
    carrier: QueryPlan,
    fingerprint: str,
    sources: Mapping[str, DataFrame],
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
) -> DataFrame:
    """The stream of what the buckets of a bundle give, one row per bucket and batch."""
    text = plan_to_json(carrier)
    packed = [
        judged(
            sources[stream], carried_columns(carrier, position), _stream_of(carrier, stream)
        ).mapInArrow(packing(text, stream, buckets, packer_of=BundlePacker), PACKET_SCHEMA)
        for position, stream in enumerate(carrier.streams)
    ]
    packed.append(control_packets(session, checkpoint.control_location, buckets))
    owner = checkpoint.spark_location
    return _given_by(ShardOperator(text, fingerprint, owner, buckets, 1, "run_bundle"), packed)


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
    rows = judged(source, columns_kept(schema), schema.stream)
    packed = rows.mapInArrow(history_packing(text, buckets), PACKET_SCHEMA)
    orders = history_orders(session, checkpoint.control.uri, buckets)
    operator = HistoryOperator(text, checkpoint.spark_location, buckets, archive)
    return _given_by(operator, [packed, orders])


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


def _given_by(operator: StatefulProcessor, packed: list[DataFrame]) -> DataFrame:
    return (
        reduce(DataFrame.union, packed)
        .groupBy("bucket")
        .transformWithStateInPandas(operator, OUTPUT_SCHEMA, OUTPUT_MODE, "None")
    )


def _stream_of(plan: QueryPlan, name: str) -> StreamSchema:
    return next(entry.stream for entry in plan.inputs if entry.stream.name == name)
