"""Several readers of one query's answers, in several threads: each has every answer once."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import windrow
from windrow import followers
from windrow.embedded import EmbeddedSession

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
COUNT = "SELECT COUNT(*) AS n FROM t [1 HOUR]"


def session_and_count(text: str = COUNT) -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    return session, session.query(text)


def push(session: EmbeddedSession, second: int) -> None:
    session.push("t", {"ts": MOMENT + timedelta(seconds=second), "k": second})
    session.advance("t", to=MOMENT + timedelta(seconds=second))


def counts(table: pa.Table) -> list[int]:
    return table["n"].to_pylist()


def test_every_reader_has_every_answer_once_whoever_reads_first() -> None:
    session, query = session_and_count()
    push(session, 0)
    first = query.follow()
    push(session, 1)
    second = query.follow()
    push(session, 2)
    assert counts(first.answers()) == [2, 3]
    assert counts(query.answers()) == [1, 2, 3]
    push(session, 3)
    assert counts(second.answers()) == [3, 4]
    assert counts(query.answers()) == counts(first.answers()) == [4]
    assert [counts(each.answers()) for each in (query, first, second)] == [[], [], []]


def test_who_has_left_is_given_nothing_and_nothing_is_kept_for_it() -> None:
    session, query = session_and_count()
    follower = query.follow()
    push(session, 0)
    follower.close()
    follower.close()
    assert follower.answers().num_rows == 0
    assert follower.answers().schema == query.answers().schema
    push(session, 1)
    assert counts(query.answers()) == [2]


def test_of_what_nobody_reads_the_newest_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followers, "FOLLOWED_ROWS", 3)
    session, query = session_and_count()
    slow, quick = query.follow(), query.follow()
    seen = []
    for second in range(10):
        push(session, second)
        if second % 2:
            seen += counts(quick.answers())
    assert seen == list(range(1, 11))
    assert counts(slow.answers()) == [8, 9, 10]
    assert counts(query.answers()) == list(range(1, 11))


@pytest.mark.parametrize(
    "text", [COUNT, "SELECT k, COUNT(*) AS n FROM t [1 HOUR] GROUP BY k EVERY (1 SECOND)"]
)
def test_rows_are_pushed_in_one_thread_and_read_in_others(text: str) -> None:
    session, query = session_and_count(text)
    truth_session, truth = session_and_count(text)
    stop, problems = threading.Event(), []
    read: list[list[pa.Table]] = [[], []]

    def follow(number: int, follower: followers.Follower) -> None:
        try:
            while not stop.is_set():
                read[number].append(follower.answers())
                session.windows()
        except Exception as problem:
            problems.append(problem)

    readers = [query.follow(), query.follow()]
    threads = [
        threading.Thread(target=follow, args=(number, reader))
        for number, reader in enumerate(readers)
    ]
    for thread in threads:
        thread.start()
    # Rows that come one by one are gathered first: a reader in another thread takes them away.
    for second in range(3_000):
        row = {"ts": MOMENT + timedelta(milliseconds=10 * second), "k": second % 3}
        session.push("t", row)
        truth_session.push("t", row)
    session.finish()
    truth_session.finish()
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    wanted = truth.answers()
    for tables, reader in zip(read, readers, strict=True):
        assert pa.concat_tables([*tables, reader.answers()]) == wanted
    assert query.answers() == wanted
    assert session.ledger()["applied"].to_pylist() == [3_000]


def test_every_reader_is_told_why_the_query_has_stopped() -> None:
    session, query = session_and_count("SELECT SUM(k) AS n FROM t [1 SECOND]")
    readers = [query, query.follow(), query.follow()]
    push(session, 1)
    session.push("t", [{"ts": MOMENT + timedelta(seconds=5), "k": 2**62}] * 2)
    with pytest.warns(RuntimeWarning, match="has stopped"):
        session.advance("t", to=MOMENT + timedelta(seconds=5))
    for reader in readers:
        with pytest.raises(windrow.DataError, match="WD302"):
            reader.answers()
