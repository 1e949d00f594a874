"""What batches, late rows and heartbeats do to answers on Spark; the forms: test_spark_forms."""

from __future__ import annotations

import pyarrow as pa
import pytest

from support import damaged_columns
from support.spark.stream_files import (
    SECOND,
    Files,
    Sessions,
    embedded,
    random_batches,
    rows,
)

pytestmark = pytest.mark.spark

GROUPED = """SELECT h.room, COUNT(*) AS n, AVG(c.value) AS m FROM h [8 SECONDS], c [8 SECONDS]
             WHERE h.room = c.room AND h.value > 2 GROUP BY h.room HAVING COUNT(*) > 3"""


@pytest.mark.parametrize("files_per_batch", [1, 100])
def test_batches_do_not_show(files: Files, sessions: Sessions, files_per_batch: int) -> None:
    batches = random_batches(4, seed=12, disorder_us=2 * SECOND)
    files.put_all(batches)
    session = sessions.open(buckets=3)
    for stream in ("h", "c"):
        source = files.stream(stream, files_per_batch)
        session.stream(stream, source, time="ts", lateness="3 seconds")
    query = session.query(GROUPED).start("memory", trigger="available")
    session.finish()
    expected, _ = embedded(GROUPED, batches, "3 seconds")
    assert query.answers().to_pylist() == expected.answers().to_pylist()
    assert query.progress()["batch_id"] == (4 if files_per_batch == 1 else 1)


@pytest.mark.long_spark
def test_late_and_absurd_rows_are_set_aside_counted_and_kept(
    files: Files, sessions: Sessions
) -> None:
    files.lateness = "2 seconds"
    batches = [
        {"h": rows(("a", 10 * SECOND, 1.0), ("a", 9 * SECOND, 1.0))},
        {"h": rows(("late", 7 * SECOND, 9.0), ("a", 8 * SECOND, 1.0), ("filtered", SECOND, -1.0))},
        {
            "h": rows(
                ("a", 253_370_764_800 * SECOND, 1.0), ("a", None, 1.0), ("a", 20 * SECOND, 1.0)
            )
        },
    ]
    damaged = rows(("", 11 * SECOND, 1.0))
    place = damaged.schema.get_field_index("room")
    batches += [{"h": damaged.set_column(place, "room", damaged_columns.texts([b"\xff"]))}]
    files.put_all(batches)
    session = sessions.open(files)
    text = "SELECT COUNT(*) AS n FROM h [5 SECONDS] WHERE value > 0 AND room <> 'b'"
    query = session.query(text).start("memory", trigger="available")
    query.await_end()
    waiting = session.ledger().to_pylist()[0]
    assert (waiting["rows_in"], waiting["applied"], waiting["waiting"]) == (9, 3, 1)
    session.finish()
    expected, twin = embedded(text, batches, files.lateness)
    assert query.answers().to_pylist() == expected.answers().to_pylist()
    ledger = session.ledger().to_pylist()[0]
    assert ledger.pop("query") == query.name
    assert ledger == next(row for row in twin.ledger().to_pylist() if row["stream"] == "h")
    assert (ledger["late"], ledger["bad_time"], ledger["waiting"]) == (2, 2, 0)
    assert (ledger["bad_value"], session.bad_rows("h").num_rows) == (1, 3)
    late = session.late("h").column("ts").cast(pa.int64()).to_pylist()
    assert late == [7 * SECOND, SECOND]
    assert query.bad_time("h").num_rows == 2
    assert query.progress()["clock_us"] == 20 * SECOND


@pytest.mark.long_spark
def test_a_heartbeat_moves_a_running_query(files: Files, sessions: Sessions) -> None:
    files.put("h", rows(("a", SECOND, 1.0), ("a", 3 * SECOND, 1.0)))
    session = sessions.open(files)
    query = session.query(
        "SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [8 SECONDS] "
        "WHERE h.room = c.room GROUP BY h.room EVERY (2 SECONDS)"
    )
    query.start("memory", trigger="100 milliseconds")
    query.run.catch_up()
    assert query.progress()["clock_us"] < 0
    session.advance("c", to="1970-01-01 00:00:09")
    query.run.catch_up()
    assert query.progress()["clock_us"] == 3 * SECOND - 1
    session.advance("h", to=7 * SECOND)
    query.run.catch_up()
    assert query.progress()["clock_us"] == 7 * SECOND
    files.put("c", rows(("a", 10 * SECOND, 1.0)))
    session.finish()
    assert query.is_running
    assert query.progress()["clock_us"] == 10 * SECOND
    assert [row["n"] for row in query.result().to_pylist()] == [1]
    query.stop()
    assert not query.is_running
