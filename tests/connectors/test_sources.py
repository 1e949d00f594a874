"""Streams that a source describes: files of each format, the clock, and lines of a socket."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from support.spark.stream_files import COLUMNS, SECOND, Sessions, rows
from windrow import connect, sources
from windrow.errors import BindingError, DataError, UnsupportedError

pytestmark = pytest.mark.spark

SUMS = "SELECT room, COUNT(*) AS n, SUM(value) AS total FROM s [1 MINUTE] GROUP BY room"
ROWS = rows(("a", SECOND, 1.5), ("b", 2 * SECOND, 2.0), ("a", 3 * SECOND, None))
EXPECTED = [{"room": "a", "n": 2, "total": 1.5}, {"room": "b", "n": 1, "total": 2.0}]
LINES = {
    "jsonl": (
        '{"room": "a", "ts": "1970-01-01T00:00:01", "value": 1.5}',
        '{"room": "b", "ts": "1970-01-01T01:00:02+01:00", "value": 2}',
        '{"room": "a", "ts": "1970-01-01T00:00:03Z"}',
    ),
    "csv": ("a,1970-01-01T00:00:01,1.5", "b,1970-01-01T00:00:02Z,2", "a,1970-01-01 00:00:03,"),
}


def result_of(sessions: Sessions, source: sources.Source) -> list[dict[str, object]]:
    session = sessions.open()
    session.stream("s", COLUMNS, time="ts", source=source)
    query = session.query(SUMS).start("memory", trigger="available")
    session.finish()
    return list(query.result().to_pylist())


@pytest.mark.parametrize("format_", ["parquet", "csv", "jsonl"])
def test_files_of_each_format(sessions: Sessions, tmp_path: Path, format_: str) -> None:
    file = tmp_path / f"rows [1].{format_}"
    if format_ == "parquet":
        pq.write_table(ROWS, file)
    elif format_ == "csv":
        pa_csv.write_csv(ROWS, file)
    else:
        file.write_text("\n".join(LINES["jsonl"]))
    # Spark must not take the neighbour for a part of the source.
    (tmp_path / f"rows 1.{format_}").write_text("nothing that can be read")
    described = getattr(sources, format_)(file, files_per_batch=1)
    assert result_of(sessions, described) == EXPECTED


@contextmanager
def server(lines: tuple[str, ...]) -> Iterator[int]:
    """Sends the lines to whoever connects, and holds the line until the end."""
    listening = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        with suppress(OSError):  # nobody came: the end below wakes it up
            connected, _ = listening.accept()
            held.append(connected)
            connected.sendall("".join(f"{line}\n" for line in lines).encode())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(listening.getsockname()[1])
    finally:
        with suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in (*held, listening):
            each.close()


@pytest.mark.long_spark
@pytest.mark.parametrize("format_", ["jsonl", "csv"])
def test_lines_of_a_socket(sessions: Sessions, format_: str) -> None:
    session = sessions.open()
    with server(LINES[format_]) as port:
        source = sources.socket("127.0.0.1", port, format_)
        session.stream("s", COLUMNS, time="ts", source=source)
        query = session.query(SUMS).start("memory")
        while session.ledger()["rows_in"].to_pylist() != [3]:
            assert not query.await_end(0.1), "it ends only by an error, which this raises"
        session.finish()
        assert query.result().to_pylist() == EXPECTED
        assert query.result(to="polars").to_dicts() == EXPECTED
        assert query.result(to="pandas").to_dict("records") == EXPECTED
        assert "windrow query" in query._repr_html_()
        assert "on Spark" in session._repr_html_()
        drawn = query.chart(refresh=None)
        drawn.close()
        assert query.answers(to="polars").height > 0
        query.stop()


@pytest.mark.long_spark
def test_rows_made_by_the_clock(sessions: Sessions) -> None:
    session = sessions.open()
    columns = pa.schema([("number", pa.int64()), ("ts", pa.timestamp("us", "UTC"))])
    session.stream("s", columns, time="ts", source=sources.rate(rows_per_second=100))
    query = session.query("SELECT MIN(number) AS low, COUNT(*) AS n FROM s [1 HOUR]")
    query.start("memory")
    # The newest row waits for a later one: of exactly a hundred that came, 99 are answered for.
    while sum(session.ledger()["applied"].to_pylist()) < 100:
        assert not query.await_end(0.1), "it ends only by an error, which this raises"
    query.stop()
    [row] = query.result().to_pylist()
    assert (row["low"], row["n"] >= 100) == (0, True)


def test_sources_that_cannot_be(sessions: Sessions, tmp_path: Path) -> None:
    session = sessions.open()
    with pytest.raises(BindingError, match="WB440"):
        sources.socket("localhost", 1, "xml")
    with pytest.raises(BindingError, match="WB441"):
        session.stream("s", COLUMNS, time="ts", source="files")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(BindingError, match="WB442"):
        sources.socket("localhost", 70_000)
    with pytest.raises(BindingError, match="WB443"):
        session.stream("s", COLUMNS, time="ts", source=sources.rate())
    with pytest.raises(DataError, match="WD412"):
        session.stream("s", COLUMNS, time="ts", source=sources.jsonl(tmp_path / "nothing"))
    with pytest.raises(UnsupportedError, match="WU502"):
        connect().stream("s", COLUMNS, time="ts", source=sources.rate())
