"""Sources that live, in a session: one loop, positions beside the rows, failures that pass."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.connectors.contract import Source
from windrow.connectors.live import Lag, LiveReader, Polled, Position, TransientError
from windrow.durable.journal import Journal
from windrow.embedded.live_loop import LiveLoop
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError, WindrowError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

COLUMNS = "ts timestamp, x bigint"


def rows(schema: StreamSchema, *seconds: int) -> FileRows:
    times = pa.array([second * 1_000_000 for second in seconds], pa.int64())
    columns = [times.cast(pa.timestamp("us", tz="UTC")), pa.array(seconds, pa.int64())]
    return FileRows(pa.record_batch(columns, schema=schema.arrow))


@dataclass
class Told(LiveReader):
    """Gives what a test says: batches of seconds, or errors; the position is how many it gave."""

    schema: StreamSchema
    steps: list[Any]
    at: int
    is_endless: bool
    confirmations: list[Position]

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        assert most_rows > 0 <= timeout_s
        if self.at >= len(self.steps):
            return None
        step = self.steps[self.at]
        if isinstance(step, Exception):
            self.steps[self.at] = ()
            raise step
        self.at += 1
        behind = Lag(len(self.steps) - self.at, "rows")
        return Polled(rows(self.schema, *step), {"at": self.at}, behind)

    @property
    def is_done(self) -> bool:
        return not self.is_endless and self.at >= len(self.steps)

    def confirmed(self, position: Position) -> None:
        self.confirmations.append(position)


@dataclass(frozen=True)
class Telling(Source):
    """A live source of a test."""

    steps: list[Any]
    is_endless: bool = False
    confirmations: list[Position] = field(default_factory=list)
    place = None
    shown = "telling()"
    is_live = True

    def open_live(self, schema: StreamSchema, position: Position | None) -> LiveReader:
        at = 0 if position is None else position["at"]
        return Told(schema, self.steps, at, self.is_endless, self.confirmations)


class Driven:
    """A session whose sources are polled and taken step by step, under a clock of the test's."""

    def __init__(self, session: EmbeddedSession, **sources: Source) -> None:
        self.session, self.now_s = session, 0.0
        self.problems: list[WindrowError] = []
        schemas = {name: session._ingest.streams[name].schema for name in sources}
        self.receiver = session._receiver()
        self.loop = LiveLoop(
            self.receiver,
            {name: (schemas[name], source) for name, source in sources.items()},
            session._ingest.positions,
            session.memory,
            failed=lambda _, problem: self.problems.append(problem),
            monotonic=lambda: self.now_s,
        )
        self.loop.begin()

    def poll(self, name: str) -> None:
        next(feed for feed in self.loop.feeds if feed.name == name).step(0, waits=False)

    def take(self) -> None:
        while self.loop.step(0):
            pass

    def standing(self, name: str) -> Any:
        return next(feed for feed in self.loop.feeds if feed.name == name).standing


def session_of(*streams: str, path: Path | None = None, **options: Any) -> EmbeddedSession:
    session = windrow.connect(path=path)
    for name in streams:
        session.stream(name, COLUMNS, time="ts", **options)
    return session


def test_run_reads_all_sources_to_their_ends() -> None:
    session = windrow.connect()
    for name, steps in {"a": [(1, 2), (3,)], "b": [(1,), (9,)]}.items():
        session.stream(name, COLUMNS, time="ts", source=Telling(steps))
    joined = session.query("SELECT COUNT(*) AS n FROM a [10 SECONDS], b [10 SECONDS]")
    session.run()
    pushed = session_of("a", "b")
    wanted = pushed.query("SELECT COUNT(*) AS n FROM a [10 SECONDS], b [10 SECONDS]")
    for name, seconds in {"a": (1, 2, 3), "b": (1, 9)}.items():
        pushed.push(name, rows(pushed._ingest.streams[name].schema, *seconds).batch)
    pushed.finish()
    assert joined.result() == wanted.result()
    assert joined.answers().to_pylist() == wanted.answers().to_pylist()
    progress = session.progress()["sources"]
    assert [each["state"] for each in progress.values()] == ["done", "done"]
    assert [each["rows"] for each in progress.values()] == [3, 2]
    with pytest.raises(DataError, match="WD120"):
        session.push("a", {"ts": "2026-01-01", "x": 1})


def test_what_passes_is_tried_again_later_and_later() -> None:
    session = session_of("a")
    failing: list[Any] = [(1,), ConnectionError("gone"), TransientError("busy")]
    driven = Driven(session, a=Telling([*failing, (2,)], is_endless=True))
    driven.poll("a")
    driven.poll("a")
    standing = driven.standing("a")
    assert (standing.state, standing.problem) == ("failing", "ConnectionError: gone")
    driven.poll("a")  # not before its time
    assert standing.retries == 1
    driven.now_s += 1
    driven.poll("a")
    driven.poll("a")
    driven.poll("a")
    assert standing.retries == 2
    for _ in range(3):
        driven.now_s += 1
        driven.poll("a")
    driven.take()
    assert (standing.state, standing.rows, standing.problem) == ("live", 2, None)
    assert driven.problems == []


