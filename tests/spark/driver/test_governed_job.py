"""A session on Spark with little memory narrows a window by itself, and goes on after a stop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from support.spark.stream_files import SECOND, Files, Sessions, embedded, read_sink, rows
from windrow import sinks

pytestmark = pytest.mark.spark

SUM = "SELECT room, COUNT(*) AS n, SUM(value) AS s FROM h [40 SECONDS] GROUP BY room ERROR (60%)"
BATCHES = 6


def steady(number: int) -> dict[str, pa.Table]:
    """Ten seconds of a busy stream."""
    times = number * 10 * SECOND + np.arange(500) * SECOND // 50
    return {"h": rows(*((f"r{n % 2}", int(time), float(n % 7)) for n, time in enumerate(times)))}


def check(answers: pa.Table, given: pa.Table) -> None:
    """Every answer is within its bound of what Python finds over all rows."""
    times, values = given["ts"].cast(pa.int64()).to_numpy(), given["value"].to_numpy()
    room = np.array(given["room"].to_pylist())
    at = answers["at"].cast(pa.int64()).to_pylist()
    for instant_us, row in list(zip(at, answers.to_pylist(), strict=True))[::37]:
        held = (times >= instant_us - 40 * SECOND) & (times <= instant_us) & (room == row["room"])
        for found, exact in ((row["n"], held.sum()), (row["s"], values[held].sum())):
            assert abs(found - exact) <= ((row["error_bound"] or 0) + 1e-9) * exact, row


@pytest.mark.long_spark
def test_a_window_is_narrowed_and_a_restart_does_not_show(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    batches = [steady(number) for number in range(BATCHES)]
    sink = sinks.parquet(tmp_path / "out")
    files.put_all(batches[:4])
    session = sessions.open(files, memory="48 KB")
    session.query(SUM, name="q").start(sink, trigger="available").await_end()
    (window,) = session.windows().to_pylist()
    assert window["level"] == "B"
    assert window["width"] < window["wanted"]
    assert window["bytes"] <= session.memory
    assert "B" in session.decisions()["case"].to_pylist()
    (asked,) = session.queries().to_pylist()
    assert (asked["error"], asked["level"]) == (60.0, "B")
    # Spark forgets that it had done the last batch, as after a crash between sink and commit.
    last = max(int(each.name) for each in (sessions.folder("q") / "spark/commits").glob("[0-9]*"))
    before = read_sink(tmp_path / "out")
    for name in (str(last), f".{last}.crc"):
        (sessions.folder("q") / "spark" / "commits" / name).unlink()
    again = sessions.open(files, memory="48 KB")
    query = again.query(SUM, name="q").start(sink, trigger="available")
    query.await_end()
    assert read_sink(tmp_path / "out").to_pylist() == before.to_pylist()
    (found,) = again.windows().to_pylist()
    assert found["width"] < found["wanted"]
    files.put_all(batches[4:])
    query.start(sink, trigger="available").finish()
    answers = read_sink(tmp_path / "out")
    assert set(answers["level"].to_pylist()) == {"A", "B"}
    assert answers.num_rows == 2 * BATCHES * 500 - 1
    check(answers, pa.concat_tables([each["h"] for each in batches]))


@pytest.mark.long_spark
def test_a_life_on_spark_is_that_in_one_process(files: Files, sessions: Sessions) -> None:
    batches = [steady(number) for number in range(3)]
    files.put_all(batches)
    text = "SELECT room, SUM(value) AS s FROM h [5 SECONDS] GROUP BY room DURATION [4, 12]"
    query = sessions.open(files).query(text).start("memory", trigger="available")
    query.finish()
    expected, _ = embedded(text, batches)
    assert query.answers().to_pylist() == expected.answers().to_pylist()
    assert query.result().to_pylist() == expected.result().to_pylist()
    assert query.progress()["clock_us"] == 12 * SECOND
    assert query.progress()["window_rows"] == 0
