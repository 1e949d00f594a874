"""A query on Spark is replaced: it keeps the rows of its windows, and others do not notice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.spark.stream_files import COLUMNS, Files, Sessions, random_batches
from windrow import sinks
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, CheckpointError, WindrowWarning
from windrow.spark.driver.bundle import Bundle

pytestmark = [pytest.mark.spark, pytest.mark.long_spark]

JOIN = "SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS] WHERE h.room = c.room"
FIRST = f"{JOIN} GROUP BY h.room"
SECOND = f"{JOIN.replace('COUNT(*) AS n', 'COUNT(*) AS n, 2 * COUNT(*) AS m')} GROUP BY h.room"
SHORTER = SECOND.replace("[8 SECONDS]", "[6 SECONDS]")
LONGER = FIRST.replace("[8 SECONDS]", "[9 SECONDS]")
OTHER = FIRST.replace("[5 SECONDS]", "[7 SECONDS]")
Batches = list[dict[str, pa.Table]]


def in_process(batches: Batches, *texts: str) -> tuple[list[Any], list[Any]]:
    """Answers of a query that is replaced every two batches, and of another one."""
    session = EmbeddedSession()
    for stream in ("h", "c"):
        session.stream(stream, COLUMNS, time="ts")
    query, other, given = session.query(texts[0], name="q"), session.query(OTHER), []
    for number, batch in enumerate(batches):
        if number and number % 2 == 0:
            given += query.answers().to_pylist()
            query = session.replace("q", texts[number // 2])
        for stream, table in batch.items():
            session.push(stream, table)
    session.finish()
    return given + query.answers().to_pylist(), other.answers().to_pylist()


def written(folder: Path) -> list[Any]:
    return [row for file in sorted(folder.iterdir()) for row in pq.read_table(file).to_pylist()]


def test_one_of_several_is_replaced(
    files: Files, sessions: Sessions, tmp_path: Path, monkeypatch: Any
) -> None:
    batches = random_batches(6, seed=81)
    out, other = sinks.parquet(str(tmp_path / "out")), sinks.parquet(str(tmp_path / "other"))
    begun = {"q": out, "other": other}

    files.put_all(batches[:2])
    session = sessions.open(files, buckets=2)
    for name, text in (("q", FIRST), ("other", OTHER)):
        session.query(text, name=name)
    for query in session.start(begun, trigger="available").values():
        query.await_end()
    assert session.recorded() == ["q", "other"]
    session.stop()

    # The driver dies when the state is written, and the operator has the query still.
    files.put_all(batches[2:4])
    session = sessions.open(files, buckets=2)
    with monkeypatch.context() as patched:
        patched.setattr(Bundle, "let_go", killed)
        with pytest.raises(KeyboardInterrupt):
            session.replace("q", SECOND)
    session.stop()
    session = sessions.open(files, buckets=2)
    with pytest.raises(CheckpointError, match=r"(?s)WC425.*window of h"):
        session.replace("q", LONGER)
    session.query(OTHER, name="other")
    session.replace("q", SECOND)
    for query in session.start(begun, trigger="available").values():
        query.await_end()
    assert session.recorded() == ["other"]
    session.stop()

    # Once more, from an operator of its own, while all of them run.
    session = sessions.open(files, buckets=2)
    for name, text in (("q", SECOND), ("other", OTHER)):
        session.query(text, name=name)
    session.start(begun)
    query = session.replace("q", SHORTER)
    assert query.is_running
    files.put_all(batches[4:])
    session.finish()
    session.stop()
    expected = in_process(batches, FIRST, SECOND, SHORTER)
    assert (written(tmp_path / "out"), written(tmp_path / "other")) == expected
    names = sorted(each.name for each in (tmp_path / "out").iterdir())
    assert len(names) == len(set(names)) >= 3


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_one_whose_windows_differ_begins_anew(files: Files, sessions: Sessions) -> None:
    batches = random_batches(4, seed=82)
    files.put_all(batches[:2])
    session = sessions.open(files, buckets=2)
    with pytest.raises(BindingError, match="WB530"):
        session.replace("q", FIRST)
    query = session.query(FIRST, name="q").start("memory")
    query.run.catch_up()
    held = query.answers().num_rows
    with pytest.raises(CheckpointError, match="WC425"):
        session.replace("q", LONGER)
    assert session["q"] is query
    assert query.is_running
    with pytest.warns(WindrowWarning, match=r"'q' begins anew, with empty windows: .*window of h"):
        anew = session.replace("q", LONGER, begin_anew=True)
    files.put_all(batches[2:])
    session.finish()
    expected, _ = in_process(batches, LONGER, LONGER)
    assert held
    assert anew.answers().to_pylist() == expected
    assert (sessions.folder("q") / "generation-1").exists()
    assert session.stands("q")
