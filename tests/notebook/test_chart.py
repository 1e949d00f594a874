"""The chart's Python side: lines, bounds, threads, and its end; no notebook is needed for it."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest

import windrow
from windrow.embedded import EmbeddedSession
from windrow.notebook import chart
from windrow.notebook.lines import LINES_LIMIT, Lines, band

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
MOMENT_MS = MOMENT.timestamp() * 1000
COUNT = "SELECT k, COUNT(*) AS n, SUM(x) AS total FROM t [10 SECONDS] GROUP BY k"
DEADLINE_S = 30.0


def session_of() -> EmbeddedSession:
    session = windrow.connect(memory="16 MB")
    session.stream("t", "ts timestamp, k string, x double", time="ts")
    return session


def push(session: EmbeddedSession, second: float, k: str | None = "a", x: float = 1.0) -> None:
    session.push("t", {"ts": MOMENT + timedelta(seconds=second), "k": k, "x": x})


def drawn(widget: object) -> dict[str, np.ndarray]:
    """The points of each line, read from the bytes as the front end reads them."""
    numbers, begin, found = np.frombuffer(widget.data, np.float64), 0, {}
    for line in widget.lines:
        end = begin + 4 * line["count"]
        found[line["label"]] = numbers[begin:end].reshape(4, -1)
        begin = end
    assert begin == numbers.size
    return found


def until(is_true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not is_true():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.01)


def test_a_line_for_each_group_with_the_answers_as_they_were() -> None:
    session = session_of()
    query = session.query(COUNT)
    widget = chart(query, refresh=None)
    for second in range(4):
        push(session, second, "a" if second % 2 else None)
    session.finish()
    widget.refresh()
    answers = query.answers().to_pylist()
    for label, points in drawn(widget).items():
        group = None if label == "NULL" else label
        wanted = [(row["at"], row["n"]) for row in answers if row["k"] == group]
        seen = points[:, ~np.isnan(points[1])]
        assert seen[0].tolist() == [at.timestamp() * 1000 for at, _ in wanted]
        assert seen[1].tolist() == [n for _, n in wanted]
        assert seen[2].tolist() == seen[3].tolist() == seen[1].tolist()
    assert {line["label"]: line["latest"] for line in widget.lines} == {"a": "2", "NULL": "2"}
    widget.close()


def test_several_values_and_names_of_lines() -> None:
    session = session_of()
    widget = chart(session.query(COUNT), ["n", "total"], refresh=None)
    push(session, 0, x=2.5)
    session.finish()
    widget.refresh()
    assert [(line["label"], line["latest"]) for line in widget.lines] == [
        ("a n", "1"),
        ("a total", "2.5"),
    ]
    assert (widget.title, widget.value) == ("query1", "n, total")
    widget.close()
    single = chart(session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]"), refresh=None)
    assert single.lines == []
    single.close()


def test_points_and_lines_are_bounded() -> None:
    session = session_of()
    widget = chart(session.query(COUNT + " EVERY (1 SECOND)"), points=5, refresh=None)
    for second in range(20):
        for group in range(LINES_LIMIT + 3):
            push(session, second, f"{group:02}")
        if second % 3 == 0:
            widget.refresh()
    session.finish()
    widget.refresh()
    assert {line["count"] for line in widget.lines} == {5}
    assert (len(widget.lines), widget.left_out) == (LINES_LIMIT, 3)
    assert all(points[0, -1] == MOMENT_MS + 19_000 for points in drawn(widget).values())
    widget.close()


@pytest.mark.parametrize("every", [None, 1_000_000])
@pytest.mark.parametrize("together", [True, False])
def test_a_line_is_broken_where_its_group_had_no_answer(every: int | None, together: bool) -> None:
    lines = Lines(["k"], ["n"], every, 100)
    answered = {"a": [0, 1, 2, 3, 4, 5, 6], "b": [1, 2, 5, 6]}
    rows = sorted((at, k) for k, instants in answered.items() for at in instants)
    table = pa.table(
        {
            "at": pa.array([at * 1_000_000 for at, _ in rows], pa.timestamp("us", tz="UTC")),
            "error_bound": pa.nulls(len(rows), pa.float64()),
            "k": [k for _, k in rows],
            "n": [1] * len(rows),
        }
    )
    for part in [table] if together else [table.slice(i, 1) for i in range(len(rows))]:
        lines.append(part)
    found = {line.label: line.points for line in lines}
    for label, instants in answered.items():
        seen = ~np.isnan(found[label][1])
        assert (found[label][0, seen] / 1000).tolist() == instants
    holes = (found["b"][0, np.isnan(found["b"][1])] / 1000).tolist()
    assert len(holes) == 1
    assert 2 < holes[0] < 5
    assert not np.isnan(found["a"][1]).any()
    assert lines.latest(next(iter(lines))) == 1.0


def test_after_silence_with_ticks_no_line_is_drawn_across() -> None:
    session = session_of()
    widget = chart(session.query(COUNT + " EVERY (1 SECOND)"), refresh=None)
    for second in (0, 100):
        push(session, second)
    session.finish()
    widget.refresh()
    (points,) = drawn(widget).values()
    holes = points[0, np.isnan(points[1])]
    assert holes.tolist() == [MOMENT_MS + 11_000]  # the first tick without the row of before
    widget.close()


def test_the_exact_value_is_in_the_band() -> None:
    rng = np.random.default_rng(7)
    exact = rng.normal(0, 100, 10_000)
    bounds = rng.uniform(0, 1.5, exact.size)
    answers = exact + rng.uniform(-1, 1, exact.size) * bounds * np.abs(exact)
    low, high = band(answers, bounds)
    slack = 1e-9 * np.abs(exact)
    assert ((low - slack <= exact) & (exact <= high + slack)).all()
    assert (np.isinf(low) == (bounds >= 1)).all()


def test_bounds_of_a_governed_query_are_drawn() -> None:
    session = windrow.connect(memory="200 KB")
    session.stream("t", "ts timestamp, x bigint", time="ts")
    query = session.query(
        "SELECT COUNT(*) AS n, SUM(x) AS total FROM t [10 MINUTES] ERROR (20%) EVERY (5)"
    )
    widget = chart(query, refresh=None)
    for minute in range(30):
        count = 1200 if minute == 20 else 300
        times = [MOMENT + timedelta(minutes=minute, milliseconds=50 * n) for n in range(count)]
        session.push("t", {"ts": times, "x": list(range(count))})
    widget.refresh()
    bounded = [row for row in query.answers().to_pylist() if row["error_bound"]]
    assert bounded
    (points,) = drawn(widget).values()
    wide = points[3] > points[2]
    last = bounded[-1]
    place = points[0].tolist().index(last["at"].timestamp() * 1000)
    assert wide[place]
    assert points[3, place] == pytest.approx(last["n"] / (1 - last["error_bound"]))
    widget.close()


def test_a_thread_follows_while_rows_are_pushed_and_ends_with_the_query() -> None:
    session = session_of()
    query = session.query(COUNT)
    widget = chart(query, refresh=0.05)
    assert widget.is_live
    for second in range(50):
        push(session, second)
    until(lambda: len(widget.lines) == 1 and widget.lines[0]["count"] >= 49)
    push(session, 50)
    session.stop()
    until(lambda: not widget.is_live)
    assert widget.state == "the query has ended"
    assert drawn(widget)["a"].shape[1] == 50
    assert query.answers().num_rows == 50  # what it read was not taken from others
    widget.close()


def test_a_chart_that_is_stopped_leaves_no_thread_and_the_query_goes_on() -> None:
    before = threading.active_count()
    session = session_of()
    query = session.query(COUNT)
    widget = chart(query, refresh=0.05)
    widget.stop()
    widget.stop()
    assert (threading.active_count(), widget.is_live, query.is_running) == (before, False, True)
    assert widget.state == "stopped"
    push(session, 0)
    session.finish()
    widget.refresh()
    assert widget.lines == []
    widget.close()


def test_a_page_that_closes_the_chart_ends_its_thread() -> None:
    widget = chart(session_of().query(COUNT), refresh=0.05)
    widget.comm._closed = True  # as marimo does when the cell runs again
    until(lambda: not widget.is_live)
    widget.close()


def test_trouble_with_rows_is_shown() -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    widget = chart(session.query("SELECT SUM(k) AS s FROM t [10 SECONDS]"), refresh=0.05)
    session.push("t", {"ts": MOMENT, "k": 2**63 - 1})
    session.push("t", {"ts": MOMENT + timedelta(microseconds=1), "k": 1})
    session.push("t", {"ts": MOMENT + timedelta(microseconds=2), "k": 1})
    until(lambda: "error" in widget.state)
    widget.close()


def refused(code: str, kind: type[windrow.WindrowError], call: Callable[[], object]) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.code == code
    assert caught.value.hint


def test_what_cannot_be_drawn_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    session = session_of()
    query, rows = session.query(COUNT), session.query("SELECT k, x FROM t [1 MINUTE]")
    refused("WB121", windrow.BindingError, rows.chart)
    refused("WB121", windrow.BindingError, lambda: query.chart("k"))
    refused("WB122", windrow.BindingError, lambda: query.chart(points=1))
    refused("WB122", windrow.BindingError, lambda: query.chart(refresh=0))
    refused("WB122", windrow.BindingError, lambda: query.chart(refresh=math.nan))
    refused("WB122", windrow.BindingError, lambda: query.chart(height=True))
    monkeypatch.setitem(sys.modules, "anywidget", None)
    refused("WU321", windrow.UnsupportedError, query.chart)


def test_a_history_can_be_charted() -> None:
    session = session_of()
    session.history("t", measures=["x"], by=["k"], levels=[("1 second", "forever")])
    query = session.query(
        "SELECT k, SUM(x) AS total FROM HISTORY(t) [FROM '2026-01-01' TO NOW] GROUP BY k"
    )
    widget = query.chart(refresh=None)
    push(session, 0)
    push(session, 1, "b", 2.0)
    session.finish()
    widget.refresh()
    assert {line["label"]: line["latest"] for line in widget.lines} == {"a": "1", "b": "2"}
    widget.close()
