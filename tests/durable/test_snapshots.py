"""A session that begins with a snapshot is as one that replays all of its log."""

from __future__ import annotations

import math
from functools import cache
from itertools import count
from typing import Any

import pytest

import windrow
from support.durable_script import (
    SEVERAL_CALLS,
    STEPS,
    at,
    observed,
    run,
    twice,
)
from support.durable_script import undisturbed as undisturbed_by
from support.memory_folder import KilledError, MemoryFolder
from windrow.durable.opening import open_folder
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings

undisturbed = cache(undisturbed_by)


def opened(folder: MemoryFolder, durability: str = "off") -> DurableSession:
    session = open_folder(folder, Settings(), durability)
    if session.is_waiting:
        session.function("twice", twice, returns="double", takes="double")
    return session


def ran(session: DurableSession, first: int, last: int) -> None:
    run(session, first, last)


seen, wanted = observed, undisturbed


@pytest.mark.parametrize("cut", range(1, len(STEPS), 6))
def test_it_goes_on_from_a_snapshot(cut: int) -> None:
    folder = MemoryFolder()
    session = opened(folder)
    ran(session, 0, cut)
    session.streams()  # rows that wait are applied
    assert session.save()
    session.stop()
    assert any(name.startswith("snapshot") for name in folder.names())
    again = opened(folder.after_kill())
    ran(again, cut, len(STEPS))
    assert seen(again) == wanted(len(STEPS))


def test_it_is_as_it_was_when_it_was_saved() -> None:
    for cut in range(2, len(STEPS), 9):
        folder = MemoryFolder()
        session = opened(folder)
        ran(session, 0, cut)
        session.streams()
        assert session.save()
        assert seen(opened(folder.after_kill())) == wanted(cut)
        assert seen(session) == wanted(cut)


@pytest.mark.parametrize("apart", [37, pytest.param(1, marks=pytest.mark.slow)])
def test_a_process_may_end_at_any_call_while_snapshots_are_taken(
    monkeypatch: pytest.MonkeyPatch, apart: int
) -> None:
    monkeypatch.setattr("windrow.durable.session.SNAPSHOT_BYTES", 4_000)
    saved = 0
    for dies_at in count(40, apart):
        folder, done = MemoryFolder(dies_at), 0
        try:
            session = opened(folder, "always")
            for done in range(len(STEPS)):
                ran(session, done, done + 1)
            session.stop()
        except KilledError:
            pass
        if not folder.is_dead:
            break
        for left in (folder.after_kill(), folder.after_power_cut()):
            saved += any(name.endswith(".wsnap") for name in left.names())
            found = seen(opened(left))
            # A step of several calls may be there in part.
            assert done in SEVERAL_CALLS or found in (wanted(done), wanted(done + 1))
    assert saved > 5


def test_files_that_nobody_needs_are_removed() -> None:
    folder = MemoryFolder()
    session = opened(folder)
    session.stream("s", "ts timestamp, x int", time="ts")
    session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]", name="sum")
    for round_number in range(5):
        for second in range(10):
            session.push("s", {"ts": at(10 * round_number + second), "x": 1})
            session["sum"].result()
        assert session.save()
    assert len(folder.names()) == 4  # two snapshots, the log since each
    newest = max(name for name in folder.names() if name.startswith("snapshot"))
    session.finish()
    total = session["sum"].result()
    damaged = folder.after_kill()
    damaged.files[newest][100] ^= 1
    for left in (folder.after_kill(), damaged):
        assert opened(left)["sum"].result() == total
    for name in damaged.names():
        if name.startswith("snapshot"):
            damaged.files[name][100] ^= 3
    with pytest.raises(windrow.CheckpointError):
        opened(damaged)


def test_a_question_keeps_what_nobody_has_read() -> None:
    folder = MemoryFolder()
    session = opened(folder)
    session.stream("s", "ts timestamp, k int, x double", time="ts")
    levels = [("1 second", "4 seconds"), ("4 seconds", "8 seconds")]
    session.history("s", measures=["x"], by=["k"], levels=levels)
    text = "SELECT k, SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW] GROUP BY k"
    for name, every in (("each", ""), ("ticks", " EVERY (3 SECONDS)")):
        session.query(text + every, name=name)
    for second in range(40):
        session.push("s", {"ts": at(second), "k": second % 3, "x": math.nan if second == 9 else 1})
        if second == 20:
            session["each"].changes(limit=3)
            session["ticks"].answers()
    session.query(text + " EVERY (5 SECONDS)", name="late")  # some of its past is forgotten
    session.push("s", {"ts": at(41), "k": 1, "x": 2.0})
    session.streams()
    assert session.save()
    again = opened(folder.after_kill())
    for each in (session, again):
        each.push("s", {"ts": at(50), "k": 1, "x": 3.0})
        each.finish()
    for name in ("each", "ticks", "late"):
        read = [_read_of(each[name]) for each in (again, session)]
        assert read[0] == read[1]


