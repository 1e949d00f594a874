"""Spark sessions that users bring: refused where they cannot serve, and what they lack is said."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from support.spark.stream_files import COLUMNS, Sessions
from windrow import sources
from windrow.connectors.spark_frames import source_frame
from windrow.errors import UnsupportedError
from windrow.schema import StreamSchema, columns_of
from windrow.spark.processes.usable import advise, refuse_unusable
from windrow.spark.settings import tuned_settings


def brought(
    master: str = "local[2,4]",
    version: str = "4.3.0",
    reuse: str = "true",
    has_context: bool = True,
    is_stopped: bool = False,
) -> Any:
    jvm = SimpleNamespace(sc=lambda: SimpleNamespace(isStopped=lambda: is_stopped))
    return SimpleNamespace(
        _jsparkSession=None,
        version=version,
        conf={"spark.python.worker.reuse": reuse},
        sparkContext=SimpleNamespace(master=master, _jsc=jvm if has_context else None),
    )


@pytest.mark.parametrize(
    ("session", "said"),
    [
        (brought(master="local"), "four times"),
        (brought(master="local[2]"), "four times"),
        (brought(master="local[*]"), "four times"),
        (brought(version="4.1.1"), "built for 4.3"),
        (brought(reuse="false"), "rebuilt from the state store"),
    ],
)
def test_what_a_session_lacks_is_said(
    session: Any, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "windrow.spark"):
        advise(session)
    [record] = caplog.records
    assert said in record.getMessage()


@pytest.mark.parametrize("master", ["local[2,4]", "local[*,4]", "spark://host:7077", "yarn"])
def test_of_a_session_that_lacks_nothing_nothing_is_said(
    master: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "windrow.spark"):
        advise(brought(master=master))
    assert caplog.records == []


@pytest.mark.parametrize("session", [brought(has_context=False), brought(is_stopped=True)])
def test_a_session_that_was_stopped_is_refused(session: Any) -> None:
    with pytest.raises(UnsupportedError, match="WU415"):
        refuse_unusable(session)


@pytest.mark.spark
def test_a_local_session_has_what_one_of_a_user_gets(spark: SparkSession) -> None:
    assert {name: spark.conf.get(name) for name in tuned_settings()} == tuned_settings()
    advise(spark)


@pytest.mark.spark
def test_a_query_on_a_session_that_was_stopped_meanwhile_is_refused(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = sessions.open()
    session.stream("r", "ts timestamp, n bigint", time="ts", source=sources.rate())
    query = session.query("SELECT COUNT(*) AS n FROM r [1 MINUTE]", name="q")
    with monkeypatch.context() as patch:
        patch.setattr(session._spark.sparkContext, "_jsc", None)
        with pytest.raises(UnsupportedError, match="WU415"):
            query.start("memory")
        with pytest.raises(UnsupportedError, match="WU415"):
            session.start({"q": "memory"})
        with pytest.raises(UnsupportedError, match="WU415"):
            session.stream("s", "ts timestamp, n bigint", time="ts", source=sources.rate())
    assert session.recorded() == []


@pytest.mark.spark
def test_what_spark_calls_a_timestamp_does_not_matter(spark: SparkSession, tmp_path: Any) -> None:
    schema = StreamSchema("s", columns_of(COLUMNS), "ts", 0)
    before = spark.conf.get("spark.sql.timestampType")
    try:
        spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
        frames = [
            source_frame(spark, schema, source)
            for source in (
                sources.parquet(tmp_path),
                sources.jsonl(tmp_path),
                sources.csv(tmp_path),
                sources.socket("127.0.0.1", 1),
            )
        ]
    finally:
        spark.conf.set("spark.sql.timestampType", before)
    assert {frame.schema["ts"].dataType.simpleString() for frame in frames} == {"timestamp"}
