"""Values of all types in records: read, carried through a query, and written again."""

from __future__ import annotations

import json

import pytest

from support.nested_forms import COLUMNS, JSON_ROW
from support.servers.kafka_topics import Topics
from support.spark.stream_files import Sessions
from windrow import sinks, sources
from windrow.errors import UnsupportedError

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

WRITTEN = {
    **JSON_ROW,
    "ts": "2026-01-01T00:00:00.000000Z",
    "big": 1234567890123456789012345678.5,
    "months": 14,
    "local": "2026-01-01T12:00:00.000000",
    "ar": [{"p": -1.5, "q": "2026-01-01T00:00:00.000000Z", "r": "1969-12-31"}, None],
}


def test_every_type_is_read_from_records_and_written_to_records(
    topics: Topics, sessions: Sessions
) -> None:
    topic, into = topics.name("all"), topics.name("into")
    values = [JSON_ROW, {**JSON_ROW, "big": 1.5}, {**JSON_ROW, "a": "no array"}]
    topics.put(topic, [(json.dumps(value).encode(), None) for value in values])
    session = sessions.open(buckets=2)
    source = sources.kafka(topic, topics.servers)
    session.stream("n", COLUMNS, time="ts", source=source)
    query = session.query("SELECT * FROM n [3 SECONDS]", name="q")
    query.start(sinks.kafka(into, topics.servers, feed="changes"), trigger="available")
    session.finish()
    written = [record["value"] for record in topics.read(into)]
    assert {record.pop("change") for record in written} == {1}
    assert {record.pop("at") for record in written} == {WRITTEN["ts"]}
    assert sorted(written, key=lambda row: row["big"]) == [{**WRITTEN, "big": 1.5}, WRITTEN]
    (counts,) = session.ledger().to_pylist()
    assert (counts["rows_in"], counts["applied"], counts["bad_time"]) == (3, 2, 1)
    with pytest.raises(UnsupportedError, match=r"WU723.*'m'.*MAP<INT, INT>"):
        session.stream("o", "ts timestamp, m map<int, int>", time="ts", source=source)
