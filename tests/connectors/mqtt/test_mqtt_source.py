"""Topics of an MQTT broker: nothing is lost, whatever goes away; what comes again is known to."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

import windrow
from support.servers.mqtt_broker import MqttBroker, mqtt_broker, program
from windrow import sources
from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.mqtt.connector import MqttSource
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.jobs.job import job_of
from windrow.schema import StreamSchema, columns_of

pytestmark = pytest.mark.mqtt

SCHEMA = StreamSchema("s", columns_of("ts timestamp, x int, room string"), "ts")
PATIENCE_S = 20.0


@pytest.fixture
def mqtt() -> Iterator[MqttBroker]:
    found = program()
    if found is None:
        pytest.skip("mosquitto is not installed; `make test-mqtt` says how to get it")
    with mqtt_broker(found) as made:
        yield made


def payload(x: int) -> bytes:
    return json.dumps({"ts": "2026-01-01T00:00:00", "x": x}).encode()


def rooms(broker: MqttBroker, **given: Any) -> MqttSource:
    told = {"client": "a test", "from_message": {"room": "topic"}, **given}
    return sources.mqtt("open/rooms/+/temp", broker.address, **told)


@contextmanager
def opened(source: MqttSource, position: Position | None = None) -> Iterator[LiveReader]:
    reader = source.open_live(SCHEMA, position)
    try:
        yield reader
    finally:
        reader.close()


def polled(reader: LiveReader, rows: int, most: int = 1_000) -> list[Polled]:
    """What comes until there are so many rows."""
    found: list[Polled] = []
    limit = time.monotonic() + PATIENCE_S
    while sum(each.rows.num_rows for each in found) < rows:
        assert time.monotonic() < limit, found
        got = reader.poll(most, 0.2)
        found += [] if got is None else [got]
    return found


def until_it_fails(reader: LiveReader) -> None:
    for _ in range(50):
        reader.poll(10, 0.1)


def numbers(found: list[Polled]) -> list[int]:
    return [x for each in found for x in each.rows.batch.column("x").to_pylist()]


def test_topics_with_wildcards_and_what_is_no_row(mqtt: MqttBroker) -> None:
    with opened(rooms(mqtt)) as reader:
        assert reader.poll(10, 0.1) is None
        mqtt.put("open/rooms/lab/temp", [payload(1), b"{", payload(2)])
        mqtt.put("open/rooms/lab/other", [payload(9)])
        mqtt.put("open/rooms/hall/temp", [payload(3)])
        found = polled(reader, 4, most=2)
    rows = [row for each in found for row in each.rows.batch.to_pylist()]
    assert [(row["x"], row["room"].split("/")[2]) for row in rows] == [
        (1, "lab"),
        (2, "lab"),
        (3, "hall"),
    ]
    bad = [each for one in found for each in one.rows.bad]
    assert [(each.file, each.line) for each in bad] == [("topic 'open/rooms/lab/temp'", 2)]


def test_what_comes_while_nobody_reads_is_kept(mqtt: MqttBroker) -> None:
    with opened(rooms(mqtt)) as reader:
        mqtt.put("open/rooms/lab/temp", [payload(x) for x in range(300)])
        found = polled(reader, 300)
        # Of those that are acknowledged the broker knows no more.
        reader.confirmed({"messages": 200})
    mqtt.put("open/rooms/lab/temp", [payload(300)])
    assert numbers(found) == [*range(300)]
    with opened(rooms(mqtt), {"messages": 200}) as reader:
        again = polled(reader, 101)
        assert again[-1].position == {"messages": 301}
        reader.confirmed(again[-1].position)
    assert sorted(numbers(again)) == [*range(200, 301)]
    with opened(rooms(mqtt), again[-1].position) as reader:
        assert reader.poll(10, 0.5) is None


def test_a_broker_that_goes_away_gives_what_it_kept(mqtt: MqttBroker) -> None:
    with opened(rooms(mqtt)) as reader:
        mqtt.put("open/rooms/lab/temp", [payload(1)])
        (first,) = polled(reader, 1)
        reader.confirmed(first.position)
        reader.poll(10, 0.2)
        mqtt.stop()
        with pytest.raises(TransientError, match=r"127\.0\.0\.1"):
            until_it_fails(reader)
    with pytest.raises(TransientError, match="refused"):
        rooms(mqtt).open_live(SCHEMA, first.position)
    mqtt.start()
    mqtt.put("open/rooms/lab/temp", [payload(2)])
    with opened(rooms(mqtt), first.position) as reader:
        assert numbers(polled(reader, 1)) == [2]


def test_without_acknowledgement_and_by_arrival(mqtt: MqttBroker) -> None:
    mqtt.put("open/rooms/lab/temp", [b'{"x": 7}'], retain=True)
    source = rooms(mqtt, acknowledged=False, time_from="arrival")
    assert source.guarantee == "at most once"
    with opened(source) as reader:
        found = polled(reader, 1)
        reader.confirmed(found[-1].position)
    (row,) = found[0].rows.batch.to_pylist()
    assert row["x"] == 7
    assert abs(row["ts"].timestamp() - time.time()) < PATIENCE_S


def test_another_client_of_the_same_name_is_named(mqtt: MqttBroker) -> None:
    # This broker only closes the connection; others say why before they do.
    with opened(rooms(mqtt)) as reader, opened(rooms(mqtt)), pytest.raises(TransientError):
        until_it_fails(reader)
    with opened(rooms(mqtt)) as reader:
        client: Any = reader._client  # type: ignore[attr-defined]  # a broker's part is played
        code = ReasonCode(PacketTypes.DISCONNECT, "Session taken over")
        client.on_disconnect(client, None, None, code, None)
        mqtt.stop()
        with pytest.raises(DataError, match=r"WD878.*taken over") as raised:
            until_it_fails(reader)
        assert "a client of its own" in (raised.value.hint or "")


def test_a_session_counts_all_of_them(mqtt: MqttBroker, tmp_path: Path) -> None:
    total = 0
    for run in range(3):
        session = windrow.connect(path=tmp_path / "state")
        session.stream(
            "s", "ts timestamp, x int, room string", time="ts", lateness=1, source=rooms(mqtt)
        )
        session.start_sources()
        limit = time.monotonic() + PATIENCE_S
        while session.progress()["sources"]["s"]["state"] != "live":
            assert time.monotonic() < limit, session.progress()
            time.sleep(0.02)
        mqtt.put("open/rooms/lab/temp", [payload(x) for x in range(500)])
        total += 500
        while session.ledger()["rows_in"].to_pylist()[0] < total:
            assert time.monotonic() < limit, session.progress()
            time.sleep(0.02)
        if run < 2:
            mqtt.put("open/rooms/lab/temp", [payload(0)])
        total += 1
        session.stop_sources()
        session.stop()
    # At least once: what was read and not acknowledged when a run ended may count twice.
    assert session.ledger()["rows_in"].to_pylist()[0] >= total - 1


def test_a_broker_that_refuses(mqtt: MqttBroker) -> None:
    silent = sources.mqtt("open/#", "mqtt://127.0.0.1:1", "a test")
    with pytest.raises(TransientError):
        silent.open_live(SCHEMA, None)
    tls = sources.mqtt("open/#", mqtt.address.replace("mqtt:", "mqtts:"), "a", ca="/no/such.pem")
    with pytest.raises(DataError, match=r"WD878.*certificates"):
        tls.open_live(SCHEMA, None)


def test_sources_that_cannot_be() -> None:
    good = {"topic": "t", "server": "mqtt://h", "client": "c"}
    for given in (
        {"topic": ""},
        {"client": ""},
        {"server": "h:1883"},
        {"server": "mqtt://h:port"},
        {"format": "xml"},
        {"format": "avro"},
        {"format": "confluent-json"},
        {"time_from": "record"},
        {"kept_for": "long"},
        {"from_message": {"x": "payload"}},
    ):
        with pytest.raises(BindingError, match="WB878"):
            sources.mqtt(**{**good, **given})  # type: ignore[arg-type]
    with pytest.raises(BindingError, match=r"WB878.*'y'"):
        sources.mqtt("t", "mqtt://h", "c", from_message={"y": "topic"}).check(SCHEMA)
    with pytest.raises(UnsupportedError, match="WU871"):
        sources.mqtt("t", "mqtt://h", "c").check_on_spark(SCHEMA)
    secret = sources.mqtt("t", "mqtt://me:s3cret@h", "c")
    assert "s3cret" not in repr(secret)
    assert secret.parsed_server().password == "s3cret"


def test_scripts_describe_what_python_describes() -> None:
    script = """CREATE STREAM s (ts TIMESTAMP, x INT, room STRING) TIME ts FROM mqtt('a/+, b/#',
        server = 'mqtt://h:1', client = 'c', acknowledged = FALSE, from_message = 'room = Topic');
        CREATE QUERY q AS SELECT COUNT(*) AS n FROM s [1 HOUR] INTO memory();"""
    given = sources.mqtt(
        "a/+, b/#", "mqtt://h:1", "c", acknowledged=False, from_message={"room": "topic"}
    )
    assert job_of(script).streams["s"].source == given
    assert given.topics == ["a/+", "b/#"]
    with pytest.raises(BindingError, match="WB878"):
        job_of(script.replace("room = Topic", "Topic"))
