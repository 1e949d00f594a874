"""The first batch of a checkpoint that begins with the state of another run, and with its places.

Buckets put the state into Spark's store, and no source is asked for anything. Then Spark is made to
believe that this batch has read what was read before. What breaks off in between is begun again:
all that it needs lies in the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from windrow.carryover.positions import Positions
from windrow.errors import CheckpointError
from windrow.event_time import START_OF_TIME
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.checkpoint.source_places import DONE, POSITIONS, put_places, read_places
from windrow.spark.driver.failures import SPARK_FAILURES, failure_of
from windrow.spark.driver.pipeline import started_stream
from windrow.spark.driver.stage_outputs import by_bucket
from windrow.spark.processes.shipped_errors import shipping_errors
from windrow.spark.settings import query_settings, settings_applied
from windrow.spark.shuffle.control import order_advance
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["awaits_first_batch", "check_places", "run_first_batch"]

# How offsets of a source begin, and what Spark's plans call it.
_KINDS = {
    "file": (re.compile(r'\{"logOffset":'), "filesource"),
    "Kafka": (re.compile(r'\{("[^"]+":\{|\})'), "kafka"),
}

_FOLDER = re.compile(r"FileSource\[([^\]]+)\]")
_PATH = re.compile(r'"path":"([^"]+)"')

Outputs = Callable[[Mapping[str, DataFrame], str], DataFrame]


def awaits_first_batch(checkpoint: QueryCheckpoint) -> bool:
    """Whether it begins with places of sources that Spark does not know yet."""
    begins = checkpoint.begins
    if begins is None or not begins.has(POSITIONS):
        return False
    return not begins.has(DONE)


def check_places(positions: Positions, sources: Mapping[str, DataFrame]) -> None:
    """Refuses places of a source that is another one now; sources: in their order."""
    lines = positions.lines[:-1]
    if len(lines) != len(sources):
        return  # a stream of several sources: Spark itself finds what does not fit
    for number, (line, (stream, frame)) in enumerate(zip(lines, sources.items(), strict=True)):
        kind = next((kind for kind, (offset, _) in _KINDS.items() if offset.match(line)), None)
        plan = frame._jdf.queryExecution().analyzed().toString()
        if kind is None or (_KINDS[kind][1] in plan.lower() and _is_of(plan, positions, number)):
            continue
        raise CheckpointError(
            "WC437",
            f"the source of stream {stream!r} stood at {line}, a place of a {kind} source, and "
            "it is read from somewhere else now",
            hint="import the state into a new checkpoint with positions=False or --no-positions, "
            "and have the source begin there",
        )


def _is_of(plan: str, positions: Positions, number: int) -> bool:
    """Whether files that were read are of the folder that is read now, if it reads one."""
    folder = _FOLDER.search(plan)
    logs = [data for name, data in positions.logs.items() if name.startswith(f"{number}/")]
    paths = [unquote(each) for data in logs for each in _PATH.findall(data.decode())]
    if folder is None or not paths:
        return True
    fixed = folder[1].partition("*")[0].partition(":")[2] or folder[1].partition("*")[0]
    return any(fixed.lstrip("/") in path for path in paths)


def run_first_batch(
    spark: SparkSession,
    checkpoint: QueryCheckpoint,
    sources: Mapping[str, DataFrame],
    outputs: Outputs,
    take: Callable[[Sequence[ShardOutput]], None],
) -> None:
    """Runs the batch; outputs: what buckets give, of streams and of orders in a folder."""
    begins, owner = checkpoint.begins, checkpoint.owner()
    assert begins is not None
    check_places(read_places(begins), sources)
    assert owner is not None
    checkpoint.state.remove_folder("spark")
    for name in checkpoint.publish.names():
        checkpoint.publish.remove(name)
    control, empty = begins.inside("orders"), begins.inside("rows").uri
    # Every bucket takes part in a batch that has an order, even one that says nothing.
    order_advance(control, next(iter(sources)), START_OF_TIME)
    none = {
        name: spark.readStream.schema(frame.schema).parquet(empty)
        for name, frame in sources.items()
    }
    with settings_applied(spark, query_settings(owner.buckets, checkpoint.spark_location)):
        _run(outputs(none, control.uri), checkpoint, take)
    begins.remove_folder("orders")
    put_places(checkpoint.spark_part, read_places(begins))
    begins.write(DONE, b"")


def _run(
    outputs: DataFrame,
    checkpoint: QueryCheckpoint,
    take: Callable[[Sequence[ShardOutput]], None],
) -> None:
    def taken(frame: DataFrame, _: int) -> None:
        with shipping_errors():
            given = frame.toArrow().column("output")
            take(by_bucket([ShardOutput.from_bytes(bytes(each.as_buffer())) for each in given]))

    place = (checkpoint.spark_location, checkpoint.run_name)
    try:
        stream = started_stream(outputs, taken, *place, {"availableNow": True})
        stream.awaitTermination()
    except SPARK_FAILURES as problem:
        raise failure_of(f"query {checkpoint.query!r}", problem) from problem
