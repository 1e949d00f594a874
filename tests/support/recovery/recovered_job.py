"""A job that a test kills: some queries over folders of growing files, from a checkpoint.

It ends when the file `last` is there and all rows are through, and then writes its ledger.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from support.recovery.asked import (
    ASKED,
    BUCKETS,
    LATENESS_S,
    TABLE,
    plan_of_asked,
    tables_of_asked,
)
from support.recovery.placed_death import place_death
from support.recovery.places import sink_at
from support.recovery.recorded_batches import CONTROL, KEPT_ORDERS
from windrow.errors import WindrowError
from windrow.sinks import Sink
from windrow.spark.driver.query import SparkQuery
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.processes.java import ensure_java
from windrow.spark.settings import local_session
from windrow.storage import Storage

__all__ = ["main"]

# How often a query is started again that Spark could not start in time.
PATIENCE = 10
# Snapshots and clearing away often, so that kills meet them too.
SETTINGS = {
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "4",
    "spark.sql.streaming.stateStore.maintenanceInterval": "2s",
    "spark.sql.streaming.pollingDelay": "100ms",
}


def _keep_orders() -> None:
    """Every order is written a second time, as Spark deletes what it has committed.

    The copy comes first: of an order that Spark has read there is one.
    """
    write = Storage.write

    def twice(storage: Storage, name: str, data: bytes | memoryview) -> None:
        folder = Path(storage.location)
        if folder.name == CONTROL:
            kept = folder.with_name(KEPT_ORDERS)
            kept.mkdir(exist_ok=True)
            (kept / name).write_bytes(data)
        write(storage, name, data)

    Storage.write = twice  # type: ignore[method-assign]  # in this process alone


def main() -> None:
    """Run until all is through, or until somebody kills it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=Path)
    parser.add_argument("--queries", nargs="+", required=True)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--executors", action="store_true")
    parser.add_argument("--sink", type=json.loads, default={"kind": "parquet"})
    parser.add_argument("--shared", action="store_true")
    parser.add_argument("--die-at", nargs=2, metavar=("PLACE", "TIME"))
    given = parser.parse_args()
    _keep_orders()
    if given.die_at:
        place_death(given.die_at[0], int(given.die_at[1]))
    jars = given.sink.get("jars", ())
    spark = _cluster_session() if given.executors else local_session(given.cores, jars=jars)
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    # Mostly a session for each query: the memory of one must not govern the others.
    groups = [given.queries] if given.shared else [[name] for name in given.queries]
    sessions = [_opened(spark, given.root, names) for names in groups]
    queries = [
        started
        for session, names in zip(sessions, groups, strict=True)
        for started in _started(
            session,
            {name: sink_at(given.sink, given.root, name, ASKED[name].feed) for name in names},
        )
    ]
    while not (given.root / "last").exists():
        for query, again in queries:
            if not query.is_running:
                _patiently(query.await_end, again)
        time.sleep(0.05)
    for session, (_, again) in zip(sessions, queries, strict=False):
        _patiently(session.finish, again)
        session.stop()
    ledger = [row for session in sessions for row in session.ledger().to_pylist()]
    (given.root / "done").write_text(json.dumps(ledger))


def _opened(spark: SparkSession, root: Path, names: list[str]) -> SparkWindrowSession:
    """A session with some of the queries, not started yet."""
    session = SparkWindrowSession(
        spark,
        memory=ASKED[names[0]].memory,
        checkpoint=str(root / "checkpoint"),
        buckets=BUCKETS,
    )
    for stream in sorted({stream for name in names for stream in plan_of_asked(name).streams}):
        reader = spark.readStream.schema("room string, ts timestamp, value double")
        folder = str(root / "in" / stream)
        frame = reader.option("maxFilesPerTrigger", 1).parquet(folder)
        session.stream(stream, frame, time="ts", lateness=f"{LATENESS_S[stream]} seconds")
    if any(tables_of_asked(name) for name in names):
        reader = spark.readStream.schema("room string, kind string")
        frame = reader.option("maxFilesPerTrigger", 1).parquet(str(root / "in" / TABLE.name))
        session.table(TABLE.name, frame, key="room")
    return session


def _started(
    session: SparkWindrowSession, given: dict[str, Sink]
) -> list[tuple[SparkQuery, Callable[[], object]]]:
    """The queries at work, each with what sets it to work again."""
    queries = [session.query(ASKED[name].text, name=name) for name in given]
    if len(queries) == 1:
        queries[0].start(given[queries[0].name])
        return [(queries[0], lambda: queries[0].start(given[queries[0].name]))]
    session.start(given)
    return [(query, lambda: session.start(given)) for query in queries]


def _patiently(work: Callable[[], object], again: Callable[[], object]) -> None:
    """Spark gives a Python process ten seconds to start, which a busy machine may not have."""
    for _ in range(PATIENCE):
        try:
            work()
        except WindrowError as error:
            if "failed to connect back" not in str(error):
                raise
            again()
        else:
            return
    raise RuntimeError("the machine is too busy for Spark")


def _cluster_session() -> SparkSession:
    """Two executors, each a process of its own."""
    os.environ.update(ensure_java(), PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("windrow")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.task.maxFailures": "8",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main()
