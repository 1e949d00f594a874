"""A job that is served: rows by POST, answers, sinks, health, and its end."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from support.small_registry import client_of
from windrow.apps.console.answers import ARROW
from windrow.apps.console.app import Service as Offered
from windrow.apps.service.service import Service
from windrow.apps.service.settings import ServiceSettings
from windrow.errors import DataError
from windrow.jobs.job import job_of

LINES = {"content-type": "application/x-ndjson"}
ROWS = "/api/v1/streams/temp/rows"
STREAM = (
    "CREATE STREAM temp (room STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts {bad} FROM http({how});"
)
COUNTS = (
    "CREATE QUERY counts AS SELECT room, COUNT(*) AS n FROM temp [1 HOUR] GROUP BY room {into};"
)


class Served:
    """A service and a client of it."""

    def __init__(self, service: Service, client: TestClient) -> None:
        self.service, self.client = service, client
        self.is_over = threading.Event()

    def post(self, body: str | bytes, **headers: str) -> Any:
        return self.client.post(ROWS, content=body, headers={**LINES, **headers})

    def counts(self) -> dict[str, int]:
        return dict(self.client.get("/api/v1/queries/counts/result").json()["rows"])


@contextmanager
def served(
    folder: Path, *, bad: str = "", how: str = "", into: str = "", state: bool = True
) -> Iterator[Served]:
    script = STREAM.format(bad=bad, how=how) + COUNTS.format(into=into)
    settings = ServiceSettings(Path("job.wql"), folder / "state" if state else None, "4 MB")
    service = Service(job_of(script), settings)
    try:
        with client_of(service.registry, Offered(service, service.inboxes)) as client:
            made = Served(service, client)
            service.start(made.is_over.set)
            until(lambda: client.get("/readyz").status_code == 200)
            yield made
    finally:
        service.close()


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def line(room: str, second: int) -> str:
    return f'{{"room": "{room}", "ts": "2026-01-01T00:00:{second:02}Z", "celsius": 20}}\n'


def test_rows_are_counted_once_however_often_they_are_sent(tmp_path: Path) -> None:
    numbered = {"windrow-producer": "me"}
    with served(tmp_path) as first:
        for sequence in (1, 1, 2):
            body = line("a", sequence) + line("b", sequence)
            answer = first.post(body, **numbered, **{"windrow-sequence": str(sequence)})
            assert answer.status_code == 200
        assert answer.json() == {"rows": 2, "set_aside": 0, "repeated": False}
        gap = first.post(line("a", 9), **numbered, **{"windrow-sequence": "4"})
        assert (gap.status_code, gap.json()["error"]["code"]) == (409, "WH414")
        assert first.post(line("a", 5)).status_code == 200  # the one whose time moves the clock
        assert first.counts() == {"a": 2, "b": 2}
    with served(tmp_path) as second:
        again = second.post(line("a", 2), **numbered, **{"windrow-sequence": "2"})
        assert again.json()["repeated"]
        second.post(line("b", 7), **numbered, **{"windrow-sequence": "3"})
        assert second.counts() == {"a": 3, "b": 2}


def test_arrow_and_json_say_the_same(tmp_path: Path) -> None:
    ts = pa.array([0, 1_000_000, 2_000_000]).cast(pa.timestamp("us", tz="UTC"))
    table = pa.table({"room": ["a", "a", "b"], "ts": ts, "celsius": [1.0, None, 3.0]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    body = sink.getvalue().to_pybytes()
    with served(tmp_path, state=False) as one:
        answer = one.post(body, **{"content-type": ARROW})
        assert answer.json() == {"rows": 3, "set_aside": 0, "repeated": False}
        assert one.counts() == {"a": 2}
        broken = one.post(body[:-20], **{"content-type": ARROW})
        assert (broken.status_code, broken.json()["error"]["code"]) == (400, "WD540")
        other = pa.BufferOutputStream()
        with pa.ipc.new_stream(other, table.select(["ts"]).schema) as writer:
            writer.write_table(table.select(["ts"]))
        lacking = one.post(other.getvalue().to_pybytes(), **{"content-type": ARROW})
        assert lacking.status_code == 400
        assert one.counts() == {"a": 2}


@pytest.mark.parametrize(("bad", "status"), [("", 200), ("ON BAD ROW FAIL", 400)])
def test_a_bad_row_is_set_aside_or_refuses_its_body(tmp_path: Path, bad: str, status: int) -> None:
    with served(tmp_path, bad=bad, state=False) as one:
        answer = one.post(line("a", 1) + '{"room": 7, "ts": "noon"}\n' + line("a", 2))
        assert answer.status_code == status
        if status == 200:
            assert answer.json() == {"rows": 3, "set_aside": 1, "repeated": False}
        else:
            assert "the body, line 2" in answer.json()["error"]["message"]
        (stream,) = one.client.get("/api/v1/streams").json()["streams"]
        assert stream["ledger"]["bad_value"] == (status == 200)
        assert stream["ledger"]["rows_in"] == (3 if status == 200 else 0)


def test_requests_that_cannot_be_rows(tmp_path: Path) -> None:
    with served(tmp_path, state=False) as one:
        wrong = one.client.post("/api/v1/streams/smoke/rows", content="{}", headers=LINES)
        assert (wrong.status_code, wrong.json()["error"]["code"]) == (404, "WH412")
        assert one.post("x", **{"content-type": "text/csv"}).json()["error"]["code"] == "WH415"
        numbered = {"windrow-producer": "x", "windrow-sequence": "-1"}
        assert one.post(line("a", 1), **numbered).json()["error"]["code"] == "WH411"
        lone = {"windrow-sequence": "1"}
        assert one.post(line("a", 1), **lone).json()["error"]["code"] == "WH411"
        assert one.post(b" " * (17 << 20)).json()["error"]["code"] == "WH413"
        assert one.post("").json() == {"rows": 0, "set_aside": 0, "repeated": False}


def test_what_waits_is_limited(tmp_path: Path) -> None:
    with served(tmp_path, how="waiting = '1 KB'", state=False) as one:
        answers: list[Any] = []
        with one.service.registry.runner.lock:  # nothing can be applied
            waiting = threading.Thread(target=lambda: answers.append(one.post(line("a", 1) * 100)))
            waiting.start()
            until(lambda: one.service.inboxes["temp"].nbytes > 1_000)
            refused = one.post(line("b", 1))
            assert refused.json()["error"]["code"] == "WH429"
            assert refused.headers["retry-after"] == "1"
        waiting.join(60)
        assert answers[0].json()["rows"] == 100
        assert one.post(line("a", 2)).status_code == 200
        assert one.counts() == {"a": 100}


def test_rows_that_memory_has_no_room_for_are_not_called_kept(tmp_path: Path) -> None:
    with served(tmp_path, state=False) as one:
        body = "".join(line(f"a{number}", number % 60) for number in range(20_000)) * 5
        answers = [one.post(body) for _ in range(3)]
        refused = [each for each in answers if each.status_code == 507]
        assert refused
        assert refused[0].json()["error"]["code"] == "WH507"
        (stream,) = one.client.get("/api/v1/streams").json()["streams"]
        assert stream["ledger"]["rejected"] > 0


def test_a_request_whose_rows_wait_at_the_end_is_told(tmp_path: Path) -> None:
    with served(tmp_path, state=False) as one:
        answers: list[Any] = []
        with one.service.registry.runner.lock:  # nothing can be applied
            waiting = threading.Thread(target=lambda: answers.append(one.post(line("a", 1))))
            waiting.start()
            until(lambda: one.service.inboxes["temp"].nbytes > 0)
            one.service.inboxes["temp"].close()
        waiting.join(60)
        assert (answers[0].status_code, answers[0].json()["error"]["code"]) == (503, "WH504")


def test_a_sink_has_all_answers_and_the_console_shows_them(tmp_path: Path) -> None:
    with served(tmp_path, into=f"EVERY (1 SECOND) INTO parquet('{tmp_path / 'out'}')") as one:
        one.post("".join(line("a", second) for second in range(10)))
        shown = one.client.get("/api/v1/queries/counts/answers").json()["rows"]
        assert len(shown) == 9
    files = sorted((tmp_path / "out").glob("*.parquet"))
    written = pa.concat_tables(pq.read_table(each) for each in files)
    assert written["n"].to_pylist() == [row[-1] for row in shown]


def test_a_sink_that_cannot_be_written_ends_the_service(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with served(tmp_path, into=f"EVERY (1 SECOND) INTO parquet('{out}')", state=False) as one:
        out.rmdir()
        out.write_text("in the way")
        one.post("".join(line("a", second) for second in range(10)))
        assert one.is_over.wait(60)
        health = one.client.get("/healthz")
        assert (health.status_code, health.json()["reasons"]) == (
            503,
            ["the work has ended: DataError"],
        )
    with pytest.raises(DataError, match="WD511"):
        one.service.raise_failure()


def test_an_alert_is_raised_and_cleared_while_it_is_served(tmp_path: Path) -> None:
    out = tmp_path / "events"
    alert = (
        "; CREATE ALERT hot AS SELECT room, MAX(celsius) AS top FROM temp [5 SECONDS] GROUP BY room"
        f" WHEN top > 10 FOR '1 second' INTO jsonl('{out}')"
    )
    with served(tmp_path, into=alert) as one:
        one.post("".join(line("a", second) for second in range(3)))
        one.post(line("b", 30))
        metrics = one.client.get("/metrics").text
        assert 'windrow_alert_events_total{alert="hot",state="cleared"} 1' in metrics
    events = [
        json.loads(row)
        for file in sorted(out.glob("*.jsonl"))
        for row in file.read_text().splitlines()
    ]
    assert [(each["state"], each["room"]) for each in events][:2] == [
        ("raised", "a"),
        ("cleared", "a"),
    ]


def test_it_is_not_ready_before_it_has_begun_nor_while_it_ends() -> None:
    job = job_of(STREAM.format(bad="", how="") + COUNTS.format(into=""))
    service = Service(job, ServiceSettings(Path("job.wql")))
    with client_of(service.registry, Offered(service, service.inboxes)) as client:
        assert client.get("/readyz").json() == {"ok": False, "reasons": ["it is starting"]}
        early = client.post(ROWS, content=line("a", 1), headers=LINES)
        assert (early.status_code, early.json()["error"]["code"]) == (503, "WH504")
        service.close()
        assert client.get("/readyz").json() == {"ok": False, "reasons": ["it is ending"]}
        assert client.get("/healthz").json() == {"ok": True, "reasons": []}


def test_queries_that_were_added_stay_after_a_restart(tmp_path: Path) -> None:
    text = "SELECT MAX(celsius) AS top FROM temp [1 HOUR]"
    with served(tmp_path) as first:
        added = first.client.post("/api/v1/queries", json={"text": text, "name": "top"})
        assert added.status_code == 201
        first.post(line("a", 1))
    with served(tmp_path) as second:
        second.post(line("a", 2))
        names = [each["name"] for each in second.client.get("/api/v1/queries").json()["queries"]]
        assert names == ["counts", "top"]
        assert second.client.get("/api/v1/queries/top/result").json()["rows"] == [[20.0]]
