"""Whether Kafka's servers answer, asked before a query starts.

Kafka's client tries for minutes, in the JVM and without a word. Here one request that every broker
answers before any log-in (ApiVersions) tells within seconds whether there is one at all.
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Mapping

from windrow.errors import DataError, Place
from windrow.interruption import raise_if_ending

__all__ = ["REACH_LIMIT_S", "check_servers"]

# So long they have to answer, all at the same time: one is enough.
REACH_LIMIT_S = 5.0
POLL_S = 0.1

_PROTOCOL = "kafka.security.protocol"
_ADDRESS = re.compile(r"(?:\w+://)?\[?([^\[\]]+?)\]?:(\d{1,5})")
# ApiVersions of version 0: its key, version, a number that comes back, and no name of a client.
_NUMBER = 1_870_000_001
_REQUEST = struct.pack(">ihhih", 10, 18, 0, _NUMBER, -1)
_HEAD = struct.Struct(">ii")  # of the answer: its length, and the number


def check_servers(servers: str, options: Mapping[str, str], place: Place | None = None) -> None:
    """Refuses servers none of which answers as a broker of Kafka does."""
    addresses = [_ADDRESS.fullmatch(each.strip()) for each in servers.split(",")]
    known = [(found[1], int(found[2])) for found in addresses if found is not None]
    if not known:
        return  # Kafka's own client says what it does not understand
    asked = _Asked(known, options.get(_PROTOCOL, "PLAINTEXT").upper().endswith("SSL"))
    if not asked.is_answered():
        raise DataError(
            "WD481",
            f"no Kafka server answers at {servers}: {asked.reason}",
            hint=(
                "start the broker, correct servers= and kafka.security.protocol, or check "
                "whether the network lets this machine connect"
            ),
            place=place,
        )


class _Asked:
    """Servers that are asked side by side, each in a thread that nobody waits for in the end."""

    def __init__(self, addresses: list[tuple[str, int]], is_secret: bool) -> None:
        self._is_secret = is_secret
        self._left = len(addresses)
        self._reasons: list[str] = []
        self._changed = threading.Condition()
        self._found = False
        for address in addresses:
            threading.Thread(target=self._ask, args=(address,), daemon=True).start()

    @property
    def reason(self) -> str:
        """Why none of them is one, as far as they have said."""
        silent = [f"no answer within {REACH_LIMIT_S:g} seconds"] if self._left else []
        return "; ".join([*dict.fromkeys(self._reasons), *silent])

    def is_answered(self) -> bool:
        """Whether one of them is a broker; waits until that is known, or the time is up."""
        deadline = time.monotonic() + REACH_LIMIT_S
        with self._changed:
            while not self._found and self._left and time.monotonic() < deadline:
                self._changed.wait(POLL_S)
                raise_if_ending()
            return self._found

    def _ask(self, address: tuple[str, int]) -> None:
        why = ""
        try:
            with socket.create_connection(address, timeout=REACH_LIMIT_S) as connection:
                (_greet if self._is_secret else _converse)(connection)
        except (OSError, ValueError) as problem:
            why = str(problem) or type(problem).__name__
        with self._changed:
            self._left -= 1
            self._found = self._found or not why
            if why:
                self._reasons.append(why)
            self._changed.notify_all()


def _converse(connection: socket.socket) -> None:
    connection.sendall(_REQUEST)
    head = b""
    while len(head) < _HEAD.size:
        part = connection.recv(_HEAD.size - len(head))
        if not part:
            raise ValueError("it closed the connection")
        head += part
    if _HEAD.unpack(head)[1] != _NUMBER:
        raise ValueError("the server there is not Kafka")


def _greet(connection: socket.socket) -> None:
    """Any answer to the beginning of TLS will do: who is let in is between Kafka and its client."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.suppress(ssl.SSLError):
        context.wrap_socket(connection).close()