def _read_of(query: Any) -> str:
    tables = query.result(), query.answers(), query.changes()
    return repr([table.to_pylist() for table in tables])


def test_names_that_were_made_up_go_on() -> None:
    folder = MemoryFolder()
    session = opened(folder)
    session.stream("s", "ts timestamp, x int", time="ts")
    first = session.query("SELECT SUM(x) AS x FROM s [1 MINUTE]")
    session.query("SELECT MAX(x) AS x FROM s [1 MINUTE]").stop()
    assert session.save()
    again = opened(folder.after_kill())
    assert again.query("SELECT sum(x) AS x FROM s [1 MINUTE]").name == first.name
    assert again.query("SELECT MIN(x) AS x FROM s [1 MINUTE]").name == "query3"


def test_rows_that_queries_share_stay_shared() -> None:
    folder = MemoryFolder()
    session = opened(folder)
    session.stream("s", "ts timestamp, k int, x int, y double", time="ts")
    texts = [
        f"SELECT {by}, SUM({value}) AS v, COUNT(*) AS n FROM s [{minutes} MINUTES] GROUP BY {by}"
        for by in ("k", "x")
        for value in ("x", "y")
        for minutes in (1, 5, 60)
    ]
    for number, text in enumerate(texts):
        session.query(text, name=f"q{number}")
        rows = range(400 * number, 400 * number + 400)
        columns = {"ts": [at(i / 10) for i in rows], "k": [i % 3 or None for i in rows]}
        session.push("s", {**columns, "x": [i % 7 for i in rows], "y": [i / 8 for i in rows]})
    for number in range(len(texts)):
        session[f"q{number}"].answers()
        session[f"q{number}"].changes()
    assert session.save()
    again = opened(folder.after_kill())
    assert again.ingest.pool.nbytes == session.ingest.pool.nbytes > 0
    assert again.nbytes <= 1.05 * session.nbytes
    assert (
        again.windows()
        .drop_columns(["bytes", "row_bytes"])
        .equals(session.windows().drop_columns(["bytes", "row_bytes"]))
    )
    for each in (session, again):
        each.push("s", {"ts": at(500), "k": 1, "x": 2, "y": 3.0})
        each.finish()
    for number in range(len(texts)):
        found, wanted_ = again[f"q{number}"], session[f"q{number}"]
        assert found.result() == wanted_.result()
        assert found.changes() == wanted_.changes()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT MAX(x.v) AS n FROM s [9 SECONDS] x, s [5 SECONDS] y WHERE x.v < y.v",
        "SELECT x.k, COUNT(*) AS n FROM s [9 SECONDS] x, s [5 SECONDS] y "
        "WHERE x.k = y.k AND x.v < y.v GROUP BY x.k",
        "SELECT MIN(v) AS n, COUNT(DISTINCT v) AS m FROM s [9 SECONDS]",
    ],
)
def test_any_operator_goes_on_with_shared_rows(text: str) -> None:
    folder = MemoryFolder()
    session = opened(folder)
    session.stream("s", "ts timestamp, k string, v double", time="ts")
    session.query("SELECT SUM(v) AS v FROM s [7 SECONDS]", name="other")
    session.query(text, name="it")
    for second in range(30):
        session.push("s", {"ts": at(second), "k": "ab"[second % 2], "v": second * 7 % 5})
        if second == 14:
            session["it"].result()
            assert session.save()
            again = opened(folder.after_kill())
    assert len(again["it"].readers) == len(session["it"].readers) > 0
    for second in range(15, 30):
        again.push("s", {"ts": at(second), "k": "ab"[second % 2], "v": second * 7 % 5})
    for each in (session, again):
        each.finish()
    assert again["it"].result() == session["it"].result()
    assert again["other"].result() == session["other"].result()
