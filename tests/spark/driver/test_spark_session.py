"""What a session on Spark refuses, each once, and how it leaves Spark's settings."""

from __future__ import annotations

import fcntl
from types import SimpleNamespace
from typing import cast

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, functions

from support.spark.stream_files import Files, Sessions
from windrow import sinks
from windrow.errors import BindingError, UnsupportedError, WindrowError
from windrow.spark.driver import streaming_run
from windrow.spark.driver.history import HistoryRun
from windrow.spark.driver.session import SparkWindrowSession
from windrow.spark.settings import local_session, query_settings, settings_applied
from windrow.spark.shuffle.buckets import spark_hash

pytestmark = pytest.mark.spark

COUNT = "SELECT COUNT(*) AS n FROM h [5 SECONDS]"


def test_streams_that_cannot_be(files: Files, sessions: Sessions, spark: SparkSession) -> None:
    session = sessions.open()
    with pytest.raises(BindingError, match="WB415"):
        session.stream("s", spark.range(3), time="id")
    with pytest.raises(BindingError, match="WB414"):
        session.stream("s", "a string", time="ts")  # type: ignore[arg-type]  # on purpose
    source = files.stream("h")
    with pytest.raises(BindingError, match="WB114"):
        session.stream("s", source, time="when")
    with pytest.raises(BindingError, match="WB416"):
        session.stream("s", source.withColumn("none", functions.lit(None)), time="ts")


def test_queries_that_cannot_be(files: Files, sessions: Sessions) -> None:
    session = sessions.open(files)
    with pytest.raises(BindingError, match="WB418"):
        session.query(COUNT, name="../elsewhere")
    query = session.query(COUNT, name="q")
    with pytest.raises(BindingError, match="WB419"):
        session.query(COUNT, name="q")
    with pytest.raises(BindingError, match="WB411"):
        query.start("kafka")
    with pytest.raises(BindingError, match="WB101"):
        query.start("memory", trigger="often")
    with pytest.raises(BindingError, match="WB413"):
        query.await_end()
    with pytest.raises(UnsupportedError, match="WU411"):
        query.answers()
    for call in (session.query, session.plan_of):
        with pytest.raises(UnsupportedError, match="WU231") as refused:
            call("SELECT 1 AS x")
        assert "windrow.connect() without Spark" in (refused.value.hint or "")
    assert session[query.name] is query
    with pytest.raises(BindingError, match="WB107"):
        session["nothing"]
    with pytest.raises(BindingError, match="WB104"):
        session.view("q", COUNT)
    query.stop()
    session.finish()
    assert query.progress()["batch_id"] == -1


def test_calls_that_cannot_be(files: Files, sessions: Sessions) -> None:
    session = sessions.open(files)
    with pytest.raises(UnsupportedError, match="WU413"):
        session.push("h", [])
    with pytest.raises(BindingError, match="WB201"):
        session.advance("nothing", to=0)
    with pytest.raises(BindingError, match="WB420"):
        session.advance("h", to="9999-01-01")
    with pytest.raises(BindingError, match="WB421"):
        session.late("h")
    with pytest.raises(UnsupportedError, match="WU312"):
        session.memory = "8 MB"


def test_sessions_that_cannot_be(spark: SparkSession) -> None:
    with pytest.raises(BindingError, match="WB417"):
        SparkWindrowSession(spark, buckets=0)
    with pytest.raises(UnsupportedError, match="WU412"):
        SparkWindrowSession(cast("SparkSession", SimpleNamespace()))
    with pytest.raises(UnsupportedError, match="WU410"):
        local_session(cores=0)


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_start_that_fails_lets_go_of_the_checkpoint(
    files: Files, sessions: Sessions, monkeypatch: pytest.MonkeyPatch, is_shared: bool
) -> None:
    def fail(*_given: object) -> None:
        raise PySparkException("[NO_ROOM] for one more")

    session = sessions.open(files)
    query = session.query(COUNT, name="q")
    with monkeypatch.context() as patch:
        patch.setattr(streaming_run, "started_stream", fail)
        with pytest.raises(WindrowError, match=r"WX401.*NO_ROOM"):
            session.start({"q": "memory"}) if is_shared else query.start("memory")
    [lock] = sessions.folder(".").glob("*/driver.lock")
    with lock.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # another process could take it


def test_a_history_that_cannot_start_is_an_error_of_ours(
    files: Files, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_given: object) -> None:
        raise PySparkException("[NO_ROOM] for one more")

    session = sessions.open(files)
    monkeypatch.setattr(HistoryRun, "_outputs", fail)
    with pytest.raises(WindrowError, match=r"WX401.*history of 'h'.*NO_ROOM"):
        session.history("h", measures=["value"], levels=[("1 second", None)])
    assert session.histories().num_rows == 0


def test_only_memory_gives_answers(files: Files, sessions: Sessions) -> None:
    query = sessions.open(files).query(COUNT).start(sinks.console(), trigger="available")
    query.await_end()
    with pytest.raises(UnsupportedError, match="WU411"):
        query.result()


def test_the_users_settings_come_back(spark: SparkSession) -> None:
    name = "spark.sql.shuffle.partitions"
    before = spark.conf.get(name)
    settings = query_settings(7, "somewhere")
    with settings_applied(spark, settings):
        assert spark.conf.get(name) == "7"
    assert spark.conf.get(name) == before
    assert spark.conf.get("spark.sql.streaming.noDataMicroBatches.enabled", None) != "false"
    assert not any("checkpointFileManager" in each for each in query_settings(2, "s3://bucket/x"))


def test_spark_listens_on_the_loopback_address_only(spark: SparkSession) -> None:
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"
    assert spark.conf.get("spark.ui.enabled") == "false"


def test_buckets_are_hashed_as_spark_hashes(spark: SparkSession) -> None:

    hashed = spark.range(50).select(functions.hash(functions.col("id").cast("int"))).toArrow()
    assert hashed.column(0).to_pylist() == [spark_hash(number) for number in range(50)]
