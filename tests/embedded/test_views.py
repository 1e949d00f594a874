"""Views of a session: run once for all that read them, and the same as if written in each query."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.faults import Injected, chosen_places, fails_at, places_of
from support.view_sessions import START, rows_from, session_of, written
from windrow import BindingError, UnsupportedError
from windrow.embedded.session import EmbeddedSession
from windrow.errors import DataError, WindrowError

READERS = (
    "SELECT MAX(n) AS n, COUNT(*) AS c FROM {busy}",
    "SELECT one.k, one.n, two.n AS m FROM {busy:one} JOIN {busy:two} ON one.k = two.k",
    "SELECT k, n FROM {top}",
    "SELECT g, COUNT(*) AS n, MAX(v) AS v FROM {pairs} GROUP BY g",
    "SELECT g FROM {hot} UNION SELECT g FROM {pairs}",
    "SELECT n, x FROM {total}",
    # Ordered, so that they are trees with and without views: those change at ticks only.
    "SELECT n, x FROM {total} ORDER BY n EVERY (2 SECONDS)",
    "SELECT k, n FROM {busy} ORDER BY k EVERY (1 SECOND)",
    "SELECT k, v, (SELECT n FROM {total}) AS n FROM b [2 SECONDS]",
    "SELECT h.k, h.v FROM {hot:h} LEFT JOIN {busy:y} ON h.k = y.k WHERE y.n > 1 OR y.n IS NULL",
    "SELECT k, v FROM b [3 SECONDS] WHERE k IN (SELECT k FROM {busy} WHERE n > 2)",
    "SELECT k, v FROM b [3 SECONDS] AS o WHERE EXISTS (SELECT 1 FROM {busy:i} WHERE i.k = o.k)",
)


def outcome(query: Any) -> dict[str, list[dict[str, Any]]]:
    """All that a reader sees; rows of one instant in any order."""
    shown = {
        "changes": query.changes(),
        "answers": query.answers(),
        "result": query.result(),
    }
    return {
        name: sorted(table.to_pylist(), key=lambda row: (str(row.get("at")), str(row)))
        for name, table in shown.items()
    }


def summed(changes: list[pa.Table]) -> list[str]:
    """The rows that changes add up to."""
    found: dict[str, int] = {}
    for table in changes:
        for row in table.to_pylist():
            change = row.pop("change")
            del row["at"]
            found[str(row)] = found.get(str(row), 0) + change
    return sorted(text for text, many in found.items() for _ in range(many))


@given(
    st.lists(st.sampled_from(READERS), min_size=1, max_size=4, unique=True),
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "a", "b", "advance", "read"]),
            st.integers(0, 12),
            st.integers(0, 10_000),
        ),
        max_size=12,
    ),
)
def test_a_view_is_the_query_that_it_names(
    readers: list[str], actions: list[tuple[str, int, int]]
) -> None:
    sessions = [session_of(), session_of(has_views=False)]
    queries = [
        [session.query(written(text, is_inlined=is_inlined)) for text in readers]
        for is_inlined, session in enumerate(sessions)
    ]
    second = 0.0
    for action, count, seed in actions:
        second += (seed % 20) / 10
        for session in sessions:
            if action == "advance":
                for name in "ab":
                    session.advance(name, to=START + timedelta(seconds=second))
            elif action != "read":
                session.push(action, rows_from(seed, second, count))
        if action == "read":
            for one, other in zip(*queries, strict=True):
                assert outcome(one) == outcome(other), one.text
    for session in sessions:
        session.finish()
    for one, other in zip(*queries, strict=True):
        assert outcome(one) == outcome(other), one.text


@pytest.mark.parametrize(
    "text",
    ["SELECT n, x FROM {total} EVERY (2 SECONDS)", "SELECT k, n FROM {busy} EVERY (1 SECOND)"],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_reader_answers_at_the_ticks_of_the_one_block_that_it_would_be(
    text: str, seed: int
) -> None:
    """A block tells changes at any instant; its answers, and what changes add up to, are alike."""
    sessions = [session_of(), session_of(has_views=False)]
    queries = [
        session.query(written(text, is_inlined=is_inlined))
        for is_inlined, session in enumerate(sessions)
    ]
    for number, name in enumerate("abab"):
        for session in sessions:
            session.push(name, rows_from(seed + number, number * 1.7, 15))
    for session in sessions:
        for name in "ab":
            session.advance(name, to=START + timedelta(seconds=20))
    one, other = map(outcome, queries)
    assert one["answers"] == other["answers"]
    assert one["answers"]
    assert one["result"] == other["result"]


@pytest.mark.parametrize("seed", range(3))
def test_how_rows_are_cut_into_pushes_does_not_matter(seed: int) -> None:
    draw = random.Random(seed)
    # In the order of their times: none is late by rows of its own push.
    batches = [(name, rows_from(i, i * 0.7, 15).sort_by("ts")) for i, name in enumerate("abab")]
    whole, cut = session_of(), session_of()
    of_whole = [whole.query(written(text, is_inlined=False)) for text in READERS]
    of_cut = [cut.query(written(text, is_inlined=False)) for text in READERS]
    for name, rows in batches:
        whole.push(name, rows)
        begin = 0
        while begin < rows.num_rows:
            count = draw.randrange(1, 6)
            cut.push(name, rows.slice(begin, count))
            begin += count
            if draw.random() < 0.2:
                of_cut[0].result()
    for session in (whole, cut):
        session.finish()
    for one, other in zip(of_whole, of_cut, strict=True):
        assert outcome(one)["result"] == outcome(other)["result"]


def test_two_branches_and_two_queries_agree_at_every_instant() -> None:
    session = session_of()
    session.view("doubled", "SELECT k, 2 * n AS n FROM busy")
    difference = session.query(
        "SELECT x.k, 2 * x.n - y.n AS d FROM busy AS x JOIN doubled AS y ON x.k = y.k"
    )
    for number in range(10):
        session.push("a", rows_from(number, number * 0.8, 12))
        session.push("b", rows_from(number, number * 0.5, 3))
        changes = difference.changes()
        assert set(changes["d"].to_pylist()) <= {0}
    assert difference.result().num_rows


def of_streams(session: EmbeddedSession) -> pa.Table:
    """session.windows() without the relations of views."""
    table = session.windows()
    return table.filter(pc.invert(pc.starts_with(table["window"], "view ")))


def test_tables_and_views_are_among_the_windows() -> None:
    session = session_of()
    session.table("t", "k bigint, name string", key="k")
    session.upsert("t", {"k": [1, 2], "name": ["one", "two"]})
    session.query("SELECT x.k, t.name FROM top AS x JOIN t ON x.k = t.k", name="reader")
    session.push("a", rows_from(1, 0, 50))
    shown = {row["window"]: row for row in session.windows().to_pylist()}
    standing = {row["view"]: row for row in session.views().to_pylist()}
    assert shown["table t"]["bytes"] == session.tables()["bytes"].to_pylist()[0]
    assert (shown["table t"]["rows"], shown["table t"]["queries"]) == (2, ["reader"])
    assert (shown["view top"]["queries"], shown["view busy"]["queries"]) == (["reader"], ["top"])
    # What a view without windows holds stands in its row; else it is that of its windows.
    assert shown["view top"]["bytes"] == standing["top"]["bytes"] > 0
    assert shown["view busy"]["bytes"] == 0 < shown["busy.a"]["bytes"]
    assert shown["view busy"]["rows"] == standing["busy"]["rows"]
    read = {row["window"] for row in session.queries().to_pylist() if row["query"] == "reader"}
    assert read == {"view top", "table t"}


def test_a_view_runs_once_and_is_dropped_with_its_last_reader() -> None:
    session = session_of()
    assert of_streams(session).num_rows == 0
    first = session.query("SELECT MAX(n) AS n FROM busy", name="first")
    alone = of_streams(session).num_rows
    second = session.query("SELECT k, n FROM top", name="second")
    session.push("a", rows_from(1, 0, 50))
    session.push("a", rows_from(2, 5, 50))
    shown = of_streams(session).select(["queries", "stream"]).to_pylist()
    assert shown == [{"queries": ["busy"], "stream": "a"}]
    assert alone == 1
    first.stop()
    assert of_streams(session).num_rows == 1
    second.stop()
    assert of_streams(session).num_rows == 0
    assert session.nbytes < 4096
    assert first.result().num_rows == 1
    again = session.query("SELECT COUNT(*) AS n FROM busy")
    assert again.result().to_pylist() == [{"n": 0}]


def test_a_query_whose_life_ends_reads_rows_of_its_own() -> None:
    session = session_of()
    ended = session.query("SELECT COUNT(*) AS n FROM busy DURATION [0, 3]", name="ended")
    session.push("a", rows_from(1, 0, 20))
    session.push("a", rows_from(1, 9, 20))
    assert not ended.is_running
    assert of_streams(session).num_rows == 0


def test_a_late_reader_begins_with_what_the_view_holds() -> None:
    session = session_of()
    first = session.query("SELECT k, n FROM busy")
    session.push("a", rows_from(1, 0, 40))
    late = session.query("SELECT k, n FROM busy")
    ticking = session.query("SELECT k, n FROM busy EVERY (1 SECOND)")
    assert late.result() == first.result()
    assert late.result().num_rows
    told = [late.changes()]
    first.changes(), first.answers()
    for number in range(6):
        session.push("a", rows_from(number, 1 + number, 20))
        assert late.result() == first.result()
        told.append(late.changes())
        assert told[-1] == first.changes()
        assert late.answers() == first.answers()
    assert summed(told) == sorted(map(str, late.result().to_pylist()))
    session.advance("a", to=START + timedelta(seconds=9))
    assert ticking.result() == first.result()


def test_a_reader_that_waits_for_another_stream_sees_the_view_as_it_was() -> None:
    session, twin = session_of(), session_of(has_views=False)
    text = "SELECT y.k, y.n, b.v FROM {busy:y} JOIN b [3 SECONDS] ON y.k = b.k"
    fast = session.query("SELECT k, n FROM busy")
    slow = session.query(written(text, is_inlined=False))
    alike = twin.query(written(text, is_inlined=True))
    for number in range(12):
        for each in (session, twin):
            each.push("a", rows_from(number, number, 10))
    assert fast.result().num_rows
    held = session.nbytes
    for number in range(12):
        for each in (session, twin):
            each.push("b", rows_from(50 + number, number, 10))
        assert outcome(slow) == outcome(alike)
    (log,) = [run.log for run in session._views.runs() if run.name == "busy"]
    assert log.nbytes < 4096 < held
    for each in (session, twin):
        each.finish()
    assert outcome(slow) == outcome(alike)


def test_a_view_with_ticks_is_its_answers_at_them() -> None:
    session = session_of()
    session.view("slow", "SELECT k, COUNT(*) AS n FROM a [5 SECONDS] GROUP BY k EVERY (2 SECONDS)")
    relation = session.query("SELECT k, n FROM slow")
    answers = session.query("SELECT MAX(at) AS newest, COUNT(*) AS n FROM slow [10 SECONDS]")
    alike = session.query("SELECT k, n FROM busy EVERY (2 SECONDS)")
    for number in range(8):
        session.push("a", rows_from(number, number, 10))
    changes = relation.changes()
    assert {at.second % 2 for at in changes["at"].to_pylist()} == {0}
    assert outcome(relation)["result"] == outcome(alike)["result"]
    assert answers.result().to_pylist()[0]["n"] > 4


def test_a_view_of_all_rows_for_ever_is_part_of_each_query() -> None:
    session = session_of()
    session.view("everything", "SELECT k, v FROM a [UNBOUNDED]")
    count = session.query("SELECT COUNT(*) AS n FROM everything", name="count")
    session.push("a", rows_from(1, 0, 30))
    session.push("a", rows_from(1, 9, 1))
    assert of_streams(session)["queries"].to_pylist() == [["count"]]
    session.finish()
    late = session.ledger()["late"].to_pylist()[0]
    assert count.result().to_pylist() == [{"n": 31 - late}]


def test_a_fault_in_a_view_stops_all_that_read_it_and_no_other() -> None:
    session = session_of()
    session.view(
        "wrong", "SELECT k, CAST(v * 9223372036854775807 AS BIGINT) AS w FROM a [5 SECONDS]"
    )
    readers = [session.query("SELECT MAX(w) AS w FROM wrong") for _ in range(2)]
    other = session.query("SELECT COUNT(*) AS n FROM busy")
    with pytest.warns(RuntimeWarning, match="in view 'wrong'"):
        session.push("a", rows_from(1, 0, 20))
    session.finish()
    for reader in readers:
        with pytest.raises(DataError, match="in view 'wrong'"):
            reader.result()
    assert other.result().num_rows == 1
    assert of_streams(session)["queries"].to_pylist() == [["busy"]]


def test_refused_rows_are_told_by_those_that_read_the_view() -> None:
    session = session_of(memory=150_000)
    reader = session.query("SELECT COUNT(*) AS n FROM busy")
    refused = False
    for number in range(40):
        rows = rows_from(number, number * 0.05, 500)
        try:
            session.push("a", rows)
        except WindrowError:
            refused = True
            break
    assert refused
    session.push("a", rows_from(1, 3, 1)) if not refused else None
    session.advance("a", to=START + timedelta(seconds=4))
    assert not reader.is_complete
    assert "incomplete" in reader.answers()["level"].to_pylist()


def test_bytes_of_views_count() -> None:
    session = session_of()
    reader = session.query("SELECT MAX(n) AS n FROM busy")
    before = session.nbytes
    session.push("a", rows_from(1, 0, 2_000))
    session.push("a", rows_from(1, 4, 2_000))
    reader.result()
    assert session.nbytes - before > 4_000 * 8
    assert session.windows()["bytes"].to_pylist()[0] > 4_000 * 8


TEXTS = (READERS[1], READERS[2], READERS[6], READERS[9])


def begun() -> tuple[Any, list[Any]]:
    """A session with queries over views, and some rows."""
    session = session_of()
    queries = [session.query(written(text, is_inlined=False)) for text in TEXTS]
    for number in range(4):
        session.push("ab"[number % 2], rows_from(number, number * 0.9, 25))
    return session, queries


def operate(operation: str, session: Any, queries: list[Any]) -> None:
    if operation == "push":
        session.push("a", rows_from(9, 4, 25))
    elif operation == "finish":
        session.finish()
    elif operation == "query":
        session.query(written(READERS[3], is_inlined=False), name="new")
    else:
        queries[1].stop()


def rest_of(operation: str, session: Any, queries: list[Any]) -> list[Any]:
    """All that the queries show that are not stopped, after more rows."""
    if operation != "finish":
        session.push("b", rows_from(10, 4.5, 25))
        session.push("a", rows_from(11, 5, 25))
    session.finish()
    return [outcome(query) for query in (queries[0], *queries[2:])]


def undisturbed(operation: str, *, is_done: bool) -> list[Any]:
    session, queries = begun()
    if is_done:
        operate(operation, session, queries)
    return rest_of(operation, session, queries)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("operation", ["push", "finish", "query", "stop"])
def test_an_exception_at_any_place_leaves_views_right(operation: str) -> None:
    wanted = {each: undisturbed(operation, is_done=each) for each in (True, False)}
    session, queries = begun()
    places = places_of(lambda: operate(operation, session, queries))
    for place in chosen_places(places, is_whole=False, few=20):
        session, queries = begun()
        before = session.ledger()["rows_in"].to_pylist()
        where = fails_at(lambda s=session, q=queries: operate(operation, s, q), place, Injected())
        is_done = session.ledger()["rows_in"].to_pylist() != before
        assert rest_of(operation, session, queries) == wanted[is_done], where


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("a", "SELECT 1 AS x", "WB200"),
        ("busy", "SELECT k FROM a [1 SECOND]", "WB207"),
        ("BUSY", "SELECT k FROM a [1 SECOND]", "WB207"),
        ("new", "SELECT k FROM missing [1 SECOND]", "WB201"),
        ("new", "SELECT missing FROM a [1 SECOND]", "WB203"),
        ("new", "SELECT k FROM new", "WB260"),
        ("running", "SELECT k FROM a [1 SECOND]", "WB104"),
    ],
)
def test_a_view_that_cannot_be_is_refused_when_it_is_named(name: str, text: str, code: str) -> None:
    session = session_of()
    session.query("SELECT COUNT(*) AS n FROM a [1 SECOND]", name="running")
    with pytest.raises(BindingError) as raised:
        session.view(name, text)
    assert raised.value.code == code
    assert session.query("SELECT k FROM busy") is not None


def test_a_view_has_no_life_and_no_error_of_its_own() -> None:
    session = session_of()
    for clause in ("DURATION [0, 10]", "ERROR (5%)"):
        with pytest.raises(UnsupportedError, match="WU240"):
            session.view("new", f"SELECT COUNT(*) AS n FROM a [5 SECONDS] {clause}")


def test_a_query_cannot_have_the_name_of_a_view() -> None:
    session = session_of()
    with pytest.raises(BindingError, match="a view named 'busy' exists already"):
        session.query("SELECT k FROM a [1 SECOND]", name="busy")


def test_a_query_of_views_alone_has_its_rows_in_the_table_of_queries() -> None:
    session = session_of()
    session.query("SELECT MAX(n) AS n FROM busy AS y", name="most")
    (row,) = session.queries().filter(pa.compute.field("query") == "most").to_pylist()
    assert (row["window"], row["alias"], row["level"]) == ("view busy", "y", "A")
    assert row["range"] is None
    assert 'query="most"' in session.metrics()
