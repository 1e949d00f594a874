"""Streams from topics: answers are those of the session in this process, and nothing is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.avro.functions import to_avro

from support.servers.kafka_topics import Topics, as_json
from support.spark.stream_files import COLUMNS, Sessions, embedded, random_batches
from windrow import sources
from windrow.errors import BindingError
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COUNTS = "SELECT room, COUNT(*) AS n, SUM(value) AS total FROM h [8 SECONDS] GROUP BY room"
LATENESS = "20 seconds"
AVRO = json.dumps(
    {
        "type": "record",
        "name": "reading",
        "fields": [
            {"name": "room", "type": ["null", "string"]},
            {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "value", "type": "float"},
        ],
    }
)


def readings(count: int, seed: int) -> pa.Table:
    return pa.concat_tables([batch["h"] for batch in random_batches(count, seed)])


def answered(session: SparkWindrowSession) -> list[dict[str, Any]]:
    query = session.query(COUNTS, name="q").start("memory", trigger="available")
    session.finish()
    answers: list[dict[str, Any]] = query.answers().to_pylist()
    return answers


def expected(rows: pa.Table) -> list[dict[str, Any]]:
    query, _ = embedded(COUNTS, [{"h": rows}], LATENESS)
    answers: list[dict[str, Any]] = query.answers().to_pylist()
    return answers


def counts(session: SparkWindrowSession) -> dict[str, int]:
    ledger: dict[str, int] = session.ledger().drop_columns(["stream", "query"]).to_pylist()[0]
    return {name: count for name, count in ledger.items() if count}


def test_json_with_its_time_in_a_column_in_small_batches(
    topics: Topics, sessions: Sessions
) -> None:
    topic, rows = topics.name("json"), readings(3, seed=1)
    topics.put_rows(topic, rows)
    source = sources.kafka(topic, topics.servers, max_offsets_per_batch=50)
    session = sessions.open()
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    assert answered(session) == expected(rows)
    assert counts(session) == {"rows_in": 180, "applied": 180}
    # 180 records, 50 at a time, and the end of the stream.
    assert session._queries["q"].progress()["batch_id"] >= 4


def test_what_cannot_be_read_is_counted(topics: Topics, sessions: Sessions) -> None:
    topic, rows = topics.name("bad"), readings(1, seed=2)
    good = [(as_json(row), None) for row in rows.to_pylist()]
    some = rows.to_pylist()[0]
    bad = [
        b"no JSON at all",
        b'{"room": "r1", "ts": "1970-01-01T00:00:01Z", "value": 1',
        as_json({**some, "value": "warm"}),
        as_json({**some, "ts": "yesterday"}),
        as_json({"room": "r1", "value": 1.0}),
        b"\xff\xfe",
        b"",
        None,
    ]
    topics.put(topic, [*good[:30], *((value, None) for value in bad), *good[30:]])
    session = sessions.open()
    source = sources.kafka(topic, topics.servers)
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    assert answered(session) == expected(rows)
    assert counts(session) == {"rows_in": 68, "applied": 60, "bad_time": 8}


def test_the_time_of_records_and_values_that_have_none(topics: Topics, sessions: Sessions) -> None:
    topic, rows = topics.name("record"), readings(1, seed=3)
    records = []
    for row in rows.to_pylist():
        value = {"room": row["room"], "value": row["value"]}
        records.append((as_json(value), round(row["ts"].timestamp() * 1000)))
    topics.put(topic, [*records, (b"nothing", 7_000), (None, 7_000)])
    session = sessions.open()
    source = sources.kafka(topic, topics.servers, time_from="record")
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    assert answered(session) == expected(rows)
    assert counts(session) == {"rows_in": 62, "applied": 60, "bad_time": 2}


@pytest.mark.parametrize("format_", ["avro", "confluent-avro"])
def test_avro(
    spark: SparkSession, topics: Topics, sessions: Sessions, tmp_path: Path, format_: str
) -> None:
    topic, rows = topics.name("avro"), readings(1, seed=4)
    header = b"\0\0\0\0\7" if format_ == "confluent-avro" else b""
    record = sql.struct("room", "ts", sql.col("value").cast("float").alias("value"))
    written = spark.createDataFrame(rows).select(to_avro(record, AVRO).alias("value")).toArrow()
    values = [header + value for value in written.column("value").to_pylist()]
    bad = [b"", b"\xff", None]
    topics.put(topic, [(value, None) for value in [*values, *bad]])
    (tmp_path / "reading.avsc").write_text(AVRO)
    given = AVRO if format_ == "avro" else str(tmp_path / "reading.avsc")
    session = sessions.open()
    source = sources.kafka(topic, topics.servers, format_, avro_schema=given)
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    assert answered(session) == expected(rows)
    assert counts(session) == {"rows_in": 63, "applied": 60, "bad_time": 3}


def test_an_avro_schema_must_have_the_columns(topics: Topics, sessions: Sessions) -> None:
    session = sessions.open()
    for schema, code, said in [
        ("no/such/file.avsc", "WB484", "cannot be read"),
        ("{}}", "WB484", "cannot be read"),
        ('{"type": "string"}', "WB485", "values of type string"),
        (AVRO.replace('"room"', '"place"'), "WB485", "no field 'room'"),
        (AVRO.replace('"float"', '"string"'), "WB485", "string in field 'value'"),
    ]:
        source = sources.kafka("any", topics.servers, "avro", avro_schema=schema)
        with pytest.raises(BindingError, match=code) as raised:
            session.stream("h", COLUMNS, time="ts", source=source)
        assert said in str(raised.value)


def test_a_stream_that_starts_with_the_latest_records(topics: Topics, sessions: Sessions) -> None:
    topic = topics.name("latest")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    topics.put(topic, [(as_json({"room": "old", "ts": at, "value": 1.0}), None)] * 4)
    session = sessions.open()
    source = sources.kafka(topic, topics.servers, starting="latest")
    session.stream("h", COLUMNS, time="ts", source=source)
    query = session.query(COUNTS, name="q").start("memory", trigger="available")
    query.await_end()
    topics.put(topic, [(as_json({"room": "new", "ts": at, "value": 1.0}), None)] * 3)
    query.start("memory", trigger="available").await_end()
    assert counts(session)["rows_in"] == 3


def put_with_headers(topics: Topics, topic: str, rows: pa.Table) -> None:
    """A record for each row: the room is its key, and headers say which row it is, twice."""
    entries = "array<struct<key:string,value:binary>>"
    schema = f"topic string, key binary, value binary, headers {entries}"
    records = [
        (
            topic,
            str(row["room"]).encode(),
            as_json({"ts": row["ts"], "value": row["value"]}),
            [("row", b"an older one"), ("row", str(number).encode()), ("empty", None)],
        )
        for number, row in enumerate(rows.to_pylist())
    ]
    writer = topics.spark.createDataFrame(records, schema).write.format("kafka")
    writer.option("kafka.bootstrap.servers", topics.servers).save()


def test_keys_headers_and_names_of_several_topics_are_columns(
    topics: Topics, sessions: Sessions
) -> None:
    one, other = topics.name("one"), topics.name("other")
    rows = readings(2, seed=9)
    put_with_headers(topics, one, rows.slice(0, 40))
    put_with_headers(topics, other, rows.slice(40))
    source = sources.kafka(
        f"{one}, {other}",
        topics.servers,
        from_record={"room": "key", "tags": "headers", "origin": "topic", "place": "offset"},
    )
    session = sessions.open()
    columns = {**COLUMNS, "tags": "map<string, string>", "origin": "string", "place": "bigint"}
    session.stream("h", columns, time="ts", lateness="1 hour", source=source)
    text = (
        "SELECT room, origin, element_at(tags, 'row') AS row, cardinality(tags) AS many, value "
        "FROM h [1 HOUR]"
    )
    query = session.query(text, name="q").start("memory", trigger="available")
    session.finish()
    changes = query.changes().to_pylist()
    found = sorted((row["origin"], int(row["row"]), row["room"], row["value"], row["many"])
                   for row in changes if row["change"] == 1)  # fmt: skip
    assert found == sorted(
        (topic, number, str(row["room"]), row["value"], 2)
        for topic, part in ((one, rows.slice(0, 40)), (other, rows.slice(40)))
        for number, row in enumerate(part.to_pylist())
    )


def test_a_new_query_can_start_at_an_instant(topics: Topics, sessions: Sessions) -> None:
    topic, rows = topics.name("instant"), readings(1, seed=4)
    first_ms = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
    values = [as_json(row) for row in rows.to_pylist()]
    topics.put(topic, [(value, first_ms + number) for number, value in enumerate(values)])
    source = sources.kafka(topic, topics.servers, starting="2026-01-01 00:00:00.020")
    session = sessions.open()
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    assert answered(session) == expected(rows.slice(20))
    assert counts(session)["rows_in"] == len(values) - 20
