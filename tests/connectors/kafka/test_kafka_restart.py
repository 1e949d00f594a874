"""From topic to topic through restarts: the records are those of an undisturbed run."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support.servers.kafka_topics import Topics
from support.spark.stream_files import COLUMNS, Sessions, embedded, random_batches
from windrow import sinks, sources
from windrow.spark.driver.session import SparkWindrowSession

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

COUNTS = "SELECT room, COUNT(*) AS n, SUM(value) AS total FROM h [8 SECONDS] GROUP BY room"
LATENESS = "20 seconds"


def test_each_answer_is_there_once_though_batches_are_given_again(
    topics: Topics, sessions: Sessions
) -> None:
    rows = pa.concat_tables([batch["h"] for batch in random_batches(4, seed=11)])
    source, target = topics.name("in"), topics.name("out")
    for start, end in ((0, 80), (80, 160), (160, 240)):
        topics.put_rows(source, rows.slice(start, end - start))
        session = opened(sessions, topics, source)
        sink = sinks.kafka(target, topics.servers)
        query = session.query(COUNTS, name="q").start(sink, trigger="available")
        query.await_end()
        session.stop()
        # Spark forgets that it had done the last batch, as after a crash between sink and commit.
        last = query.progress()["batch_id"]
        (sessions.folder("q") / "spark" / "commits" / str(last)).unlink()
        (sessions.folder("q") / "spark" / "commits" / f".{last}.crc").unlink()
    session = opened(sessions, topics, source)
    session.query(COUNTS, name="q").start(sinks.kafka(target, topics.servers), trigger="available")
    session.finish()
    wanted, _ = embedded(COUNTS, [{"h": rows}], LATENESS)
    records = topics.read(target)
    shown = [(each["value"]["at"], each["value"]["room"], each["value"]["n"]) for each in records]
    answers = wanted.answers().to_pylist()
    expected = [(_text(each["at"]), each["room"], each["n"]) for each in answers]
    assert sorted(shown) == sorted(expected)
    # One checkpoint numbers batches through all restarts, so that no two records have one name.
    assert len({tuple(each["headers"].values()) for each in records}) == len(records)


def opened(sessions: Sessions, topics: Topics, topic: str) -> SparkWindrowSession:
    session = sessions.open()
    source = sources.kafka(topic, topics.servers, max_offsets_per_batch=40)
    session.stream("h", COLUMNS, time="ts", lateness=LATENESS, source=source)
    return session


def _text(at: object) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"
