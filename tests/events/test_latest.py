"""latest() after every event against result() of a session that applies every push at once."""

from __future__ import annotations

import math
import warnings
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from windrow.embedded import EmbeddedSession
from windrow.events.answer import Answer

START = 1_767_225_600_000_000
SECOND = 1_000_000
COLUMNS = "ts timestamp, k int, v double, w bigint, name string"
NAMES = ("ts", "k", "v", "w", "name")
JOIN = "FROM a [4 SECONDS], b [7 SECONDS] WHERE a.k = b.k"
FORMS = {
    "whole": "SELECT COUNT(*) AS n, SUM(w) AS s, AVG(w) AS m FROM a [5 SECONDS] WHERE w > 2",
    "grouped": "SELECT k, COUNT(v) AS n, SUM(v) AS s, AVG(v) AS m FROM a [5 SECONDS] GROUP BY k",
    "two groups": "SELECT name, k, COUNT(*) AS n FROM b [5 SECONDS] GROUP BY name, k",
    "having": "SELECT k, SUM(w) + 1 AS s FROM a [9 SECONDS] GROUP BY k HAVING COUNT(*) > 1",
    "slide": "SELECT COUNT(*) AS n, SUM(w) AS s FROM a [RANGE 6 SECONDS SLIDE 2 SECONDS]",
    "every": "SELECT COUNT(*) AS n FROM b [6 SECONDS] EVERY (2 SECONDS)",
    "join": f"SELECT COUNT(*) AS n, SUM(a.w) AS s, AVG(b.v) AS m, COUNT(b.name) AS c {JOIN}",
    "join by key": f"SELECT a.k, COUNT(*) AS n, SUM(b.w) AS s, MAX(a.w) AS m {JOIN} GROUP BY a.k",
    "join having": f"SELECT a.k AS k {JOIN} AND a.w <> 3 GROUP BY a.k HAVING SUM(b.w) >= 4",
    "text keys": (
        "SELECT COUNT(*) AS n, SUM(a.v) AS s FROM a [4 SECONDS], b [4 SECONDS] "
        "WHERE a.name = b.name AND (a.w IS NULL OR NOT a.w IN (1, 2))"
    ),
    "self join": "SELECT COUNT(*) AS n FROM a [3 SECONDS] x, a [6 SECONDS] y WHERE x.k = y.w",
    "star": (
        "SELECT COUNT(*) AS n, SUM(c.w) AS s, COUNT(a.v) AS m FROM a [4 SECONDS], b [6 SECONDS], "
        "a [8 SECONDS] c WHERE a.k = b.k AND b.k = c.k"
    ),
    "extremes": "SELECT k, MIN(w) AS l, MAX(v) AS h, MAX(name) AS t FROM a [5 SECONDS] GROUP BY k",
    "values": "SELECT COUNT(DISTINCT v) AS n, COUNT(DISTINCT name) AS m FROM a [5 SECONDS]",
    "select": "SELECT k, v, w * 2 AS w, name FROM a [5 SECONDS] WHERE w BETWEEN 1 AND 4",
    "distinct": "SELECT DISTINCT k, name FROM b [5 SECONDS]",
    "a tree": "SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k ORDER BY n DESC, k LIMIT 2",
}  # fmt: skip

values = st.fixed_dictionaries(
    {
        "k": st.sampled_from([None, 1, 1, 2, 3]),
        "v": st.sampled_from([None, 0.5, -1.25, 1e10, 0.1, 3.0, math.nan, -0.0, 0.0]),
        "w": st.sampled_from([None, 1, 2, 3, 4, -(2**40)]),
        "name": st.sampled_from([None, "x", "y", "é"]),
    }
)
# A step of time (back, too: late rows), the stream, how it is pushed, and whether somebody looks.
actions = st.lists(
    st.tuples(
        st.sampled_from([0, 0, 1, 1, 2, 5, -1, -3, 20]),
        st.sampled_from("ab"),
        st.sampled_from(["dict", "tuple", "dict", "tuple", "list", "table", "advance"]),
        values,
        st.sampled_from([False, False, False, True]),
    ),
    min_size=6,
    max_size=28,
)


def session_with(clock: str) -> tuple[EmbeddedSession, dict[str, windrow.Query]]:
    session = windrow.connect(clock=clock)
    late = {"a": 0, "b": 2 if clock == "complete" else 0}
    for name, lateness in late.items():
        session.stream(name, COLUMNS, time="ts", lateness=lateness)
    return session, {name: session.query(text) for name, text in FORMS.items()}


def do(session: EmbeddedSession, kind: str, stream: str, row: dict[str, Any]) -> None:
    if kind == "advance":
        session.advance(stream, to=row["ts"])
    elif kind == "tuple":
        session.push(stream, tuple(row[name] for name in NAMES))
    elif kind == "list":
        session.push(stream, [row, {**row, "ts": row["ts"] - SECOND}])
    elif kind == "table":
        columns = {name: pa.array([value]) for name, value in row.items()}
        columns["ts"] = columns["ts"].cast(pa.timestamp("us", tz="UTC"))
        session.push(stream, pa.table(columns))
    else:
        session.push(stream, row)


def shown(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@settings(max_examples=8)
@given(steps=actions)
def test_latest_is_the_result_after_every_push(
    clock: str, steps: list[tuple[int, str, str, dict[str, Any], bool]]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session, queries = session_with(clock)
        other, slow = session_with(clock)
        at = START
        for move, stream, kind, row, looks in steps:
            at += move * SECOND
            for each in (session, other):
                do(each, kind, stream, {"ts": at, **row})
            for name, query in queries.items():
                latest, wanted = query.latest(), slow[name].result().to_pylist()
                assert shown(latest) == shown(wanted), (name, latest, wanted)
                if looks:
                    assert shown(query.result().to_pylist()) == shown(wanted), name
        for each in (session, other):
            each.finish()
        for name, query in queries.items():
            assert shown(query.latest()) == shown(slow[name].result().to_pylist()), name
            assert query.answers().equals(slow[name].answers()), name


def test_every_form_has_a_run_but_trees() -> None:
    session, queries = session_with("complete")
    for second in range(4):
        for stream in "ab":
            row = {"ts": START + second * SECOND, "k": 1, "v": 0.5, "w": 1, "name": "x"}
            session.push(stream, row)
            for query in queries.values():
                query.latest()
    without = [name for name, query in queries.items() if not query.has_run]  # type: ignore[attr-defined]
    assert without == ["a tree"]


def test_an_answer_knows_when_it_holds() -> None:
    session, queries = session_with("arrival")
    answer = queries["whole"].latest()
    assert isinstance(answer, Answer)
    assert (answer, answer.at) == ([{"n": 0, "s": None, "m": None}], None)
    for second in (3, 4):
        session.push("a", (START + second * SECOND, 1, 0.5, 7, "x"))
        answer = queries["whole"].latest()
        assert answer.at is not None
        assert (answer.at.second, answer.level, answer.error_bound) == (second, "A", None)
