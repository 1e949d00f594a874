"""Tables in a session: forms of rows, changelogs, errors, memory, and what reads them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import windrow
from windrow.errors import AdmissionError, BindingError, DataError, UnsupportedError, WindrowError
from windrow.runtime.tables.table_store import TableStore

START = datetime(2026, 1, 1, tzinfo=UTC)
ROOMS = [{"id": 1, "name": "lab"}, {"id": 2, "name": "hall"}]


def session_of(memory: str = "64 MB", time: str | None = None) -> Any:
    session = windrow.connect(memory=memory)
    session.stream("s", "ts timestamp, room int, v int", time="ts")
    session.table("rooms", "id int, name string, ts timestamp", key="id", time=time)
    return session


def rows_of(session: Any) -> list[tuple[int, str]]:
    found = session.ask("SELECT id, name FROM rooms ORDER BY id")
    return [(row["id"], row["name"]) for row in found.to_pylist()]


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def push(session: Any, *rows: tuple[float, int]) -> None:
    session.push("s", [{"ts": at(second), "room": room, "v": 1} for second, room in rows])


# ---- what is given


@pytest.mark.parametrize(
    "form",
    [
        ROOMS,
        {"id": [1, 2], "name": ["lab", "hall"], "ts": [None, None]},
        pa.Table.from_pylist([{**row, "ts": None} for row in ROOMS]),
        pd.DataFrame([{**row, "ts": pd.NaT} for row in ROOMS]),
    ],
)
def test_rows_come_in_all_forms(form: Any) -> None:
    session = session_of()
    session.upsert("rooms", form)
    assert rows_of(session) == [(1, "lab"), (2, "hall")]


@pytest.mark.parametrize(
    "keys",
    [
        1,
        [1],
        [(1,)],
        {"id": 1},
        [{"id": 1, "name": "x"}],
        {"id": [1]},
        pa.table({"id": pa.array([1], pa.int32()), "other": ["x"]}),
        pa.array([1], pa.int32()),
    ],
)
def test_keys_come_in_all_forms(keys: Any) -> None:
    session = session_of()
    session.upsert("rooms", ROOMS)
    session.delete("rooms", keys)
    session.delete("rooms", [7])
    assert rows_of(session) == [(2, "hall")]


def test_of_rows_with_equal_keys_the_last_wins() -> None:
    session = session_of()
    session.upsert("rooms", [{"id": 1, "name": "a"}, {"id": 1, "name": "b"}])
    assert rows_of(session) == [(1, "b")]
    assert session.ledger().filter(pa.compute.field("stream") == "rooms")["applied"][0].as_py() == 2


def test_keys_are_equal_where_values_are() -> None:
    session = windrow.connect()
    session.table("t", "d double, n int", key="d")
    session.upsert("t", [{"d": 0.0, "n": 1}, {"d": float("nan"), "n": 2}])
    session.upsert("t", [{"d": -0.0, "n": 3}, {"d": float("nan"), "n": 4}])
    assert session.ask("SELECT n FROM t ORDER BY n").to_pylist() == [{"n": 3}, {"n": 4}]


# ---- changelogs


def test_a_changelog_with_operations() -> None:
    session = session_of()
    log = [
        {"op": "+I", "id": 1, "name": "a"},
        {"op": "+I", "id": 2, "name": "b"},
        {"op": "-U", "id": 1, "name": "a"},
        {"op": "+U", "id": 1, "name": "c"},
        {"op": "-D", "id": 2, "name": "b"},
    ]
    session.changelog("rooms", log)
    assert rows_of(session) == [(1, "c")]
    session.changelog("rooms", pa.Table.from_pylist([{"kind": "d", "id": 1}]), op="kind")
    assert rows_of(session) == []


def test_envelopes_of_debezium() -> None:
    session = session_of()
    log = [
        {"before": None, "after": ROOMS[0], "op": "r"},
        '{"payload": {"before": null, "after": {"id": 2, "name": "hall"}, "op": "c", "ts_ms": 5}}',
        {"before": {"id": 1}, "after": {"id": 3, "name": "moved"}, "op": "u"},
        {"before": {"id": 2}, "after": None, "op": "d"},
        None,
    ]
    session.changelog("rooms", log, format="debezium-json")
    assert rows_of(session) == [(3, "moved")]


def test_upserts_and_tombstones() -> None:
    session = session_of()
    log = ['{"id": 1, "name": "a"}', {"key": {"id": 2}, "value": '{"name": "b"}'}]
    session.changelog("rooms", log, format="upsert-json")
    assert rows_of(session) == [(1, "a"), (2, "b")]
    session.changelog("rooms", [{"key": 1, "value": None}], format="upsert-json")
    assert rows_of(session) == [(2, "b")]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ([{"op": "?", "id": 1}], "changelog"),
        ([{"id": 1}], "changelog"),
        ([5], "changelog"),
        ([{"op": "u", "before": None, "after": None}], "debezium-json"),
        ([{"op": "+I", "after": {"id": 1}}], "debezium-json"),
        (5, "changelog"),
        ([], "avro"),
    ],
)
def test_a_changelog_that_cannot_be_read_is_refused_whole(changes: Any, kind: str) -> None:
    session = session_of()
    good = [{"op": "+I", "id": 9, "name": "x"}]
    given = [*good, *changes] if isinstance(changes, list) and kind == "changelog" else changes
    with pytest.raises(DataError, match="WD717"):
        session.changelog("rooms", given, format=kind)
    assert rows_of(session) == []


# ---- time


def test_what_comes_holds_from_the_next_instant_on() -> None:
    session = session_of()
    query = session.query(
        "SELECT s.room, rooms.name FROM s [10 SECONDS] LEFT JOIN rooms "
        "FOR SYSTEM_TIME AS OF s.ts ON s.room = rooms.id"
    )
    session.upsert("rooms", ROOMS)
    push(session, (1, 1))
    session.advance("s", to=at(5))
    session.upsert("rooms", {"id": 1, "name": "new"})
    push(session, (6, 1))
    session.delete("rooms", 1)
    push(session, (7, 1))
    session.finish()
    names = [row["name"] for row in query.changes().to_pylist()]
    assert names == ["lab", "new", None]


def test_versions_are_of_their_own_time_and_late_ones_are_counted() -> None:
    session = session_of(time="ts")
    now = session.query("SELECT id, name FROM rooms")
    old = session.query(
        "SELECT s.ts, r.name FROM s [1 MINUTE] JOIN rooms FOR SYSTEM_TIME AS OF s.ts AS r "
        "ON s.room = r.id"
    )
    session.upsert(
        "rooms", [{"id": 1, "name": "b", "ts": at(2)}, {"id": 1, "name": "a", "ts": at(0)}]
    )
    assert now.result().num_rows == 0  # no stream has come so far
    push(session, (1, 1), (2, 1), (3, 1))
    session.upsert("rooms", {"id": 1, "name": "older", "ts": at(1)})
    assert now.result().to_pylist() == [{"id": 1, "name": "b"}]
    session.upsert("rooms", {"id": 1, "name": "late", "ts": at(2.5)})
    assert now.result().to_pylist() == [{"id": 1, "name": "late"}]
    session.upsert("rooms", {"id": 1, "name": "future", "ts": at(60)})
    push(session, (4, 1))
    session.finish()
    assert [row["name"] for row in old.result().sort_by("ts").to_pylist()] == [
        "a",
        "b",
        "b",
        "late",
    ]
    assert now.result().to_pylist() == [{"id": 1, "name": "future"}]
    (row,) = [row for row in session.ledger().to_pylist() if row["stream"] == "rooms"]
    assert (row["rows_in"], row["applied"], row["late"]) == (5, 3, 2)


def test_proctime_is_the_time_of_the_row() -> None:
    texts = (
        "SELECT s.v, r.name FROM s [5 SECONDS] JOIN rooms FOR SYSTEM_TIME AS OF s.ts AS r "
        "ON s.room = r.id",
        "SELECT s.v, r.name FROM s [5 SECONDS] JOIN rooms AS r FOR SYSTEM_TIME AS OF PROCTIME() "
        "ON s.room = r.id",
        "SELECT b.v, r.name FROM (SELECT *, PROCTIME() AS p FROM s [5 SECONDS]) AS b "
        "JOIN rooms FOR SYSTEM_TIME AS OF b.p AS r ON b.room = r.id",
    )
    session = session_of()
    queries = [session.query(text) for text in texts]
    for second in range(8):
        session.upsert("rooms", {"id": 1, "name": f"at {second}"})
        push(session, (second, 1))
    session.finish()
    first, *others = [query.changes().to_pylist() for query in queries]
    assert first
    assert all(each == first for each in others)


def test_a_late_query_begins_with_the_table_as_it_is() -> None:
    session = session_of()
    session.upsert("rooms", ROOMS)
    push(session, (1, 1), (2, 2))
    query = session.query("SELECT s.room, rooms.name FROM s [9 SECONDS] JOIN rooms ON room = id")
    push(session, (3, 1))
    session.finish()
    assert query.result().to_pylist() == [{"room": 1, "name": "lab"}]


def test_views_over_tables_agree_with_what_they_read() -> None:
    session = session_of()
    session.view("named", "SELECT s.room, rooms.name FROM s [9 SECONDS] JOIN rooms ON room = id")
    session.view("short", "SELECT name FROM rooms WHERE LENGTH(name) < 5")
    query = session.query(
        "SELECT COUNT(*) AS n FROM named JOIN rooms ON named.name <> rooms.name "
        "AND named.room = rooms.id"
    )
    other = session.query("SELECT COUNT(*) AS n FROM short")
    for second in range(6):
        session.upsert("rooms", {"id": second % 2, "name": f"at {second}"})
        push(session, (second, second % 2))
    session.finish()
    assert {row["n"] for row in query.answers().to_pylist()} == {0}
    assert other.result().to_pylist() == [{"n": 2}]


# ---- streams by time


def test_asof_join_of_two_streams() -> None:
    session = windrow.connect()
    for name in ("trades", "quotes"):
        session.stream(name, "ts timestamp, k string, p int", time="ts")
    query = session.query(
        "SELECT t.p, q.p AS quote FROM trades [1 MINUTE] AS t "
        "ASOF LEFT JOIN quotes [1 MINUTE] AS q ON t.k = q.k AND t.ts >= q.ts"
    )
    session.push("quotes", [{"ts": at(i), "k": "a", "p": i} for i in (1, 3, 5)])
    session.push("trades", [{"ts": at(i), "k": "a", "p": i} for i in (0, 3, 4, 6)])
    session.finish()
    found = {row["p"]: row["quote"] for row in query.result().to_pylist()}
    assert found == {0: None, 3: 3, 4: 3, 6: 5}


# ---- memory


def test_an_upsert_that_does_not_fit_is_refused_whole() -> None:
    session = session_of(memory="1 MB")
    session.upsert("rooms", ROOMS)
    many = [{"id": i, "name": "x" * 1_000} for i in range(3_000)]
    with pytest.raises(AdmissionError, match="WA713"):
        session.upsert("rooms", many)
    assert rows_of(session) == [(1, "lab"), (2, "hall")]
    assert session.nbytes < 1 << 20


def test_updates_do_not_add_up() -> None:
    session = session_of(memory="4 MB")
    query = session.query("SELECT COUNT(*) AS n FROM rooms")
    for number in range(100):
        session.upsert("rooms", [{"id": i, "name": f"{number}" * 20} for i in range(40)])
        push(session, (number, 1))
    assert query.result().to_pylist() == [{"n": 40}]
    assert session.tables()["bytes"][0].as_py() < 200_000


def test_versions_are_kept_while_rows_can_ask_for_them() -> None:
    session = session_of()
    query = session.query(
        "SELECT s.room, rooms.name FROM s [10 SECONDS] JOIN rooms FOR SYSTEM_TIME AS OF s.ts "
        "ON s.room = rooms.id"
    )
    sizes = []
    for number in range(90):
        session.upsert("rooms", [{"id": i, "name": "x" * 50} for i in range(10)])
        push(session, (number, 1))
        session.ledger()  # all rows are applied
        sizes.append(session._ingest.tables.stores["rooms"].log.nbytes)
    assert query.result().num_rows > 0
    assert max(sizes[60:]) <= 2 * max(sizes[:30])


# ---- saved and restored


def test_a_table_is_saved_and_restored() -> None:
    session = session_of(time="ts")
    query = session.query("SELECT id FROM rooms")
    push(session, (1, 1))
    session.upsert("rooms", [{"id": i, "name": "x", "ts": at(i / 2)} for i in range(5)])
    session.delete("rooms", [0])
    store = session._ingest.tables.stores["rooms"]
    again = TableStore.restore(store.schema, store.snapshot())
    assert again.snapshot() == store.snapshot()
    assert again.table().equals(store.table())
    assert again.waiting.size == store.waiting.size > 0
    assert query.result().num_rows == again.row_count


# ---- errors

TABLE_ERRORS = [
    ("WB710", lambda s: s.upsert("room", ROOMS)),
    ("WB710", lambda s: s.upsert("s", ROOMS)),
    ("WB710", lambda s: s.push("rooms", ROOMS)),
    ("WB711", lambda s: s.table("t", "a int", key=[])),
    ("WB711", lambda s: s.table("t", "a int", key=["b"])),
    ("WB711", lambda s: s.table("t", "a int", key=["a", "a"])),
    ("WB711", lambda s: s.table("t", "a int, b int", key="a", time="b")),
    ("WB711", lambda s: s.table("t", "a int", key="a", time="ts")),
    ("WD712", lambda s: s.upsert("rooms", [{"id": 1}, {"id": None, "name": "x"}])),
    ("WD712", lambda s: s.delete("rooms", [(1, 2)])),
    ("WD712", lambda s: s.delete("rooms", [None])),
    ("WD103", lambda s: s.upsert("rooms", [{"id": "one"}])),
    ("WD102", lambda s: s.upsert("rooms", [{"identity": 1}])),
    ("WB718", lambda s: s.table("Rooms", "a int", key="a")),
    ("WB718", lambda s: s.stream("rooms", "ts timestamp", time="ts")),
    ("WB200", lambda s: s.table("s", "a int", key="a")),
    ("WU304", lambda s: s.table("t", "a int", key="a", source=object())),
]
QUERY_ERRORS = [
    ("WB714", "SELECT id FROM rooms [10 SECONDS]"),
    ("WB716", "SELECT v FROM s [1 MINUTE] JOIN s FOR SYSTEM_TIME AS OF s.ts AS b ON s.v = b.v"),
    ("WB716", "SELECT id FROM rooms FOR SYSTEM_TIME AS OF PROCTIME()"),
    ("WB716", "SELECT v FROM s [1 MINUTE] JOIN rooms FOR SYSTEM_TIME AS OF s.v ON room = id"),
    ("WB716", "SELECT v FROM s [1 MINUTE] JOIN rooms FOR SYSTEM_TIME AS OF s.ts ON name = 'a'"),
    (
        "WB716",
        "SELECT 1 AS x FROM (SELECT MAX(ts) AS ts, room FROM s [1 MINUTE] GROUP BY room) AS q "
        "JOIN rooms FOR SYSTEM_TIME AS OF q.ts ON room = id",
    ),
    ("WB716", "SELECT PROCTIME() AS p, 1 AS x FROM rooms"),
    ("WB789", "SELECT v FROM s [1 MINUTE], rooms FOR SYSTEM_TIME AS OF s.ts"),
    ("WB789", "SELECT s.v FROM s [1 MINUTE] ASOF JOIN s [1 MINUTE] AS b ON s.v = b.v"),
    ("WB789", "SELECT s.v FROM s [1 MINUTE] ASOF JOIN s [1 MINUTE] AS b ON s.ts <= b.ts"),
    (
        "WU787",
        "SELECT v FROM s [1 MINUTE] FULL JOIN rooms FOR SYSTEM_TIME AS OF s.ts ON room = id",
    ),
    (
        "WU787",
        "SELECT v FROM s [1 MINUTE] AS o WHERE EXISTS (SELECT 1 FROM s [1 MINUTE] AS i JOIN rooms "
        "FOR SYSTEM_TIME AS OF i.ts AS r ON i.room = r.id AND r.name = CAST(o.v AS STRING))",
    ),
]


@pytest.mark.parametrize(("code", "action"), TABLE_ERRORS)
def test_what_is_wrong_with_a_table_is_told(code: str, action: Any) -> None:
    with pytest.raises(WindrowError, match=code) as caught:
        action(session_of())
    assert caught.value.hint


@pytest.mark.parametrize(("code", "text"), QUERY_ERRORS)
def test_what_is_wrong_with_a_query_is_told(code: str, text: str) -> None:
    with pytest.raises((BindingError, UnsupportedError), match=code) as caught:
        session_of().query(text)
    assert caught.value.hint


def test_a_stopped_session_takes_no_rows() -> None:
    session = session_of()
    session.stop()
    with pytest.raises(DataError, match="WD121"):
        session.upsert("rooms", ROOMS)


def test_refused_rows_are_counted() -> None:
    session = session_of()
    with pytest.raises(DataError, match="row 2 for table 'rooms' has no 'id'"):
        session.upsert("rooms", [{"id": 1}, {"id": None}])
    (row,) = [row for row in session.ledger().to_pylist() if row["stream"] == "rooms"]
    assert row["rejected"] == row["rows_in"] == 2
    assert session.bad_rows("rooms").num_rows == 0
    assert 'stream="rooms"' in session.metrics()


def test_explain_names_the_table() -> None:
    session = session_of()
    text = (
        "SELECT rooms.name FROM s [10 SECONDS] LEFT JOIN rooms FOR SYSTEM_TIME AS OF s.ts "
        "ON id = room"
    )
    plan = session.query(text).explain()
    assert plan.startswith("tree over 1 window and table rooms")
    assert "versions stay for 10 seconds after the next one" in plan
    assert (
        session.query("SELECT COUNT(*) AS n FROM rooms")
        .explain()
        .startswith("tree over table rooms")
    )
