"""What the API answers, in process: queries, feeds, errors, limits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from starlette.testclient import TestClient

from support.small_registry import HOST, SECRETS, START_US, client_of, small_registry, temp_rows
from windrow.apps.console.answers import ARROW
from windrow.apps.console.limits import (
    BODY_BYTES_LIMIT,
    LIVE_CLIENTS_LIMIT,
    NAME_CHARACTERS_LIMIT,
    QUERIES_LIMIT,
    QUERY_CHARACTERS_LIMIT,
)
from windrow.apps.console.picture import PICTURE_S
from windrow.apps.console.refusals import RequestError, too_many
from windrow.apps.console.registry import Registry
from windrow.apps.console.standing import Seats
from windrow.embedded.session import EmbeddedSession
from windrow.errors import AdmissionError

COUNT = "SELECT COUNT(*) AS n FROM temp [1 MINUTE]"
JSON_TYPE = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def registry() -> Registry:
    return small_registry()


@pytest.fixture(scope="module")
def client(registry: Registry) -> Iterator[TestClient]:
    with client_of(registry) as client:
        yield client


def session_of(registry: Registry) -> EmbeddedSession:
    session = registry.runner.session
    assert isinstance(session, EmbeddedSession)
    return session


def test_a_query_is_added_read_and_stopped() -> None:
    registry = small_registry()
    client = client_of(registry)
    added = client.post("/api/v1/queries", json={"text": COUNT, "name": "mine"})
    assert (added.status_code, added.json()["state"]) == (201, "running")
    session_of(registry).push("temp", temp_rows(300, 30))
    registry.collect()
    result = client.get("/api/v1/queries/mine/result").json()
    assert result["rows"] == [[27]]  # rows of the last two seconds may still come
    assert result["at_us"] == START_US + 327 * 1_000_000 - 1
    stopped = client.delete("/api/v1/queries/mine", headers=JSON_TYPE)
    assert (stopped.status_code, stopped.json()["state"]) == (200, "ended")
    before = client.get("/api/v1/queries/mine/answers").json()
    session_of(registry).push("temp", temp_rows(330, 30))
    registry.collect()
    assert client.get("/api/v1/queries/mine/answers").json() == before
    again = client.post("/api/v1/queries", json={"text": COUNT, "name": "mine"})
    assert (again.status_code, again.json()["state"]) == (201, "running")
    assert client.get("/api/v1/queries/mine/answers?after=9").json()["rows"] == []


def test_answers_and_changes_equal_what_the_session_itself_says(client: TestClient) -> None:
    alone = small_registry(rows=0)
    handles = {query.name: query.handle for query in alone.queries()}
    session_of(alone).push("temp", temp_rows(0, 300))
    for name, handle in handles.items():
        for feed in ("answers", "changes"):
            whole = getattr(handle, feed)()
            got = client.get(f"/api/v1/queries/{name}/{feed}", params={"limit": 200_000})
            assert got.json()["next"] == whole.num_rows
            piece = client.get(f"/api/v1/queries/{name}/{feed}", headers={"accept": ARROW})
            assert piece.headers["windrow-next"] == str(whole.num_rows)
            assert pa.ipc.open_stream(piece.content).read_all() == whole


@pytest.mark.parametrize("feed", ["answers", "changes"])
def test_pieces_put_together_are_the_whole_feed(client: TestClient, feed: str) -> None:
    path = f"/api/v1/queries/rooms/{feed}"
    whole = client.get(path, params={"limit": 200_000}).json()
    for limit in (13, 100):
        rows: list[Any] = []
        after = 0
        while True:
            piece = client.get(path, params={"after": after, "limit": limit}).json()
            if not piece["rows"]:
                break
            rows += piece["rows"]
            assert piece["next"] == after + len(piece["rows"])
            after = piece["next"]
        assert rows == whole["rows"]
    last = client.get(path, params={"last": 5}).json()
    assert last["rows"] == whole["rows"][-5:]


def test_changes_add_up_to_the_result(client: TestClient) -> None:
    held: dict[tuple[Any, ...], int] = {}
    for _, change, *row in client.get("/api/v1/queries/hot/changes").json()["rows"]:
        held[tuple(row)] = held.get(tuple(row), 0) + change
    rows = [list(row) for row, count in held.items() for _ in range(count)]
    assert rows
    assert sorted(rows) == sorted(client.get("/api/v1/queries/hot/result").json()["rows"])


def test_the_plan_of_a_text_and_what_is_wrong_with_one(client: TestClient) -> None:
    good = client.post("/api/v1/explain", json={"text": COUNT}).json()
    assert (good["ok"], good["columns"]) == (True, [{"name": "n", "type": "BIGINT"}])
    assert "temp" in good["plan"]
    bad = client.post("/api/v1/explain", json={"text": "SELECT COUNT(*)\nFROM tmep [1 MINUTE]"})
    error = bad.json()["error"]
    assert (bad.status_code, bad.json()["ok"]) == (200, False)
    assert (error["line"], error["column"], error["length"]) == (2, 6, 4)
    assert "temp" in error["hint"]
    past = {"text": "SELECT COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW]"}
    assert client.post("/api/v1/explain", json=past).json()["ok"]


def test_live_windows_are_asked(client: TestClient) -> None:
    """What a running query holds can be asked for at once; what nobody holds cannot."""
    asked = client.post("/api/v1/ask", json={"text": COUNT})
    assert asked.status_code == 200
    assert [each["name"] for each in asked.json()["columns"]] == ["n"]
    ((count,),) = asked.json()["rows"]
    assert count > 0


def test_the_past_is_asked_and_drawn(client: TestClient) -> None:
    text = "SELECT location, COUNT(*) AS n FROM HISTORY(temp) [FROM '2026-01-01' TO NOW] "
    asked = client.post("/api/v1/ask", json={"text": f"{text} GROUP BY location"}).json()
    names = [each["name"] for each in asked["columns"]]
    counts = {row[0]: row[names.index("n")] for row in asked["rows"]}
    for group, count in counts.items():
        series = client.get("/api/v1/histories/temp/series", params={"group": group}).json()
        assert sum(series["count"]) == count
    series = client.get("/api/v1/histories/temp/series", params={"points": 1000}).json()
    assert sum(series["count"]) == sum(counts.values())
    assert all(series["exact"])
    assert series["grain_us"] == 1_000_000
    widths = [b - a for a, b in zip(series["t_us"], series["to_us"], strict=True)]
    assert widths == sorted(widths, reverse=True)  # finer, the newer
    tree = client.get("/api/v1/histories/temp/tree").json()
    assert sum(node["count"] for node in tree["levels"][-1]["nodes"]) == sum(counts.values())
    few = client.get("/api/v1/histories/temp/tree", params={"limit": 3}).json()
    assert (sum(len(each["nodes"]) for each in few["levels"]), few["truncated"]) == (3, True)


def test_an_empty_history_has_no_points() -> None:
    client = client_of(small_registry(rows=0))
    assert client.get("/api/v1/histories/temp/series").json()["t_us"] == []
    assert [each["nodes"] for each in client.get("/api/v1/histories/temp/tree").json()["levels"]]


def test_metrics_are_those_of_the_session(registry: Registry, client: TestClient) -> None:
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "windrow_running_queries" in answer.text
    assert session_of(registry).metrics().splitlines()[0] in answer.text


WRONG: list[tuple[str, str, Any, int, str]] = [
    ("POST", "/api/v1/queries", {"text": "SELECT COUNT(* FROM temp"}, 400, "WS"),
    ("POST", "/api/v1/queries", {"text": COUNT, "name": "rooms"}, 400, "WB104"),
    ("POST", "/api/v1/queries", {"text": COUNT, "algorithm": "magic"}, 400, "WB"),
    ("POST", "/api/v1/queries", {"text": 5}, 400, "WH408"),
    ("POST", "/api/v1/queries", [1], 400, "WH408"),
    ("POST", "/api/v1/queries", {"text": COUNT, "colour": "red"}, 400, "WH408"),
    ("POST", "/api/v1/queries", {"text": COUNT, "name": 5}, 400, "WH408"),
    ("POST", "/api/v1/queries", {"text": COUNT, "name": "x" * 101}, 413, "WH413"),
    ("POST", "/api/v1/queries", {"text": "x" * (QUERY_CHARACTERS_LIMIT + 1)}, 413, "WH413"),
    ("POST", "/api/v1/queries", {"text": "x" * BODY_BYTES_LIMIT}, 413, "WH413"),
    ("POST", "/api/v1/ask", {"text": COUNT.replace("MINUTE", "WEEK")}, 400, "W"),
    ("GET", "/api/v1/queries/nobody", None, 404, "WH405"),
    ("GET", "/api/v1/queries/nobody/result", None, 404, "WH405"),
    ("GET", "/api/v1/queries/rooms/answers?after=-1", None, 400, "WH409"),
    ("GET", "/api/v1/queries/rooms/answers?after=1e3", None, 400, "WH409"),
    ("GET", "/api/v1/queries/rooms/answers?limit=999999999", None, 400, "WH409"),
    ("GET", "/api/v1/histories/temp/series?from_us=yesterday", None, 400, "WH409"),
    ("GET", "/api/v1/histories/temp/series?measure=nothing", None, 400, "WB"),
    ("GET", "/api/v1/histories/temp/series?group=a&group=b", None, 400, "WB326"),
    ("GET", "/api/v1/histories/nothing/tree", None, 404, "WH406"),
    ("GET", "/api/v1/nothing", None, 404, "WH404"),
    ("DELETE", "/api/v1/session", None, 405, "WH410"),
]


@pytest.mark.parametrize(("method", "path", "body", "status", "code"), WRONG)
def test_errors_say_what_is_wrong(
    client: TestClient, method: str, path: str, body: Any, status: int, code: str
) -> None:
    answer = client.request(method, path, json=body, headers=JSON_TYPE)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"].startswith(code)
    assert error["message"]
    assert error["hint"] or not code.startswith("WH")
    assert len(error["message"]) < NAME_CHARACTERS_LIMIT * 10


def test_a_body_that_is_no_json_is_refused(client: TestClient) -> None:
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        answer = client.post("/api/v1/ask", content=body, headers=JSON_TYPE)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "WH408")


def test_a_console_for_looking_changes_nothing() -> None:
    client = client_of(small_registry(read_only=True))
    for answer in (
        client.post("/api/v1/queries", json={"text": COUNT}),
        client.delete("/api/v1/queries/rooms", headers=JSON_TYPE),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "WH407")
    assert client.get("/api/v1/session").json()["read_only"] is True
    assert client.post("/api/v1/explain", json={"text": COUNT}).json()["ok"]


def test_there_is_an_end_to_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.apps.console.registry.QUERIES_LIMIT", 4)
    answer = client_of(small_registry()).post("/api/v1/queries", json={"text": COUNT})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "WH503")
    assert QUERIES_LIMIT > 4


def test_a_query_that_has_ended_makes_room_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("windrow.apps.console.registry.QUERIES_LIMIT", 4)
    client = client_of(small_registry())
    assert client.delete("/api/v1/queries/hot", headers=JSON_TYPE).status_code == 200
    answer = client.post("/api/v1/queries", json={"text": COUNT, "name": "new"})
    assert answer.status_code == 201
    names = [each["name"] for each in client.get("/api/v1/queries").json()["queries"]]
    assert names == ["rooms", "all", "load", "new"]


def test_half_a_character_is_no_name() -> None:
    client = client_of(small_registry())
    body = '{"text": "' + COUNT + '", "name": "a\\ud800"}'
    answer = client.post("/api/v1/queries", content=body, headers=JSON_TYPE)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "WH408")
    assert client.get("/api/v1/queries").status_code == 200  # no such name is in the list


@pytest.mark.parametrize("path", ["x" * 300, "a/" * 200 + "b", "%00", "caf%E9", "..%2f" * 5])
def test_a_file_that_cannot_be_is_not_there(client: TestClient, path: str) -> None:
    answer = client.get(f"/static/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "WH404")


def test_trouble_with_rows_is_counted() -> None:
    registry = small_registry()
    client = client_of(registry)
    session = client.get("/api/v1/session").json()
    assert (session["error"], session["errors"]) == (None, 0)
    for problem in ("first", "second"):
        registry.note_problem(AdmissionError("WA101", problem, hint="more memory"))
    session = client.get("/api/v1/session").json()
    time.sleep(PICTURE_S)
    session = client.get("/api/v1/session").json()
    assert (session["error"]["message"], session["errors"]) == ("second", 2)


def test_a_query_says_what_it_reads_and_how_often_it_answers(client: TestClient) -> None:
    queries = {each["name"]: each for each in client.get("/api/v1/queries").json()["queries"]}
    assert queries["rooms"]["streams"] == queries["all"]["streams"] == ["temp"]
    assert (queries["rooms"]["every_us"], queries["hot"]["every_us"]) == (5_000_000, None)


def test_queries_whose_sources_have_ended_do_not_run() -> None:
    registry = small_registry()
    assert {each.state for each in registry.queries()} == {"running"}
    registry.note_end()
    assert {each.state for each in registry.queries()} == {"ended"}
    assert registry.follow("SELECT COUNT(*) AS n FROM temp [1 MINUTE]", "late").state == "ended"
    assert registry.result("rooms").num_rows == 2


def test_a_fault_of_ours_is_named_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = small_registry(rows=0)

    def broken(*_: object) -> None:
        raise RuntimeError("a secret path")

    monkeypatch.setattr(registry, "explained", broken)
    client = client_of(registry, raise_server_exceptions=False)
    answer = client.get("/api/v1/queries/rooms")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "WH500")
    assert "secret" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_seats_are_limited() -> None:
    seats = Seats(2)
    with (
        seats.taken_by_one(),
        seats.taken_by_one(),
        pytest.raises(RequestError, match="2 live listeners"),
        seats.taken_by_one(),
    ):
        pass
    assert seats.taken == 0
    assert too_many("listeners", LIVE_CLIENTS_LIMIT).status == 503


def test_live_messages_have_only_what_is_new(client: TestClient) -> None:
    headers = {"host": HOST, "authorization": f"Bearer {SECRETS.token}"}
    whole = client.get("/api/v1/queries/rooms/answers").json()["rows"]
    with client.websocket_connect("/api/v1/live", headers=headers) as socket:
        first = socket.receive_json()
        assert {"session", "queries", "windows", "streams", "batches"} <= set(first)
        socket.send_json({"watch": {"query": "rooms", "answers_after": 3}})
        answers = next_with(socket, "answers")
        assert answers["rows"] == whole[3:]
        socket.send_json({"watch": {"query": "nobody"}})
        assert next_with(socket, "error")["code"] == "WH405"
        socket.send_json({"watch": {"query": "hot", "changes_after": -2}})
        assert next_with(socket, "error")["code"] == "WH408"
        socket.send_text("{")
        assert next_with(socket, "error")["code"] == "WH408"


def next_with(socket: Any, name: str) -> Any:
    for _ in range(20):
        message = socket.receive_json()
        if name in message:
            return message[name]
    raise AssertionError(f"no {name} came")
