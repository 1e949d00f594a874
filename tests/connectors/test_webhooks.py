"""Webhooks against a server of HTTP that refuses, waits, breaks off and redirects."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pyarrow as pa
import pytest

from support.streams import plan_of
from windrow import sinks
from windrow.connectors.process_run import ProcessRun
from windrow.connectors.webhook import posting, writer
from windrow.connectors.webhook.messages import bodies_of
from windrow.errors import BindingError, DataError
from windrow.jobs.job import job_of

PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")
ROWS = pa.table({"k": ["lab"], "n": [7]})


class Server:
    """Answers with what is next in `answers`, then with 200; keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[int | str] = []
        self.asked: list[tuple[dict[str, str], Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((dict(self.headers), json.loads(body)))
                answer = outer.answers.pop(0) if outer.answers else 200
                if answer == "break":
                    self.connection.close()
                    return
                if answer == "wait":
                    threading.Event().wait(0.5)
                    answer = 200
                assert isinstance(answer, int)
                self.send_response(answer)
                if answer == 302:
                    self.send_header("Location", "/elsewhere")
                if answer == 429:
                    self.send_header("Retry-After", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/secret-path"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(posting, "FIRST_WAIT_S", 0.01)
    made = Server()
    yield made
    made.stop()


def opened(server: Server, state: str = "state", **options: Any) -> Any:
    sink = sinks.webhook(server.url, **{"timeout_s": 0.2, **options})
    return sink.open_in_process(ProcessRun("hot", PLAN, 1 if state else None, state))


def test_a_batch_is_posted_until_it_is_taken(server: Server) -> None:
    server.answers = [500, "break", 429, "wait", 503]
    opened(server).write({"answers": ROWS}, 3)
    keys = {headers["Idempotency-Key"] for headers, _ in server.asked}
    assert keys == {"state-hot-3-0"}
    assert len(server.asked) == 6
    assert server.asked[-1][1] == {"query": "hot", "batch": 3, "rows": [{"k": "lab", "n": 7}]}
    assert server.asked[-1][0]["Content-Type"] == "application/json"


@pytest.mark.parametrize("answer", [400, 401, 404, 302])
def test_what_will_never_be_taken_is_not_posted_again(server: Server, answer: int) -> None:
    server.answers = [answer, answer]
    with pytest.raises(DataError, match=rf"WD841.*127\.0\.0\.1.*batch 3.*HTTP {answer}") as raised:
        opened(server).write({"answers": ROWS}, 3)
    assert len(server.asked) == 1
    assert "secret" not in str(raised.value)


def test_after_the_last_attempt_it_is_an_error(server: Server) -> None:
    server.answers = [500] * 10
    with pytest.raises(DataError, match=r"WD840.*HTTP 500") as raised:
        opened(server, retries=2).write({"answers": ROWS}, 3)
    assert len(server.asked) == 3
    assert "secret" not in repr(raised.value)


def test_a_batch_of_many_rows_is_several_requests(server: Server) -> None:
    rows = pa.table({"n": range(1_200)})
    opened(server).write({"answers": rows}, 0)
    given = [body["rows"] for _, body in server.asked]
    assert [row["n"] for part in given for row in part] == list(range(1_200))
    keys = [headers["Idempotency-Key"] for headers, _ in server.asked]
    assert keys == ["state-hot-0-0", "state-hot-0-1", "state-hot-0-2"]


def test_without_a_state_batches_wait_in_a_queue(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "QUEUE_BATCHES_LIMIT", 2)
    server.answers = ["wait", 500]
    target = opened(server, "")
    for number in range(8):  # more than the queue holds
        target.write({"answers": ROWS}, number)
    target.close()
    assert sorted({body["batch"] for _, body in server.asked}) == list(range(8))
    last = [body["batch"] for _, body in server.asked]
    assert last == sorted(last)
    target.close()


def test_what_the_queue_could_not_post_is_raised(server: Server) -> None:
    server.answers = [404]
    target = opened(server, "")
    target.write({"answers": ROWS}, 0)
    with pytest.raises(DataError, match="WD841"):
        target.close()


def test_headers_and_addresses_come_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", server.url)
    monkeypatch.setenv("HOOK_AUTH", "Bearer t0ken")
    script = """
        CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIME ts FROM parquet('in');
        CREATE ALERT q AS SELECT COUNT(*) AS n FROM a [1 MINUTE] WHEN n > 1
          INTO webhook(env('HOOK'), header.Authorization = env('HOOK_AUTH'), timeout = '2 seconds');
    """
    sink: Any = job_of(script).queries["q"].sink
    assert (sink.timeout_s, sink.retries) == (2.0, 8)
    assert "t0ken" not in repr(sink)
    assert "secret" not in repr(sink)
    sink.open_in_process(ProcessRun("q", PLAN, 1, "s")).write({"answers": ROWS}, 0)
    assert server.asked[0][0]["Authorization"] == "Bearer t0ken"


def test_slack_is_told_what_was_raised() -> None:
    at = pa.array([0], pa.timestamp("us", tz="UTC"))
    rows = pa.table(
        {"at": at, "alert": ["hot"], "state": ["raised"], "since": at, "k": ["<!here>"]}
    )
    (body,) = bodies_of("slack", "hot", 0, rows)
    assert json.loads(body) == {
        "text": "*hot* raised at 1970-01-01T00:00:00.000000Z: k=&lt;!here&gt; "
        "(since 1970-01-01T00:00:00.000000Z)"
    }
    (plain,) = bodies_of("slack", "hot", 0, ROWS)
    assert json.loads(plain)["text"] == "*hot*: k=lab, n=7"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"url": "ftp://host/x"}, "WB841"),
        ({"url": "https://"}, "WB841"),
        ({"headers": {"a": "b\nc: d"}}, "WB841"),
        ({"timeout_s": 0}, "WB842"),
        ({"retries": -1}, "WB842"),
        ({"feed": "upserts"}, "WB410"),
    ],
)
def test_what_cannot_be_posted_is_refused(given: dict[str, Any], code: str) -> None:
    with pytest.raises(BindingError, match=code) as raised:
        sinks.webhook(**{"url": "https://host/secret", **given})
    assert "secret" not in str(raised.value)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(BindingError, match="WB843"):
        sinks.Webhook("https://host", form="xml")