def test_what_does_not_pass_ends_a_run_and_not_the_others() -> None:
    broken = DataError("WD506", "no such row", hint="mend it")
    session = windrow.connect()
    session.stream("a", COLUMNS, time="ts", source=Telling([(1,), broken]))
    session.stream("b", COLUMNS, time="ts", source=Telling([(1,), (2,)]))
    with pytest.raises(DataError, match="no such row"):
        session.run()
    session = windrow.connect()
    session.stream("a", COLUMNS, time="ts", source=Telling([(1,), broken]))
    session.stream("b", COLUMNS, time="ts", source=Telling([(1,), (2,)]))
    session.start_sources()
    assert session.wait_for_sources(60)
    progress = session.progress()["sources"]
    assert (progress["a"]["state"], progress["b"]["state"]) == ("failed", "done")
    assert "no such row" in progress["a"]["problem"]
    assert progress["b"]["rows"] == 2


def test_another_librarys_error_is_one_of_ours() -> None:
    session = windrow.connect()
    session.stream("a", COLUMNS, time="ts", source=Telling([KeyError("k")]))
    with pytest.raises(DataError, match="WD530"):
        session.run()


def test_streams_that_catch_up_come_in_the_order_of_event_time() -> None:
    session = session_of("a", "b")
    driven = Driven(session, a=Telling([(1,), (5,), (7,)]), b=Telling([(2, 3), (4,), (6,)]))
    order: list[int] = []
    taken = driven.receiver.take

    def noted(stream: str, given: FileRows, position: Position) -> None:
        order.extend(given.batch["x"].to_pylist())
        taken(stream, given, position)

    driven.receiver.take = noted  # type: ignore[method-assign]
    for _ in range(4):
        driven.poll("a")
        driven.take()  # b is waited for
    assert order == []
    for _ in range(4):
        driven.poll("b")
        driven.take()
    assert order == [*range(1, 8)]


SUMS = {name: f"SELECT COUNT(*) AS n, SUM({name}.x) AS x FROM {name} [9 SECONDS]" for name in "ab"}


def batches(gaps: list[list[int]]) -> list[tuple[int, ...]]:
    """Seconds that never go back, by the gaps between them."""
    at = 0
    return [tuple(at := at + gap for gap in some) for some in gaps]


def by_arrival(path: Path, steps: dict[str, list[Any]]) -> Driven:
    session = windrow.connect(path=path, clock="arrival")
    for name in steps:
        session.stream(name, COLUMNS, time="ts")
    for name, text in SUMS.items():
        session.query(text, name)
    sources = {name: Telling(each, is_endless=True) for name, each in steps.items()}
    return Driven(session, **sources)


SECONDS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=4), max_size=5)


@given(SECONDS, SECONDS, st.lists(st.sampled_from(["a", "b", "take", "stop"]), max_size=25))
@settings(deadline=None, max_examples=15)
def test_by_arrival_streams_that_catch_up_make_no_row_late(
    gaps_a: list[list[int]], gaps_b: list[list[int]], moves: list[str]
) -> None:
    steps = {"a": batches(gaps_a), "b": batches(gaps_b)}
    with tempfile.TemporaryDirectory() as path:
        driven = by_arrival(Path(path), steps)
        for move in moves:
            if move == "stop":
                driven.session.stop()
                driven = by_arrival(Path(path), steps)
            elif move == "take":
                driven.loop.step(0)
            else:
                driven.poll(move)
        for _ in range(len(gaps_a + gaps_b) + 2):
            driven.poll("a")
            driven.poll("b")
            driven.take()
        ledger = driven.session.ledger()
        driven.session.finish()
        results = [driven.session[name].result().to_pylist() for name in SUMS]
        driven.session.stop()
    total = sum(map(len, steps["a"] + steps["b"]))
    assert ledger["late"].to_pylist() == [0, 0]
    assert sum(ledger["rows_in"].to_pylist()) == total
    merged = windrow.connect(clock="arrival")
    for name in "ab":
        merged.stream(name, COLUMNS, time="ts")
    wanted = [merged.query(text, name) for name, text in SUMS.items()]
    every = [(second, name) for name in "ab" for batch in steps[name] for second in batch]
    for second, name in sorted(every):
        merged.push(name, rows(merged._ingest.streams[name].schema, second).batch)
    merged.finish()
    assert results == [query.result().to_pylist() for query in wanted]


def test_the_queue_has_a_limit_and_counts() -> None:
    session = session_of("a")
    driven = Driven(session, a=Telling([tuple(range(100))] * 3, is_endless=True))
    driven.loop.queue._most_bytes = 2000
    session._ingest.queued_bytes = lambda: driven.loop.nbytes
    before = session.nbytes
    assert driven.loop.queue.has_room("a")
    driven.poll("a")
    driven.poll("a")
    assert not driven.loop.queue.has_room("a")
    assert session.nbytes - before == driven.loop.nbytes > 2000
    driven.take()
    assert driven.loop.nbytes == 0


