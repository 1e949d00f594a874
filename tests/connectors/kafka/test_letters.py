"""Bad rows of a stream in a topic of their own."""

from __future__ import annotations

import base64

import pytest

import windrow
from support.servers.live_topics import LiveTopics, Record, values_of
from windrow import sources
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.kafka


def test_bad_records_go_to_a_topic(live_topics: LiveTopics) -> None:
    topic, bad = live_topics.made("in", 1), live_topics.made("bad", 1)
    live_topics.put(topic, [Record({"ts": "2026-01-01", "x": 1}), Record(b"\xff\0"), Record(b"{")])
    schema = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
    session = windrow.connect()
    into = f"kafka://{live_topics.servers}/{bad}"
    session.stream("s", schema.types, time="ts", bad_rows_into=into)
    reader = sources.kafka(topic, live_topics.servers, bounded=True).open_live(schema, None)
    while not reader.is_done:
        polled = reader.poll(100, 1.0)
        if polled is not None:
            session.push("s", polled.rows)
    reader.close()
    messages = live_topics.read(bad, 1)
    assert {each.key() for each in messages} == {b"s"}
    told = values_of(messages)
    assert [(each["number"], base64.b64decode(each["raw"])) for each in told] == [
        (1, b"\xff\0"),
        (2, b"{"),
    ]
    assert {each["place"] for each in told} == {f"topic {topic!r}, partition 0"}
