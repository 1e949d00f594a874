"""Topics read in this process: every record once, from wherever a reader goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from support.servers.live_topics import LiveTopics, Record
from windrow import sources
from windrow.connectors.kafka import partitions
from windrow.connectors.kafka import reader as kafka_reader
from windrow.connectors.kafka.connector import KafkaSource
from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.errors import BindingError, DataError
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.kafka

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x int"), "ts")
TIME = "2026-01-01T00:00:00"
MOST = 1_000


def rows(start: int, stop: int, partition: int = 0) -> list[Record]:
    return [Record({"ts": TIME, "x": x}, partition=partition) for x in range(start, stop)]


@contextmanager
def opened(
    source: KafkaSource, position: Position | None = None, schema: StreamSchema = SCHEMA
) -> Iterator[LiveReader]:
    reader = source.open_live(schema, position)
    try:
        yield reader
    finally:
        reader.close()


def to_the_end(reader: LiveReader, most: int = MOST, patience: int = 100) -> list[Polled]:
    """All that comes until the reader is done, or nothing more comes."""
    polled = []
    for _ in range(patience):
        got = reader.poll(most, 1.0)
        if got is not None:
            polled.append(got)
        elif polled or reader.is_done:
            return polled
        if reader.is_done:
            return polled
    raise AssertionError("the reader does not come to an end")


def numbers(polled: list[Polled]) -> list[int]:
    return sorted(x for each in polled for x in each.rows.batch.column("x").to_pylist())


def test_each_record_once_whatever_a_reader_goes_on_from(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 3)
    for partition in range(3):
        live_topics.put(topic, rows(100 * partition, 100 * partition + 70, partition))
    source = sources.kafka(topic, live_topics.servers, bounded=True)
    with opened(source) as reader:
        polled = to_the_end(reader, most=17)
    assert all(each.rows.num_rows <= 17 for each in polled)
    all_rows = [*range(70), *range(100, 170), *range(200, 270)]
    assert numbers(polled) == all_rows
    for place, given in enumerate(polled):
        with opened(source, given.position) as reader:
            assert numbers(polled[: place + 1] + to_the_end(reader)) == all_rows
    assert polled[-1].lag is not None
    assert polled[-1].lag.has_caught_up
    assert polled[-1].position == {"offsets": {topic: [70, 70, 70]}}


def test_several_topics_are_one_stream(live_topics: LiveTopics) -> None:
    first, second = live_topics.made("a", 1), live_topics.made("b", 1)
    live_topics.put(first, rows(0, 5))
    live_topics.put(second, rows(10, 15))
    schema = StreamSchema("s", columns_of("ts timestamp, x int, t string"), "ts")
    source = sources.kafka(
        f"{first}, {second}", live_topics.servers, from_record={"t": "topic"}, bounded=True
    )
    with opened(source, schema=schema) as reader:
        polled = to_the_end(reader)
    found = {(row["t"], row["x"]) for each in polled for row in each.rows.batch.to_pylist()}
    assert found == {(first, x) for x in range(5)} | {(second, x) for x in range(10, 15)}


def test_what_stands_beside_a_value(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 1)
    headers = [("a", b"old"), ("b", b"\xc3\xa9"), ("a", b"new")]
    live_topics.put(
        topic,
        [
            Record({"x": 1}, b"12", time_ms=1_767_225_600_123, headers=headers),
            Record({"x": 2}, None, time_ms=1_767_225_600_124),
            Record({"x": 3}, b"no number", time_ms=1_767_225_600_125),
            Record({"x": 4}, b"14", time_ms=1_767_225_600_126, headers=[("a", b"\xff")]),
        ],
    )
    kinds = "ts timestamp, x int, k bigint, h map<string, string>, p int, o bigint"
    schema = StreamSchema("s", columns_of(kinds), "ts")
    parts = {"k": "key", "h": "headers", "p": "partition", "o": "offset"}
    source = sources.kafka(
        topic, live_topics.servers, time_from="record", from_record=parts, bounded=True
    )
    with opened(source, schema=schema) as reader:
        (polled,) = to_the_end(reader)
    good = [
        {name: value for name, value in row.items() if name != "ts"}
        for row in polled.rows.batch.to_pylist()
    ]
    assert good == [
        {"x": 1, "k": 12, "h": [("b", "é"), ("a", "new")], "p": 0, "o": 0},
        {"x": 2, "k": None, "h": [], "p": 0, "o": 1},
    ]
    assert polled.rows.batch.column("ts").cast("int64").to_pylist() == [
        1_767_225_600_123_000,
        1_767_225_600_124_000,
    ]
    assert [(bad.line, bad.column) for bad in polled.rows.bad] == [(2, "k"), (3, None)]


def test_where_a_new_query_begins(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 2)
    begin = 1_767_225_600_000  # 2026-01-01
    for partition in (0, 1):
        times = [begin + 1000 * step for step in range(10 - 5 * partition)]
        live_topics.put(
            topic,
            [
                Record({"ts": TIME, "x": 100 * partition + step}, None, partition, time)
                for step, time in enumerate(times)
            ],
        )

    def read(starting: str, *, later: bool = False) -> list[int]:
        source = sources.kafka(topic, live_topics.servers, starting=starting, bounded=not later)
        with opened(source) as reader:
            if later:
                live_topics.put(topic, rows(900, 903, 1))
            return numbers(to_the_end(reader))

    assert read("earliest") == [*range(10), *range(100, 105)]
    # Of partition 1 all are older: those to come are read.
    assert read("2026-01-01 00:00:06.5") == [7, 8, 9]
    assert read("latest", later=True) == [900, 901, 902]


def test_records_of_aborted_transactions_are_not_read(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 1)
    live_topics.put_in_transaction(topic, rows(0, 5), commits=True)
    live_topics.put_in_transaction(topic, rows(5, 9), commits=False)
    source = sources.kafka(topic, live_topics.servers, bounded=True)
    with opened(source) as reader:
        polled = to_the_end(reader)
    assert numbers(polled) == [*range(5)]
    live_topics.put_in_transaction(topic, rows(9, 12), commits=True)
    with opened(source, polled[-1].position) as reader:
        assert numbers(to_the_end(reader)) == [9, 10, 11]


def test_values_that_are_no_rows_are_named(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 1)
    records = [*rows(0, 2), Record(b"{"), Record(None), Record({"ts": TIME, "x": "a"}), *rows(2, 4)]
    live_topics.put(topic, records)
    source = sources.kafka(topic, live_topics.servers, bounded=True)
    with opened(source) as reader:
        (polled,) = to_the_end(reader)
    assert numbers([polled]) == [0, 1, 2, 3]
    where = f"topic {topic!r}, partition 0"
    assert [(bad.file, bad.line, bad.column) for bad in polled.rows.bad] == [
        (where, 2, None),
        (where, 3, None),
        (where, 4, "x"),
    ]
    strict = StreamSchema("s", SCHEMA.columns, "ts", on_bad_row="fail")
    with (
        opened(source, schema=strict) as reader,
        pytest.raises(DataError, match=rf"WD870.*{where}, record 2: it is not") as raised,
    ):
        to_the_end(reader)
    assert "SET ASIDE" in (raised.value.hint or "")


def test_partitions_that_are_added_are_read_from_their_beginning(
    live_topics: LiveTopics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_reader, "PARTITIONS_S", 0.0)
    topic = live_topics.made("in", 1)
    live_topics.put(topic, rows(0, 3))
    source = sources.kafka(topic, live_topics.servers, starting="latest")
    with opened(source) as reader:
        live_topics.widen(topic, 2)
        live_topics.put(topic, [*rows(10, 12), *rows(20, 22, 1)])
        polled: list[Polled] = []
        for _ in range(30):
            got = reader.poll(MOST, 1.0)
            polled += [] if got is None else [got]
            if len(numbers(polled)) == 4:
                break
    assert numbers(polled) == [10, 11, 20, 21]
    # One that came between two runs is read from its beginning, too.
    live_topics.widen(topic, 3)
    live_topics.put(topic, rows(30, 32, 2))
    with opened(source, polled[-1].position) as reader:
        assert numbers(to_the_end(reader)) == [30, 31]


def test_the_group_is_told_what_is_confirmed(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 2)
    live_topics.put(topic, [*rows(0, 4), *rows(4, 7, 1)])
    source = sources.kafka(topic, live_topics.servers, group="watchers", bounded=True)
    with opened(source) as reader:
        polled = to_the_end(reader)
        assert all(offset < 0 for offset in live_topics.committed("watchers", topic, 2))
        reader.confirmed(polled[-1].position)
    assert live_topics.committed("watchers", topic, 2) == [4, 3]


def test_records_that_are_gone_are_told(live_topics: LiveTopics) -> None:
    topic = live_topics.made("in", 1)
    live_topics.put(topic, rows(0, 10))
    live_topics.delete_before(topic, 0, 6)
    source = sources.kafka(topic, live_topics.servers, bounded=True)
    for next_ in (3, 11):
        position: dict[str, Any] = {"offsets": {topic: [next_]}}
        with pytest.raises(DataError, match=rf"WD872.*6 to 9, and {next_} is the next"):
            source.open_live(SCHEMA, position)
    with pytest.raises(DataError, match="no such partition"):
        source.open_live(SCHEMA, {"offsets": {topic: [6, 0]}})
    with opened(source, {"offsets": {topic: [6]}}) as reader:
        assert numbers(to_the_end(reader)) == [6, 7, 8, 9]


def test_what_cannot_be_read_is_told(live_topics: LiveTopics) -> None:
    nowhere = sources.kafka("nowhere", live_topics.servers)
    with pytest.raises(DataError, match=r"WD871.*'nowhere'"):
        nowhere.open_live(SCHEMA, None)
    odd = sources.kafka("odd", live_topics.servers, options={"kafka.odd": "1"})
    with pytest.raises(BindingError, match=r"WB871.*odd"):
        odd.open_live(SCHEMA, None)


def test_brokers_that_do_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "ASKING_S", 0.5)
    silent = sources.kafka("in", "127.0.0.1:1")
    with pytest.raises(DataError, match="WD481"):
        silent.check(SCHEMA)
    with pytest.raises(TransientError, match=r"kafka\('in'\)"):
        silent.open_live(SCHEMA, None)
