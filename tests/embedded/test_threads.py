"""Threads that push, read, register, stop and follow: nothing is lost, and none sees a half."""

from __future__ import annotations

import sys
import threading
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from windrow.embedded import history_registry
from windrow.embedded.governing import Governing
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError, DataError
from windrow.query import Query

START_US = 1_767_225_600_000_000
BATCHES, ROWS = 60, 500


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hasty")
def test_changes_add_up_while_another_thread_pushes() -> None:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, k bigint", time="ts")
    query = session.query("SELECT k, COUNT(*) AS n FROM s [1 SECOND] GROUP BY k")

    def push() -> None:
        for batch in range(BATCHES):
            times = START_US + np.arange(batch * ROWS, (batch + 1) * ROWS) * 1000
            stamps = pa.array(times).cast(pa.timestamp("us"))
            session.push("s", pa.table({"ts": stamps, "k": times // 1000 % 7}))

    rows: Counter[tuple[int, int]] = Counter()

    def read() -> None:
        for row in query.changes().to_pylist():
            rows[row["k"], row["n"]] += row["change"]

    pusher = threading.Thread(target=push)
    pusher.start()
    while pusher.is_alive():
        read()
        query.result()
        session.windows()
    pusher.join()
    session.finish()
    read()
    held = {(row["k"], row["n"]): 1 for row in query.result().to_pylist()}
    assert {key: count for key, count in rows.items() if count} == held
    assert session.ledger()["rows_in"].to_pylist() == [BATCHES * ROWS]


PUSHES, ROUNDS = 40, 25
QUERIES = [
    "SELECT COUNT(*) AS n FROM s [1 SECOND]",
    "SELECT DISTINCT k FROM s [2 SECONDS]",
    "SELECT MAX(k) AS k FROM s [1 SECOND] ERROR (10%)",
    "SELECT s.k, COUNT(*) AS n FROM s [1 SECOND], t [1 SECOND] WHERE s.k = t.k GROUP BY s.k",
    "SELECT SUM(k) AS k FROM HISTORY(s) [FROM '2026-01-01' TO NOW]",
]


def busy_session() -> EmbeddedSession:
    session = EmbeddedSession()
    for name in ("s", "t"):
        session.stream(name, "ts timestamp, k bigint", time="ts", lateness="1 hour")
    session.history("s", measures=["k"], levels=[("1 second", "1 minute"), ("1 minute", "forever")])
    return session


def rows_at(second: int, count: int = 20) -> pa.Table:
    times = START_US + second * 1_000_000 + np.arange(count) * 1_000
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us")), "k": np.arange(count) % 5})


def come_and_go(session: EmbeddedSession) -> None:
    """Queries of all kinds are registered, looked at, followed and stopped."""
    for number in range(ROUNDS):
        query = session.query(QUERIES[number % len(QUERIES)])
        query.result()
        query._repr_html_()
        query.explain()
        follower = query.follow()
        query.stop()
        follower.answers()
        follower.close()


def look(session: EmbeddedSession) -> None:
    """Whatever can be seen of a session is looked at."""
    question = "SELECT COUNT(*) AS n FROM HISTORY(s) [FROM '2026-01-01' TO NOW]"
    for _ in range(ROUNDS):
        for table in (session.windows, session.queries, session.ledger, session.decisions):
            table()
        session._repr_html_()
        session.metrics()
        session.ask(question)
        list(session.ask(question, progressive=True))
        assert session.nbytes >= 0


def side_by_side(*works: Callable[[], None]) -> None:
    """Runs all at once; whatever one of them fails with is raised."""
    problems: list[BaseException] = []
    begin = threading.Barrier(len(works))

    def run(work: Callable[[], None]) -> None:
        try:
            begin.wait()
            work()
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


@pytest.mark.usefixtures("hasty")
def test_everything_at_once_loses_no_row_and_no_change() -> None:
    session = busy_session()
    base = session.query("SELECT k, COUNT(*) AS n FROM s [1 SECOND] GROUP BY k", name="base")
    held: Counter[tuple[int, int]] = Counter()
    answered, followed = [], []
    follower = base.follow()

    def push(stream: str) -> None:
        for second in range(PUSHES):
            session.push(stream, rows_at(second))
            session.push(stream, {"ts": f"2026-01-01 00:00:{second:02}", "k": 1})

    def read() -> None:
        for row in base.changes().to_pylist():
            held[row["k"], row["n"]] += row["change"]
        answered.append(base.answers())
        followed.append(follower.answers())

    def read_on() -> None:
        for _ in range(ROUNDS):
            read()

    pushers = [lambda name=name: push(name) for name in ("s", "t", "s")]
    others = [lambda: come_and_go(session)] * 2 + [lambda: look(session)]
    side_by_side(*pushers, read_on, *others)
    session.finish()
    read()
    wanted = {(row["k"], row["n"]): 1 for row in base.result().to_pylist()}
    assert {key: count for key, count in held.items() if count} == wanted
    assert pa.concat_tables(answered) == pa.concat_tables(followed)
    taken = {row["stream"]: row["rows_in"] for row in session.ledger().to_pylist()}
    assert taken == {"s": 2 * 21 * PUSHES, "t": 21 * PUSHES}
    assert session.queries()["query"].to_pylist() == ["base"]


@pytest.mark.usefixtures("hasty")
def test_of_many_who_take_one_name_one_gets_it() -> None:
    session = busy_session()
    got, refused = [], []

    def register() -> None:
        try:
            got.append(session.query(QUERIES[0], name="one"))
        except BindingError as error:
            refused.append(error.code)

    side_by_side(*[register] * 8)
    assert (len(got), refused) == (1, ["WB104"] * 7)


@pytest.mark.usefixtures("hasty")
def test_a_session_can_be_stopped_while_it_is_used() -> None:
    session = busy_session()
    query = session.query(QUERIES[0])
    server = session.serve_metrics()

    def scrape() -> None:
        try:
            urllib.request.urlopen(server.address, timeout=60).close()
        except OSError:
            return  # it was stopped first

    pushed = []

    def push() -> None:
        for second in range(PUSHES):
            try:
                session.push("s", rows_at(second))
            except DataError:
                return  # it was stopped first
            pushed.append(second)

    side_by_side(push, push, scrape, scrape, session.stop, query.stop)
    assert not query.is_running
    assert query.result().num_rows == 1
    assert session.ledger()["rows_in"].to_pylist() == [20 * len(pushed), 0]


def test_what_is_looked_at_is_looked_at_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    session = busy_session()
    query: Query = session.query(QUERIES[0])
    session.push("s", rows_at(0))
    alone: list[bool] = []
    asked, size = history_registry.ask_progressively, Governing.nbytes.fget
    assert size is not None

    def watched(*given: Any) -> Iterator[pa.Table]:
        for answer in asked(*given):
            alone.append(session.lock._is_owned())
            yield answer

    def watched_size(governing: Governing) -> int:
        alone.append(session.lock._is_owned())
        return size(governing)

    monkeypatch.setattr(history_registry, "ask_progressively", watched)
    monkeypatch.setattr(Governing, "nbytes", property(watched_size))
    text = "SELECT COUNT(*) AS n FROM HISTORY(s) [FROM '2026-01-01' TO NOW]"
    answers = list(session.ask(text, progressive=True))
    assert session.nbytes > 0
    assert "windrow session" in session._repr_html_()
    assert query.is_running
    assert len(alone) >= len(answers) + 2
    assert all(alone)
