"""Under a short budget: what was decided is in the log, and a replay decides nothing by itself."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow
from support.memory_folder import MemoryFolder
from windrow.durable.opening import open_folder
from windrow.durable.session import DurableSession
from windrow.durable.settings import Settings
from windrow.embedded.governing import Governing
from windrow.errors import AdmissionError

SECOND_US = 1_000_000
QUERIES = {
    "narrow": "SELECT COUNT(*) AS n, SUM(v) AS v FROM s [2 MINUTES] ERROR (30%) EVERY (5 SECONDS)",
    "turning": "SELECT AVG(v) AS v FROM s [90 SECONDS] ERROR (20%) EVERY (60 SECONDS)",
    "grouped": "SELECT k, COUNT(*) AS n FROM s [60 SECONDS] GROUP BY k ERROR (40%)",
    "exact": "SELECT MAX(v) AS v, COUNT(*) AS n FROM s [20 SECONDS]",
    "rows": "SELECT k, v FROM s [5 SECONDS] WHERE v > 90",
}


def opened(folder: MemoryFolder, memory: int) -> DurableSession:
    return open_folder(folder, Settings(memory=memory), "off")


def rows_at(second: int, count: int, choice: random.Random) -> pa.Table:
    times = second * SECOND_US + np.arange(count) * (SECOND_US // max(1, count))
    values = [choice.randrange(100) for _ in range(count)]
    kind = pa.timestamp("us", "UTC")
    return pa.table({"ts": pa.array(times).cast(kind), "k": times % 7, "v": values})


def disturbed(session: DurableSession, seed: int, seconds: range) -> int:
    """Bursts and silence, queries that come and go; how often something was refused."""
    choice, refused = random.Random(seed), 0
    for second in seconds:
        busy = choice.random() < 0.1
        count = choice.randrange(200, 6_000) if busy else choice.randrange(0, 120)
        try:
            session.push("s", rows_at(second, count, choice))
        except AdmissionError:
            refused += 1
        if second % 17 == 3:
            try:
                session.query(f"SELECT COUNT(*) AS n FROM s [{second} SECONDS]", name="more")
            except AdmissionError:
                refused += 1
        if second % 17 == 9 and "more" in session.queries()["query"].to_pylist():
            session["more"].stop()
        if second % 5 == 0:
            session["exact"].answers()
    return refused


def seen(session: DurableSession) -> dict[str, Any]:
    """All that a governor decides, and what comes of it."""
    session.streams()
    found: dict[str, Any] = {
        "decisions": session.decisions().to_pylist(),
        "queries": session.queries().select(["query", "window", "level"]).to_pylist(),
        "windows": session.windows()
        .select(["window", "stream", "width", "rows", "level"])
        .to_pylist(),
        "ledger": session.ledger().to_pylist(),
    }
    for name in QUERIES:
        query = session[name]
        found[name] = repr((query.result().to_pylist(), query.is_complete))
    return found


def read(session: DurableSession) -> list[str]:
    return [
        repr((session[name].answers().to_pylist(), session[name].changes().to_pylist()))
        for name in QUERIES
    ]


def begun(folder: MemoryFolder, memory: int) -> DurableSession:
    session = opened(folder, memory)
    session.stream("s", "ts timestamp, k bigint, v bigint", time="ts")
    for name, text in QUERIES.items():
        session.query(text, name=name)
    return session


@pytest.mark.parametrize(
    ("seed", "memory"), [(1, 260_000), pytest.param(2, 400_000, marks=pytest.mark.slow)]
)
def test_a_replay_decides_as_it_was_decided(
    seed: int, memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = MemoryFolder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = begun(folder, memory)
        refused = disturbed(session, seed, range(1, 60))
        wanted = seen(session)
        assert refused
        assert {"B", "C"} & {row["case"] for row in wanted["decisions"]}
        with monkeypatch.context() as patched:
            for name in ("admit", "started", "ended", "after_step", "make_room"):
                patched.setattr(Governing, name, pytest.fail)
            again = opened(folder.after_kill(), memory)
        assert seen(again) == wanted
        monkeypatch.setattr("windrow.durable.saved_session.ROOM_PARTS", 1)
        assert again.save()  # windows that are narrowed, rows that are lacking
        # It was opened from memory of a folder; what it has written is there.
        third = opened(again._folder.after_kill(), memory)  # type: ignore[attr-defined]
        assert seen(third) == wanted
        assert read(again) == read(session) == read(third)


@pytest.mark.parametrize("is_saved", [False, True])
def test_what_is_known_of_arrivals_has_the_limit_that_it_had(is_saved: bool) -> None:
    folder = MemoryFolder()
    session = opened(folder, 4 << 20)
    session.stream("s", "ts timestamp, k int", time="ts")
    session.query("SELECT COUNT(*) AS n FROM s [1 MINUTE] ERROR (5%)", name="rough")
    session.push("s", {"ts": "2026-01-01 00:00:01", "k": 1})
    session.streams()
    assert not is_saved or session.save()
    again = opened(folder.after_kill(), 4 << 20)
    for each in (session, again):
        assert each["rough"]._bounded.watch.profile.bytes_limit == (4 << 20) // 16


@pytest.mark.parametrize("seed", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_replay_changes_the_memory_as_it_was_changed(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = MemoryFolder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = begun(folder, 1_500_000)
        refused = 0
        for number, memory in enumerate([900_000, 20_000, 1_200_000]):
            disturbed(session, seed + number, range(1 + 5 * number, 6 + 5 * number))
            try:
                session.memory = memory
            except AdmissionError:
                refused += 1
        assert 0 < refused < 3
        assert session.memory < 1_500_000
        wanted = seen(session)
        with monkeypatch.context() as patched:
            for name in ("admit", "after_step", "make_room", "change_budget"):
                patched.setattr(Governing, name, pytest.fail)
            again = opened(folder.after_kill(), windrow.connect().memory)
        assert seen(again) == wanted
        assert again.memory == session.memory
        assert again.nbytes <= 1.1 * session.nbytes  # what left is given back there, too
        monkeypatch.setattr("windrow.durable.saved_session.ROOM_PARTS", 1)
        assert again.save()
        third = opened(again._folder.after_kill(), again.memory)  # type: ignore[attr-defined]
        assert third.memory == session.memory
        assert seen(third) == wanted
        assert read(again) == read(session) == read(third)
