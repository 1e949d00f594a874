"""Windrow: continuous queries over sliding windows, in one process or on Spark.

>>> import windrow
>>> session = windrow.connect(memory="64 MB")
>>> session.stream("temp", {"ts": "timestamp", "celsius": "double"}, time="ts")
>>> hot = session.query("SELECT COUNT(*) AS n FROM temp [10 MINUTES] WHERE celsius >= 40")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from windrow import starting  # noqa: F401 # isort: skip - before all that takes long to load
from windrow import dataframes, notebook, sinks, sources
from windrow.clocks import COMPLETE, refuse_arrival
from windrow.deferred import imported
from windrow.errors import (
    AdmissionError,
    BindingError,
    CheckpointError,
    DataError,
    QuerySyntaxError,
    UnsupportedError,
    WindrowError,
    WindrowWarning,
)
from windrow.memory_size import DEFAULT_MEMORY
from windrow.query import Query
from windrow.session import Session
from windrow.version import __version__

if TYPE_CHECKING:
    from os import PathLike

    from windrow.embedded.session import EmbeddedSession
    from windrow.spark.driver.session import SparkSession, SparkWindrowSession

__all__ = [
    "AdmissionError",
    "BindingError",
    "CheckpointError",
    "DataError",
    "Query",
    "QuerySyntaxError",
    "Session",
    "UnsupportedError",
    "WindrowError",
    "WindrowWarning",
    "__version__",
    "connect",
    "dataframes",
    "notebook",
    "sinks",
    "sources",
]


@overload
def connect(
    spark: None = None,
    *,
    memory: str | int = DEFAULT_MEMORY,
    clock: str = COMPLETE,
    time_zone: str = "UTC",
    double_quotes: str = "text",
    path: str | PathLike[str] | None = None,
    durability: str = "interval",
) -> EmbeddedSession: ...
@overload
def connect(
    spark: SparkSession,
    *,
    memory: str | int = DEFAULT_MEMORY,
    checkpoint: str | PathLike[str] | None = None,
    buckets: int | None = None,
    time_zone: str = "UTC",
    double_quotes: str = "text",
) -> SparkWindrowSession: ...
def connect(
    spark: Any = None,
    *,
    memory: str | int = DEFAULT_MEMORY,
    checkpoint: str | PathLike[str] | None = None,
    buckets: int | None = None,
    clock: str = COMPLETE,
    time_zone: str = "UTC",
    double_quotes: str = "text",
    path: str | PathLike[str] | None = None,
    durability: str = "interval",
) -> EmbeddedSession | SparkWindrowSession:
    """A session in this process, or on the given Spark session.

    memory: the budget for windows, a text with B, KB, MB or GB, or bytes. checkpoint: on Spark, the
    directory from which queries recover. buckets: on Spark, into how many shards a query's keys are
    dealt; by default one for each core that is there when the query first starts. clock: "complete"
    waits until all streams of a query are complete; with "arrival", in this process, a row moves
    every stream to its time, and its answer is there when push() returns. time_zone: in which
    queries mean times of day and dates, such as "Europe/Berlin"; results stay in UTC.
    double_quotes: "text" as in Spark, or "name": then "x" in the text of a query is the name x.
    path: in this process, a folder that keeps the session: opened again, it is as it was, whatever
    has ended the program. durability: when what was pushed is on the disk: "always", before the
    call returns; "interval", a tenth of a second later; "off", when the operating system likes.

    >>> session = connect(memory="64 MB")
    >>> session.memory
    67108864
    >>> connect(spark, memory="1 GB", checkpoint="checkpoint")  # doctest: +SKIP
    """
    # Spark is an extra, and what runs queries takes its time to import.
    if spark is None:
        if checkpoint is not None:
            raise UnsupportedError(
                "WU303",
                "a session in this process has no checkpoint",
                hint="omit checkpoint=, or connect to Spark: windrow.connect(spark, ...)",
            )
        if buckets is not None:
            raise UnsupportedError(
                "WU307",
                "a session in this process has no buckets",
                hint="omit buckets=, or connect to Spark: windrow.connect(spark, ...)",
            )
        settings = (memory, clock, time_zone, double_quotes)
        embedded: EmbeddedSession
        if path is None:
            embedded = imported("windrow.embedded.session").EmbeddedSession(*settings)
        else:
            opening = imported("windrow.durable.opening")
            embedded = opening.open_session(path, *settings, durability)
        return embedded
    if path is not None:
        raise UnsupportedError(
            "WU309",
            "a session on Spark has no path: its queries are durable by their checkpoint",
            hint="omit path=, and give checkpoint=",
        )
    refuse_arrival(clock)
    session: SparkWindrowSession = imported("windrow.spark.driver.session").SparkWindrowSession(
        spark,
        memory=memory,
        checkpoint=checkpoint,
        buckets=buckets,
        time_zone=time_zone,
        double_quotes=double_quotes,
    )
    return session
