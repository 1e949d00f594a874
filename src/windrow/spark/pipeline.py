"""The way of a row on Spark: select, pack, shuffle by bucket, shard.

Only Column and DataFrame calls build it: no part of a query's text ever reaches Spark as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from windrow.plan.model import QueryPlan
from windrow.plan.serialise import plan_to_json
from windrow.spark.checkpoint import QueryCheckpoint
from windrow.spark.columns import columns_read
from windrow.spark.control import control_packets
from windrow.spark.operator import ShardOperator
from windrow.spark.packer import packing
from windrow.spark.packets import PACKET_SCHEMA
from windrow.spark.shard_output import OUTPUT_SCHEMA

__all__ = ["OUTPUT_MODE", "shard_outputs"]

OUTPUT_MODE = "append"


def shard_outputs(
    session: SparkSession,
    plan: QueryPlan,
    fingerprint: str,
    sources: Mapping[str, DataFrame],
    checkpoint: QueryCheckpoint,
    buckets: tuple[int, ...],
    grid_us: int,
) -> DataFrame:
    """The stream of what the shards give, one row per bucket and batch."""
    text = plan_to_json(plan)
    packed = [
        _needed(plan, stream, sources[stream]).mapInArrow(
            packing(text, stream, buckets), PACKET_SCHEMA
        )
        for stream in plan.streams
    ]
    packed.append(control_packets(session, checkpoint.control_location, buckets))
    operator = ShardOperator(text, fingerprint, checkpoint.spark_location, buckets, grid_us)
    return (
        reduce(DataFrame.union, packed)
        .groupBy("bucket")
        .transformWithStateInPandas(operator, OUTPUT_SCHEMA, OUTPUT_MODE, "None")
    )


def _needed(plan: QueryPlan, stream: str, source: DataFrame) -> DataFrame:
    names = columns_read(plan, stream)
    return source.select(*[source[f"`{name.replace('`', '``')}`"] for name in names])
