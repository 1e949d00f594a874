"""A query that has ended is held by whoever reads it, and by nobody else."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

import windrow

COUNT = "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k"
TEXTS = {
    "groups": COUNT,
    "select": "SELECT k, x FROM s [10 SECONDS]",
    "error": "SELECT AVG(x) AS x FROM s [10 SECONDS] ERROR (10%)",
    "history": "SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW]",
}


def opened() -> Any:
    session = windrow.connect(memory="64 MB")
    session.stream("s", "ts timestamp, k bigint, x bigint", time="ts")
    session.history("s", measures=["x"], levels=[("1 second", "forever")])
    session.push("s", {"ts": "2026-01-01", "k": 1, "x": 1})
    return session


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_stopped_query_is_let_go(text: str) -> None:
    session = opened()
    session.query(COUNT, name="other")
    query = session.query(text, name="first")
    session.push("s", {"ts": "2026-01-01 00:00:01", "k": 1, "x": 1})
    session.finish()
    wanted = query.result()
    assert wanted.num_rows == 1
    query.stop()
    assert query.result() == wanted
    assert query.answers().num_rows > 0
    known = weakref.ref(query)
    del query
    gc.collect()
    assert known() is None
    assert session.query(text, name="first").is_running


def test_a_query_whose_life_is_over_is_let_go() -> None:
    session = opened()
    known = weakref.ref(session.query(f"{COUNT} DURATION [0, 5]"))
    session.push("s", {"ts": "2026-01-01 00:00:01", "k": 1, "x": 1})
    session.push("s", {"ts": "2026-01-01 00:01:00", "k": 1, "x": 1})
    session.finish()
    assert session.queries().num_rows == 0
    gc.collect()
    assert known() is None


def test_names_are_made_up_once() -> None:
    session = opened()
    names = []
    for number in range(4):
        query = session.query(COUNT)
        names.append(query.name)
        if number != 2:
            query.stop()
    assert names == ["query1", "query2", "query3", "query4"]
    session.query(COUNT, name="query5")
    assert session.query(TEXTS["history"]).name == "query6"
    with pytest.raises(windrow.BindingError) as caught:
        session.query(COUNT, name="query6")
    assert caught.value.code == "WB104"


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_query_is_added_and_stopped_at_its_own_cost(text: str) -> None:
    session = opened()
    few, many = (calls(lambda: session.query(text).stop(), among(session, n)) for n in (5, 60))
    assert many <= 1.3 * few


def among(session: Any, count: int) -> None:
    while session.queries().num_rows < count:
        session.query(COUNT)
    session.query(COUNT).stop()


def calls(run: Callable[[], object], _: None) -> int:
    """Calls of functions of ours."""
    count = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal count
        count += event == "call" and "windrow" in frame.f_code.co_filename

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count