def test_a_position_is_confirmed_when_it_is_on_the_disk(tmp_path: Path) -> None:
    session = session_of("a", path=tmp_path)
    source = Telling([(1,), (2,)], is_endless=True)
    driven = Driven(session, a=source)
    safe: list[int] = [0]
    driven.receiver.safe_mark = lambda: safe[0]  # type: ignore[method-assign]
    driven.poll("a")
    driven.take()
    driven.poll("a")
    assert source.confirmations == []
    driven.take()
    safe[0] = driven.receiver.written_mark()
    driven.take()
    driven.poll("a")
    assert source.confirmations == [{"at": 2}]
    session.stop()


def test_a_session_that_is_opened_again_goes_on_behind_its_positions(tmp_path: Path) -> None:
    steps: list[Any] = [(second,) for second in range(1, 7)]
    for read in (2, 0, 3, 9):
        session = session_of("a", path=tmp_path)
        total = session.query("SELECT COUNT(*) AS n, SUM(x) AS x FROM a [1 HOUR]", name="total")
        driven = Driven(session, a=Telling(steps))
        for _ in range(read):
            driven.poll("a")
            driven.take()
        if read == 2:
            assert session.save()
        session.stop()
    assert total.result().to_pylist() == [{"n": 6, "x": 21}]


def test_refusals() -> None:
    session = session_of("a")
    with pytest.raises(windrow.BindingError, match="WB770"):
        session.run()
    session.stream("b", COLUMNS, time="ts", source=Telling([], is_endless=True))
    session.start_sources()
    with pytest.raises(windrow.BindingError, match="WB771"):
        session.start_sources()
    session.stop_sources()
    assert session.progress()["sources"]["b"]["state"] == "stopped"
    session.stop()
    with pytest.raises(DataError, match="WD121"):
        session.start_sources()


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "log"
    path.write_text(json.dumps({"ts": "2026-01-01 00:00:01", "x": 1}) + "\n")
    return path


def test_a_file_that_grows_is_followed_in_a_thread(log: Path) -> None:
    session = windrow.connect()
    source = windrow.sources.jsonl(log, follow=True)
    session.stream("a", COLUMNS, time="ts", source=source)
    total = session.query("SELECT SUM(x) AS x FROM a [1 MINUTE]")
    seen = total.follow()
    session.start_sources()
    with log.open("a") as file:
        file.write(json.dumps({"ts": "2026-01-01 00:00:02", "x": 2}) + "\n")
        file.write(json.dumps({"ts": "2026-01-01 00:00:03", "x": 4}) + "\n")
    for _ in range(500):
        if session.ledger()["rows_in"].to_pylist() == [3]:
            break
        session.wait_for_sources(0.02)
    session.stop_sources()
    assert seen.answers()["x"].to_pylist() == [1, 3]
    session.stop()


class Wall:
    """A clock on the wall that a test sets."""

    seconds = 0.0

    def now_us(self) -> int:
        return 1_800_000_000_000_000 + int(self.seconds * 1_000_000)


def test_alarms_of_a_silent_session_are_cleared_once_its_sources_have_caught_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = Wall()
    monkeypatch.setattr(Journal, "now_us", lambda self: self._wall_us or wall.now_us())
    steps: list[Any] = [(1,), (2,)]

    def opened() -> Driven:
        session = session_of("a", path=tmp_path, idle_after="5 seconds")
        session.query("SELECT COUNT(*) AS n FROM a [10 SECONDS]", "alarm")
        return Driven(session, a=Telling(steps, is_endless=True))

    def alarms(driven: Driven) -> list[int]:
        driven.now_s += 1
        driven.take()
        found: list[int] = driven.session["alarm"].result()["n"].to_pylist()
        return found

    driven = opened()
    driven.poll("a")
    alarms(driven)
    wall.seconds = 60  # the rest of the past takes a minute to come
    assert driven.session.heartbeats().num_rows == 0
    driven.poll("a")
    assert alarms(driven)[0] >= 1
    driven.poll("a")  # nothing more: it has caught up, and its silence begins
    alarms(driven)
    wall.seconds += 6
    assert alarms(driven) == [2]
    assert driven.session.ledger()["late"].to_pylist() == [0]
    driven.session.stop()
    wall.seconds += 3600  # nobody reads
    steps.append((3,))
    driven = opened()
    assert driven.session.heartbeats().num_rows == 1
    driven.poll("a")
    alarms(driven)
    assert driven.session.ledger()["late"].to_pylist() == [0]
    driven.poll("a")
    alarms(driven)
    wall.seconds += 20
    assert alarms(driven) == [0]
    driven.session.stop()
