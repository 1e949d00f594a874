"""Kafka in Python and in scripts: what is described, and what is refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from windrow import sinks, sources
from windrow.connectors.kafka.connector import KafkaSink, KafkaSource
from windrow.embedded.job import declare_tables
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, UnsupportedError
from windrow.jobs.job import job_of
from windrow.schema import StreamSchema, columns_of

SERVERS = "localhost:9092"
SCRIPT = """
CREATE STREAM t (k STRING, ts TIMESTAMP) TIME ts FROM {source};
CREATE QUERY q AS SELECT k, COUNT(*) AS n FROM t [1 HOUR] GROUP BY k INTO {sink};
"""


def test_scripts_describe_what_python_describes() -> None:
    source = (
        "kafka('in', servers = 'localhost:9092', format = 'Avro', avro_schema = '{\"a\": 1}', "
        "time_from = 'record', starting = 'latest', max_offsets_per_batch = 7, bounded = TRUE, "
        "kafka.security.protocol = 'SSL', kafka.enable.metrics.push = FALSE)"
    )
    sink = (
        "kafka('out', servers = 'localhost:9092', feed = 'upserts', key = 'k, n', "
        "transactional = FALSE, kafka.linger.ms = 5)"
    )
    job = job_of(SCRIPT.format(source=source, sink=sink))
    given = {"kafka.security.protocol": "SSL", "kafka.enable.metrics.push": "false"}
    schema = '{"a": 1}'
    described = KafkaSource("in", SERVERS, "avro", schema, "record", "latest", 7, True, given)
    assert job.streams["t"].source == described
    assert not described.is_endless
    assert job.queries["q"].sink == sinks.kafka(
        "out", SERVERS, "upserts", ["k", "n"], False, {"kafka.linger.ms": "5"}
    )
    simple = job_of(
        SCRIPT.format(
            source="kafka('in', servers = 'localhost:9092')",
            sink="kafka('out', servers = 'localhost:9092')",
        )
    )
    assert simple.streams["t"].source == sources.kafka("in", SERVERS)
    assert sources.kafka("in", SERVERS).is_endless
    assert simple.queries["q"].sink == KafkaSink("out", SERVERS)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"format": "xml"}, "WB480"),
        ({"time_from": "clock"}, "WB480"),
        ({"starting": "yesterday"}, "WB480"),
        ({"max_offsets_per_batch": 0}, "WB480"),
        ({"format": "avro"}, "WB481"),
        ({"servers": ""}, "WB482"),
        ({"topic": ""}, "WB482"),
        ({"from_record": {"k": "value"}}, "WB480"),
        ({"options": {"security.protocol": "SSL"}}, "WB483"),
        ({"options": {"kafka.bootstrap.servers": "elsewhere:1"}}, "WB483"),
    ],
)
def test_sources_that_cannot_be(options: dict[str, object], code: str) -> None:
    given: dict[str, object] = {"topic": "in", "servers": SERVERS, **options}
    with pytest.raises(BindingError, match=code):
        sources.kafka(**given)  # type: ignore[arg-type]


def test_topics_parts_of_records_and_an_instant() -> None:
    source = (
        "kafka('in, also', servers = 'localhost:9092', starting = '2026-01-01 12:00:00', "
        "from_record = 'k = key, tags = Headers')"
    )
    described = job_of(SCRIPT.format(source=source, sink="memory()")).streams["t"].source
    parts = {"k": "key", "tags": "headers"}
    start = "2026-01-01 12:00:00"
    given = sources.kafka("in, also", SERVERS, starting=start, from_record=parts)
    assert described == given
    assert (given.topics, given.starting_us()) == (["in", "also"], 1_767_268_800_000_000)
    with pytest.raises(BindingError, match="WB488"):
        job_of(SCRIPT.format(source=source.replace("k = key", "key"), sink="memory()"))


@pytest.mark.spark
def test_columns_of_records_are_checked() -> None:
    parts = pytest.importorskip("windrow.connectors.kafka.record_columns")
    stream = StreamSchema("t", columns_of("ts timestamp, k string"), "ts")
    for from_record, named in (({"q": "key"}, "'q'"), ({"k": "headers"}, "MAP<STRING")):
        source = sources.kafka("in", SERVERS, from_record=from_record)
        with pytest.raises(BindingError, match="WB489") as raised:
            parts.check_record_columns(stream, source)
        assert named in str(raised.value)


def test_sinks_that_cannot_be() -> None:
    with pytest.raises(BindingError, match="WB480"):
        sinks.kafka("out", SERVERS, feed="result")
    with pytest.raises(BindingError, match="WB483"):
        sinks.kafka("out", SERVERS, options={"kafka.transactional.id": "mine"})


def test_options_of_scripts_are_checked() -> None:
    for wrong, code in (("server = 'x'", "WB507"), ("offsets.max = 1", "WB507")):
        with pytest.raises(BindingError, match=code):
            job_of(SCRIPT.format(source=f"kafka('in', {wrong})", sink="memory()"))
    with pytest.raises(BindingError, match="WB502"):
        job_of(SCRIPT.format(source="kafka('in')", sink="memory()"))


@pytest.mark.spark
def test_a_session_without_the_connector_says_what_to_add() -> None:
    settings = pytest.importorskip("windrow.spark.settings")
    jars = pytest.importorskip("windrow.connectors.kafka.spark_jars")
    spark = settings.local_session(cores=2)
    for require, code, named in (
        (jars.require_kafka, "WU480", "org.apache.spark:spark-sql-kafka-0-10_2.13:4.3"),
        (jars.require_avro, "WU481", "org.apache.spark:spark-avro_2.13:4.3"),
        (jars.require_producer, "WU482", "org.apache.kafka:kafka-clients"),
    ):
        with pytest.raises(UnsupportedError, match=code) as raised:
            require(spark)
        assert named in str(raised.value)


def test_a_sink_with_options_is_a_sink() -> None:
    sink = sinks.kafka("out", SERVERS, options={"kafka.linger.ms": "5"})
    assert sinks.sink_of(sink) is sink
    assert sink.bad_rows_folder is None


def test_options_are_not_shown() -> None:
    given = {"kafka.sasl.jaas.config": "password=s3cret"}
    described = [
        sources.kafka("in", SERVERS, options=given),
        sinks.kafka("out", SERVERS, options=given),
    ]
    assert all("s3cret" not in repr(each) for each in described)


TABLE = """CREATE STREAM s (ts TIMESTAMP, k INT) TIME ts FROM jsonl('{file}');
CREATE TABLE t (k INT PRIMARY KEY, v STRING) FROM kafka('c', servers = 'h:1'{format});
CREATE QUERY q AS SELECT t.v FROM s [1 MINUTE] JOIN t ON s.k = t.k INTO console();"""


@pytest.mark.parametrize("format_", ["", ", format = 'debezium-json'", ", format = 'upsert-json'"])
def test_in_process_tables_are_not_read_from_topics(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text("")
    job = job_of(TABLE.format(file=file, format=format_))
    with pytest.raises(UnsupportedError, match=r"WU716.*table 't'.*kafka\('c'\)") as found:
        declare_tables(EmbeddedSession(), job.tables.values())
    job.check_on_spark()
    assert "session.changelog" in (found.value.hint or "")


def test_a_format_of_tables_is_refused_for_a_stream() -> None:
    source = sources.kafka("c", SERVERS, format="debezium-json")
    schema = StreamSchema("s", columns_of("ts timestamp"), "ts")
    with pytest.raises(BindingError, match="WB710"):
        source.read_on_spark(None, schema)  # type: ignore[arg-type]  # it is refused before
