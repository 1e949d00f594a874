"""Readers of sockets: lines that others send, to a server of ours or from one of theirs.

What was sent is gone once it is read: after a crash it does not come again. While the session has
no room nothing is read, so that senders over TCP wait; datagrams are lost then.
"""

from __future__ import annotations

import os
import selectors
import socket
import stat
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from windrow.connectors.line_rows import LineRows
from windrow.connectors.live import LiveReader, Polled, TransientError
from windrow.connectors.record_cutter import LONGEST_SENT_BYTES, RecordCutter
from windrow.rows.file_rows import FileRows

__all__ = [
    "MOST_SENDERS",
    "Datagrams",
    "OneSender",
    "Senders",
    "connected",
    "listening_on_path",
    "listening_on_port",
]

# More senders at once are refused: each may have the beginning of a record in memory.
MOST_SENDERS = 64
READ_BYTES = 1 << 18
DATAGRAM_BYTES = 1 << 16
MOST_DATAGRAMS = 4096  # in one batch
CONNECT_S = 5.0
TOO_LONG = f"it is longer than {LONGEST_SENT_BYTES:,} bytes"


@dataclass
class _Sender:
    socket: socket.socket
    name: str
    cutter: RecordCutter


class Senders(LiveReader):
    """Streams of bytes: those that connect to a server of ours, or one that we connected to."""

    def __init__(
        self,
        lines: LineRows,
        cutter: Callable[[], RecordCutter],
        server: socket.socket | None = None,
        client: socket.socket | None = None,
        name: str = "",
        path: Path | None = None,
    ) -> None:
        self._lines, self._cutter, self._server, self._name = lines, cutter, server, name
        self._path = path  # of a socket in the file system, removed at the end
        self._selector = selectors.DefaultSelector()
        self._senders: set[socket.socket] = set()
        self._ready: deque[Polled] = deque()
        self._records = self.refused = 0
        if server is not None:
            server.setblocking(False)
            self._selector.register(server, selectors.EVENT_READ)
        if client is not None:
            self._add(client, name)

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next whole records of a sender that has sent some."""
        if not self._ready:
            for key, _ in self._selector.select(timeout_s):
                if key.fileobj is self._server:
                    self._accept()
                else:
                    self._read(key.data)
        return self._ready.popleft() if self._ready else None

    def close(self) -> None:
        """Close all connections, and listen no more."""
        for key in [*self._selector.get_map().values()]:
            self._selector.unregister(key.fileobj)
            key.fileobj.close()  # type: ignore[union-attr]
        self._selector.close()
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink()

    def _accept(self) -> None:
        assert self._server is not None
        try:
            connection, address = self._server.accept()
        except (BlockingIOError, ConnectionError):
            return
        if len(self._senders) >= MOST_SENDERS:
            self.refused += 1
            connection.close()
            return
        shown = f"{address[0]}:{address[1]}" if isinstance(address, tuple) else self._name
        self._add(connection, shown)

    def _add(self, connection: socket.socket, name: str) -> None:
        connection.setblocking(False)
        sender = _Sender(connection, name, self._cutter())
        self._senders.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, sender)

    def _read(self, sender: _Sender) -> None:
        try:
            data = sender.socket.recv(READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        too_long = sender.cutter.too_long
        whole = sender.cutter.add(data) if data else sender.cutter.rest()
        self._give(self._lines.of(whole, sender.name, None))
        for _ in range(sender.cutter.too_long - too_long):
            self._give(self._lines.unreadable(b"", TOO_LONG, sender.name, None))
        if not data:
            self._selector.unregister(sender.socket)
            self._senders.discard(sender.socket)
            sender.socket.close()

    def _give(self, rows: FileRows) -> None:
        if rows.num_rows:
            self._records += rows.num_rows
            self._ready.append(Polled(rows, {"received": self._records}))


class OneSender(Senders):
    """The connection to a server; it is opened again when that closes it."""

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The next whole records."""
        if not self._senders and not self._ready:
            raise TransientError(f"{self._name} has closed the connection")
        return super().poll(most_rows, timeout_s)


class Datagrams(LiveReader):
    """Datagrams, each of one or several whole records."""

    def __init__(self, lines: LineRows, receiver: socket.socket, name: str) -> None:
        self._lines, self._receiver, self._name = lines, receiver, name
        receiver.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(receiver, selectors.EVENT_READ)
        self._records = 0

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """The datagrams that are there."""
        if not self._selector.select(timeout_s):
            return None
        found: list[bytes] = []
        with suppress(BlockingIOError):
            while len(found) < min(most_rows, MOST_DATAGRAMS):
                found.append(self._receiver.recv(DATAGRAM_BYTES))
        data = b"".join(each if each.endswith(b"\n") else each + b"\n" for each in found)
        rows = self._lines.of(data, self._name, None)
        self._records += rows.num_rows
        return Polled(rows, {"received": self._records}) if rows.num_rows else None

    def close(self) -> None:
        """Listen no more."""
        self._selector.close()
        self._receiver.close()


def listening_on_port(host: str, port: int, kind: socket.SocketKind) -> socket.socket:
    """A socket that others can send to; OSError where the port is taken."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=kind)[0]
    made = socket.socket(family, kind)
    try:
        if kind == socket.SOCK_STREAM:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        if kind == socket.SOCK_STREAM:
            made.listen(MOST_SENDERS)
    except BaseException:
        made.close()
        raise
    return made


def listening_on_path(path: Path) -> socket.socket:
    """A socket in the file system, which this user alone may reach.

    One that a process has left there, which does not listen any more, is replaced.
    """
    if path.exists() and stat.S_ISSOCK(path.stat().st_mode) and not _is_listened_to(path):
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(os.fspath(path))
        path.chmod(0o600)
        made.listen(MOST_SENDERS)
    except BaseException:
        made.close()
        raise
    return made


def _is_listened_to(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trying:
        trying.settimeout(CONNECT_S)
        try:
            trying.connect(os.fspath(path))
        except ConnectionRefusedError:
            return False
    return True


def connected(host: str, port: int) -> socket.socket:
    """A connection to a server; OSError where nobody answers."""
    return socket.create_connection((host, port), timeout=CONNECT_S)
