"""Lines that are sent to this process: over TCP, UDP, a socket of the machine, and stdin."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from windrow import sources
from windrow.connectors import record_cutter, socket_reader
from windrow.connectors.live import LiveReader, TransientError
from windrow.connectors.record_cutter import RecordCutter
from windrow.connectors.stdin_reader import StdinReader
from windrow.errors import BindingError, DataError, UnsupportedError
from windrow.schema import StreamSchema, columns_of

STREAM = StreamSchema("s", columns_of("ts timestamp, x bigint"), "ts")


def line(number: int) -> bytes:
    return b'{"ts": "2026-01-01", "x": %d}\n' % number


def framed(record: bytes) -> bytes:
    return struct.pack(">I", len(record)) + record


def read(reader: LiveReader, count: int) -> tuple[list[int], list[str]]:
    """So many rows, good and bad."""
    good: list[int] = []
    bad: list[str] = []
    for _ in range(200):
        polled = reader.poll(1000, 0.05)
        if polled is not None:
            good += polled.rows.batch["x"].to_pylist()
            bad += [each.why for each in polled.rows.bad]
        if len(good) + len(bad) >= count:
            break
    return good, bad


@pytest.fixture
def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


Opened = Callable[[], socket.socket]


def test_lines_over_tcp(port: int, closing: ExitStack) -> None:
    reader = sources.tcp(port).open_live(STREAM, None)
    closing.callback(reader.close)
    one, other = (
        closing.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in "ab"
    )
    one.sendall(line(1) + line(2)[:9])
    other.sendall(line(3))
    assert sorted(read(reader, 2)[0]) == [1, 3]
    one.sendall(line(2)[9:] + b"nonsense\n")
    good, bad = read(reader, 2)
    assert (good, len(bad)) == ([2], 1)
    one.sendall(line(4)[:-1])  # the end of the connection is that of its last line
    one.close()
    assert read(reader, 1)[0] == [4]
    assert reader.poll(1, 0) is None


def test_records_with_their_lengths(port: int, closing: ExitStack) -> None:
    reader = sources.tcp(port, framing="length").open_live(STREAM, None)
    closing.callback(reader.close)
    sender = closing.enter_context(socket.create_connection(("127.0.0.1", port)))
    spread = line(2).replace(b" ", b"\n")
    sent = framed(line(1)) + framed(spread)
    for at in range(len(sent)):
        sender.sendall(sent[at : at + 1])
    assert read(reader, 2) == ([1, 2], [])


def test_too_many_senders_are_refused(
    port: int, closing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_reader, "MOST_SENDERS", 1)
    reader = sources.tcp(port).open_live(STREAM, None)
    closing.callback(reader.close)
    first = closing.enter_context(socket.create_connection(("127.0.0.1", port)))
    first.sendall(line(1))
    assert read(reader, 1)[0] == [1]
    second = closing.enter_context(socket.create_connection(("127.0.0.1", port)))
    assert read(reader, 0) == ([], [])
    assert second.recv(1) == b""
    first.sendall(line(2))
    assert read(reader, 1)[0] == [2]


def test_datagrams(port: int, closing: ExitStack) -> None:
    reader = sources.udp(port, format="csv").open_live(STREAM, None)
    closing.callback(reader.close)
    sender = closing.enter_context(socket.socket(type=socket.SOCK_DGRAM))
    sender.sendto(b"2026-01-01,1\n2026-01-01,2", ("127.0.0.1", port))
    sender.sendto(b"2026-01-01,3\n", ("127.0.0.1", port))
    assert read(reader, 3) == ([1, 2, 3], [])
    assert reader.poll(1, 0) is None


def test_a_socket_of_this_machine(tmp_path: Path, closing: ExitStack) -> None:
    path = tmp_path / "rows.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))  # by a process that has died
    reader = sources.unix(path).open_live(STREAM, None)
    assert path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(OSError, match="in use"):
        sources.unix(path).open_live(STREAM, None)
    sender = closing.enter_context(socket.socket(socket.AF_UNIX))
    sender.connect(str(path))
    sender.sendall(line(1))
    assert read(reader, 1)[0] == [1]
    reader.close()
    assert not path.exists()


def test_a_server_that_goes_away_is_connected_to_again(port: int, closing: ExitStack) -> None:
    source = sources.socket("127.0.0.1", port)
    with pytest.raises(ConnectionRefusedError):
        source.open_live(STREAM, None)
    server = closing.enter_context(socket.create_server(("127.0.0.1", port)))
    reader = source.open_live(STREAM, None)
    closing.callback(reader.close)
    connection, _ = server.accept()
    connection.sendall(line(1))
    connection.close()
    assert read(reader, 1)[0] == [1]
    with pytest.raises(TransientError, match="has closed the connection"):
        read(reader, 1)


@pytest.mark.parametrize("framing", record_cutter.FRAMINGS)
def test_records_that_are_too_long_are_counted_and_not_held(
    framing: record_cutter.Framing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_cutter, "LONGEST_SENT_BYTES", 100)
    long, short = b"x" * 5000, b"{}"
    sent = long + b"\n" + short + b"\n"
    if framing == "length":
        sent = framed(long) + framed(short)
    for size in (1, 7, 150, 10_000):
        cutter = RecordCutter(framing, "jsonl")
        found = []
        for at in range(0, len(sent), size):
            found.append(cutter.add(sent[at : at + size]))
            assert len(cutter._begun) <= max(100, size)
        # Lines that come as a whole are there already, and so is what says that they are no rows.
        is_whole = framing == "lines" and size > len(long)
        assert b"".join(found) == (sent if is_whole else b"{}\n")
        assert cutter.too_long == (0 if is_whole else 1)


def test_stdin_is_read_to_its_end() -> None:
    reading, writing = os.pipe()
    source = sources.stdin("csv")
    assert source.guarantee == "at most once"
    reader = StdinReader(STREAM, source, reading)
    os.write(writing, b"ts,x\n2026-01-01,1\n2026-01-01,tw")
    assert read(reader, 1)[0] == [1]
    assert not reader.is_done
    os.write(writing, b"o\n2026-01-01,3")
    os.close(writing)
    good, bad = read(reader, 2)
    assert (good, len(bad), reader.is_done) == ([3], 1, True)
    os.close(reading)


def test_a_header_of_other_columns_is_refused() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"ts,y\n")
    with pytest.raises(DataError, match="WD505"):
        StdinReader(STREAM, sources.stdin("csv"), reading).poll(1, 0)
    os.close(reading)
    os.close(writing)


def test_refusals() -> None:
    with pytest.raises(BindingError, match="WB772"):
        sources.tcp(1, format="xml")
    with pytest.raises(BindingError, match="WB772"):
        sources.unix("p", framing="chunks")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(BindingError, match="WB442"):
        sources.udp(70_000)
    with pytest.raises(UnsupportedError, match="WU507"):
        sources.stdin().check_on_spark(STREAM)
