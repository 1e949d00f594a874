"""Metrics: text that Prometheus reads, the table of the docs, and the server."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow import sources
from windrow.embedded.session import EmbeddedSession
from windrow.errors import BindingError
from windrow.metrics import CONTENT_TYPE, METRICS, Histogram, Sample, exposition
from windrow.metrics_server import CONNECTIONS_LIMIT, _names_of

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
START = datetime(2026, 1, 1, tzinfo=UTC)
LINE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)\Z", re.S)
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\\\|\\"|\\n)*)"(?:,|\Z)', re.S)


class Read(NamedTuple):
    """One line, as a scraper reads it."""

    name: str
    labels: dict[str, str]
    value: float


def read(text: str) -> list[Read]:
    """A strict reading of the text format."""
    assert text.endswith("\n")
    found = []
    for line in text[:-1].split("\n"):
        if line.startswith("#"):
            assert re.match(r"# (HELP|TYPE) [a-z_]+ .+\Z", line)
            continue
        match = LINE.match(line)
        assert match, line
        written = match[2] or ""
        labels = LABEL.findall(written)
        assert "".join(f'{name}="{value}",' for name, value in labels) == written + "," * bool(
            written
        )
        found.append(
            Read(match[1], {name: plain(value) for name, value in labels}, float(match[3]))
        )
    return found


def plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text)


def value(text: str, name: str, **labels: str) -> float:
    (found,) = [each for each in read(text) if each.name == name and each.labels == labels]
    return found.value


@pytest.fixture
def session() -> Iterator[EmbeddedSession]:
    made = EmbeddedSession(memory="64 MB")
    made.stream("t", "ts timestamp, x bigint", time="ts", lateness="1 second")
    yield made
    made.stop()


def rows(*seconds: int) -> list[dict[str, object]]:
    return [{"ts": START + timedelta(seconds=each), "x": each} for each in seconds]


def test_a_session_says_how_it_stands(session: EmbeddedSession) -> None:
    session.query("SELECT COUNT(*) AS n FROM t [10 SECONDS]", name="n")
    session.push("t", rows(0, 5, 9))
    session.push("t", rows(1))
    session.advance("t", to=START + timedelta(seconds=9))
    session.push("t", rows(12))
    text = session.metrics()
    found = {
        outcome: value(text, "windrow_rows_settled_total", query="", stream="t", outcome=outcome)
        for outcome in ("applied", "late", "bad_time", "rejected")
    }
    # The last row is not looked at yet, as it came alone.
    assert found == {"applied": 3, "late": 1, "bad_time": 0, "rejected": 0}
    assert value(text, "windrow_rows_in_total", query="", stream="t") == 5
    assert value(text, "windrow_rows_waiting", query="", stream="t") == 1
    assert value(text, "windrow_clock_seconds", query="n") == START.timestamp() + 9
    assert value(text, "windrow_clock_lag_seconds", query="n") > 0
    assert value(text, "windrow_memory_budget_bytes") == session.memory
    assert 0 < value(text, "windrow_memory_bytes") < session.memory
    assert value(text, "windrow_running_queries") == 1
    (level,) = [each for each in read(text) if each.name == "windrow_service_level"]
    assert (level.labels["query"], level.labels["level"]) == ("n", "A")
    (width,) = [each for each in read(text) if each.name == "windrow_window_width_seconds"]
    assert (width.labels["stream"], width.value) == ("t", 10)
    assert session.ledger().to_pylist()[0]["rows_in"] == 5


@given(st.lists(st.text(), min_size=2, max_size=2), st.floats() | st.integers())
def test_labels_and_values_come_back(labels: list[str], number: float) -> None:
    text = exposition([Sample("windrow_rows_waiting", number, (labels[0], labels[1]))])
    (found,) = read(text)
    assert list(found.labels.values()) == [
        each.encode("utf-8", "replace").decode() for each in labels
    ]
    # What reads it knows doubles only.
    assert found.value == float(number) or (found.value != found.value and number != number)


def test_a_histogram_adds_up() -> None:
    histogram = Histogram((0.1, 1))
    for each in (0.05, 0.1, 0.5, 3):
        histogram.add(each)
    text = exposition([Sample("windrow_batch_seconds", histogram, ("q",))])
    counts = [(each.labels.get("le"), each.value) for each in read(text)]
    assert counts == [("0.1", 2), ("1", 3), ("+Inf", 4), (None, 3.65), (None, 4)]


def test_names_follow_the_conventions() -> None:
    for metric in METRICS:
        assert metric.name.startswith("windrow_")
        assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert len({metric.name for metric in METRICS}) == len(METRICS)


def test_sources_say_how_they_stand(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"ts": "2026-01-01", "x": 1}\n')
    session = EmbeddedSession()
    assert "windrow_source" not in session.metrics()
    session.stream("s", "ts timestamp, x int", time="ts", source=sources.jsonl(file))
    session.query("SELECT COUNT(*) AS n FROM s [1]")
    session.run()
    text = session.metrics()
    assert value(text, "windrow_source_state", stream="s", state="done") == 1
    assert value(text, "windrow_source_retries_total", stream="s") == 0
    assert value(text, "windrow_source_queued_bytes", stream="s") == 0


def test_the_page_lists_every_metric() -> None:
    page = PAGE.read_text(encoding="utf-8")
    rest, spark = page.split("## On Spark")
    both, process = rest.split("## In one process")
    for text, where in ((both, "both"), (process, "process"), (spark, "Spark")):
        listed = re.findall(r"^\| `(\w+)` \| (\w+) \| (.*?) \| (.*) \|$", text, re.M)
        assert listed == [
            (metric.name, metric.kind, ", ".join(metric.labels), metric.meaning)
            for metric in METRICS
            if metric.where == where
        ]


def asked(port: int, method: str, path: str, host: str | None = None) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, headers={} if host is None else {"Host": host})
    return connection.getresponse()


def test_the_server_answers_for_metrics_only(session: EmbeddedSession) -> None:
    server = session.serve_metrics()
    assert server.address == f"http://127.0.0.1:{server.port}/metrics"
    answer = asked(server.port, "GET", "/metrics?now")
    assert (answer.status, answer.getheader("Content-Type")) == (200, CONTENT_TYPE)
    assert value(answer.read().decode(), "windrow_rows_in_total", query="", stream="t") == 0
    assert asked(server.port, "GET", "/").status == 404
    assert asked(server.port, "POST", "/metrics").status == 501
    session.stop()
    with pytest.raises(ConnectionError):
        asked(server.port, "GET", "/metrics")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        *(("localhost:9999", 200), ("127.0.0.1", 200), ("[::1]:80", 200)),
        *(("evil.example", 421), ("10.0.0.5:9464", 421), ("a@127.0.0.1", 421), ("", 421)),
    ],
)
def test_a_name_that_was_made_to_lead_here_is_not_served(
    session: EmbeddedSession, host: str, status: int
) -> None:
    server = session.serve_metrics()
    assert asked(server.port, "GET", "/metrics", host).status == status
    session.stop()


def test_others_are_served_by_number_and_by_the_name_of_this_machine() -> None:
    allows = _names_of("0.0.0.0")
    assert allows("10.0.0.5:9464")
    assert allows(f"{socket.gethostname().lower()}:9464")
    assert not allows("evil.example:9464")
    assert not allows(None)
    assert _names_of("metrics.example")("metrics.example:9464")


def test_connections_that_say_nothing_do_not_keep_a_scraper_out(session: EmbeddedSession) -> None:
    server = session.serve_metrics()
    address = ("127.0.0.1", server.port)
    before = threading.active_count()
    with ExitStack() as silent:
        for _ in range(CONNECTIONS_LIMIT + 20):
            one = silent.enter_context(closing(socket.create_connection(address, timeout=10)))
            one.send(b"GET /met")
        assert asked(server.port, "GET", "/metrics").status == 200
        assert threading.active_count() <= before + CONNECTIONS_LIMIT + 5
    session.stop()


def test_a_place_that_is_taken_is_told(session: EmbeddedSession) -> None:
    server = session.serve_metrics()
    with pytest.raises(BindingError, match="WB470"):
        session.serve_metrics(port=server.port)
    with pytest.raises(BindingError, match="WB470"):
        session.serve_metrics(port=70_000)


def test_scrapes_while_rows_come_in(session: EmbeddedSession) -> None:
    session.query("SELECT x, COUNT(*) AS n FROM t [10 SECONDS] GROUP BY x", name="n")
    problems: list[BaseException] = []
    over = threading.Event()

    def scrape() -> None:
        try:
            while not over.is_set():
                text = session.metrics()
                came = value(text, "windrow_rows_in_total", query="", stream="t")
                kept = value(text, "windrow_rows_waiting", query="", stream="t")
                settled = [each for each in read(text) if "settled" in each.name]
                assert came == kept + sum(each.value for each in settled)
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=scrape)
    thread.start()
    for number in range(300):
        session.push("t", rows(number, number + 1))
        if number % 10 == 0:
            session.push("t", rows(*range(number, number + 30)))
    over.set()
    thread.join()
    assert problems == []
