"""Files that grow in any pieces, are rotated, polled and killed at any point: the same answers.

The slow twin pushes all rows at once.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.connectors.files import live_text
from windrow.connectors.files.live_text import LiveText
from windrow.durable.folder import GrowingFile
from windrow.embedded.live_loop import LiveLoop
from windrow.embedded.session import EmbeddedSession

START = datetime(2026, 1, 1, tzinfo=UTC)
COLUMNS = "ts timestamp, k string, x bigint"
QUERIES = {
    "grouped": "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s [20 SECONDS] GROUP BY k",
    "ticks": "SELECT MAX(x) AS x FROM s [7 SECONDS] EVERY (5 SECONDS)",
}


class KilledError(BaseException):
    """The process has ended here."""


class Wall:
    """A clock of the test's own."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Process:
    """A session in a folder that follows a file, until it is killed."""

    def __init__(self, folder: Path, wall: Wall) -> None:
        self.session = windrow.connect(path=folder / "state")
        source = windrow.sources.jsonl(folder / "log", follow=True)
        self.session.stream("s", COLUMNS, time="ts")
        self.queries = {name: self.session.query(text, name) for name, text in QUERIES.items()}
        schema = self.session._ingest.streams["s"].schema
        given = (self.session._receiver(), {"s": (schema, source)}, self.session._ingest.positions)
        self.loop = LiveLoop(*given, self.session.memory, failed=self.failed, monotonic=wall)
        self.loop.begin()
        (self.feed,) = self.loop.feeds
        self.feed._reader = LiveText(schema, source, self.feed.position, wall)

    def failed(self, _: str, problem: Exception) -> None:
        raise problem

    def poll(self, times: int) -> None:
        for _ in range(times):
            self.feed.step(0, waits=False)

    def take(self, times: int = 1_000) -> None:
        for _ in range(times):
            if not self.loop.step(0):
                return

    def end(self) -> None:
        """What a kill leaves: the files, and nothing of what was in memory."""
        self.feed._close_reader()
        self.session.journal.is_open = False
        self.session._folder.release()
        if self.session._ticking is not None:
            self.session._ticking.stop()


def answers_of(session: EmbeddedSession, queries: dict[str, Any]) -> dict[str, list[Any]]:
    session.finish()
    return {name: query.answers().to_pylist() for name, query in queries.items()}


def pushed(rows: list[tuple[int, str, int]]) -> dict[str, list[Any]]:
    session = windrow.connect()
    session.stream("s", COLUMNS, time="ts")
    queries = {name: session.query(text, name) for name, text in QUERIES.items()}
    times = [START + timedelta(seconds=second) for second, _, _ in rows]
    columns = [pa.array(times, pa.timestamp("us", tz="UTC"))]
    columns += [pa.array([row[1] for row in rows], pa.string())]
    columns += [pa.array([row[2] for row in rows], pa.int64())]
    if rows:
        session.push("s", pa.table(columns, names=["ts", "k", "x"]))
    return answers_of(session, queries)


@st.composite
def logs(draw: st.DrawFn) -> list[tuple[int, str, int]]:
    """Rows in the order of their times, ties among them."""
    gaps = draw(st.lists(st.sampled_from([0, 0, 1, 3, 30]), max_size=25))
    at, rows = 0, []
    for number, gap in enumerate(gaps):
        at += gap
        rows.append((at, draw(st.sampled_from("ab")), number))
    return rows


STEPS = st.one_of(
    st.tuples(st.just("write"), st.integers(1, 300)),
    st.tuples(st.just("poll"), st.integers(1, 3)),
    st.tuples(st.just("take"), st.integers(1, 3)),
    st.tuples(st.sampled_from(["rename", "truncate", "kill", "save"]), st.just(1)),
    st.tuples(st.just("kill in writing"), st.integers(0, 3)),
)


def rotated(folder: Path, how: str, number: int) -> None:
    log = folder / "log"
    if not log.exists():
        return
    copy = folder / f"log.{number}"
    if how == "rename":
        log.rename(copy)
    else:
        shutil.copy(log, copy)
        os.truncate(log, 0)


@given(logs(), st.lists(STEPS, max_size=30), st.sampled_from([64, 200, 1 << 20]))
@settings(deadline=None, max_examples=25)
def test_any_growth_rotation_and_kill_gives_the_answers_of_one_push(
    rows: list[tuple[int, str, int]], steps: list[tuple[str, int]], block: int
) -> None:
    text = b"".join(
        json.dumps({"ts": str(START + timedelta(seconds=second)), "k": k, "x": x}).encode() + b"\n"
        for second, k, x in rows
    )
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patched:
        patched.setattr(live_text, "BLOCK_BYTES", block)
        folder, wall, written = Path(place), Wall(), 0
        process = Process(folder, wall)
        for number, (step, count) in enumerate(steps):
            wall.now_s += 1
            if step == "write":
                with (folder / "log").open("ab") as file:
                    file.write(text[written : written + count])
                written = min(len(text), written + count)
            elif step == "poll":
                process.poll(count)
            elif step == "take":
                process.take(count)
            elif step == "save":
                process.session.save()
            elif step == "kill":
                process.end()
                process = Process(folder, wall)
            elif step == "kill in writing":
                process = killed_in_writing(process, folder, wall, count)
            elif text[:written].endswith(b"\n") and not process.feed._queue.first("s"):
                # Who rotates ends lines, and leaves a reader the time to see it.
                process.poll(1)
                rotated(folder, step, number)
                process.poll(1)
        with (folder / "log").open("ab") as file:
            file.write(text[written:])
        for _ in range(40):
            wall.now_s += 1
            process.poll(1)
            process.take()
        assert answers_of(process.session, process.queries) == pushed(rows)
        process.session.stop()


def killed_in_writing(process: Process, folder: Path, wall: Wall, count: int) -> Process:
    """The process dies at one of the next writes of its log."""
    left = [count]
    append = GrowingFile.append

    def dying(self: GrowingFile, pieces: list[bytes]) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KilledError
        append(self, pieces)

    GrowingFile.append = dying  # type: ignore[method-assign,assignment]
    try:
        process.poll(2)
        process.take()
    except KilledError:
        pass
    finally:
        GrowingFile.append = append  # type: ignore[method-assign]
    process.end()
    return Process(folder, wall)
