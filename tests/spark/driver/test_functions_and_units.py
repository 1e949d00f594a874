"""On Spark: functions of users go to the workers with their query; times may be numbers."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest

import windrow
from support.spark.stream_files import Files, Sessions, embedded, random_batches

pytestmark = pytest.mark.spark

CALLING = """SELECT upper_of(h.room) AS room, SUM(twice(h.value)) AS t FROM h [8 SECONDS]
             WHERE is_large(value) GROUP BY upper_of(h.room) HAVING is_large(COUNT(*))"""
PLAIN = """SELECT UPPER(h.room) AS room, SUM(2 * h.value) AS t FROM h [8 SECONDS]
           WHERE value > 1 GROUP BY UPPER(h.room) HAVING COUNT(*) > 1"""


@pytest.mark.long_spark
def test_functions_go_to_the_workers_and_are_in_no_checkpoint(
    files: Files, sessions: Sessions
) -> None:
    batches = random_batches(3, seed=5)
    files.put_all(batches)
    session = sessions.open(buckets=2)
    session.stream("h", files.stream("h", 1), time="ts")
    least = 1
    session.function("twice", lambda x: 2 * x, returns="double", takes="double")
    session.function("is_large", lambda x: x > least, returns="boolean")
    session.function("upper_of", pc.utf8_upper, returns="string", vectorised=True)
    with pytest.raises(windrow.BindingError, match="WB755"):
        session.function("twice", abs, returns="double")
    query = session.query(CALLING, name="calling").start("memory", trigger="available")
    session.finish()
    expected, _ = embedded(PLAIN, batches, "0 seconds")
    assert query.answers().to_pylist() == expected.answers().to_pylist()
    other = session.query("SELECT SUM(twice(value)) AS t FROM h [8 SECONDS]", name="other")
    with pytest.raises(windrow.UnsupportedError, match="WU794"):
        session.start({other.name: "memory"})


def test_times_may_be_numbers_and_what_only_processes_have_is_refused(
    sessions: Sessions, tmp_path: Path
) -> None:
    (tmp_path / "numbers").mkdir()
    lines = [f'{{"ts": {1_767_225_600_000 + 1000 * n}, "x": {n}}}' for n in range(5)]
    (tmp_path / "numbers" / "a.jsonl").write_text("\n".join(lines))
    session = sessions.open(buckets=2)
    source = windrow.sources.jsonl(str(tmp_path / "numbers"))
    session.stream("s", "ts timestamp, x int", time="ts", unit="ms", source=source)
    query = session.query("SELECT COUNT(*) AS n, MAX(ts) AS last FROM s [2 SECONDS]")
    query.start("memory", trigger="available")
    session.finish()
    (row,) = query.result().to_pylist()
    assert (row["n"], str(row["last"])) == (3, "2026-01-01 00:00:04+00:00")
    within = "timestamp AS ts", "array(make_ym_interval(1, 0)) AS a"
    frame = sessions.spark.readStream.format("rate").load().selectExpr(*within)
    with pytest.raises(windrow.UnsupportedError, match=r"WU724.*column 'a'"):
        session.stream("t", frame, time="ts")
    for option in ({"idle_after": 5}, {"keep": 5}, {"unknown_fields": "refuse"}):
        with pytest.raises(windrow.UnsupportedError, match="WU752"):
            session.stream("t", "ts timestamp, x int", time="ts", source=source, **option)
