"""A small HTTP server that answers GET /metrics, in a thread of its own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from windrow.errors import BindingError
from windrow.host_names import LOOPBACK_NAMES, is_address, is_loopback, name_and_port
from windrow.metrics import CONTENT_TYPE

__all__ = ["MetricsServer"]

# An idle connection is closed after this many seconds.
SILENT_S = 10
# At most this many connections at a time; one more closes the oldest.
CONNECTIONS_LIMIT = 32


class MetricsServer:
    """Serves what `text` gives until close(); port and address say where."""

    def __init__(self, text: Callable[[], str], host: str, port: int) -> None:
        try:
            self._server = _Server((host, port), _handler_of(text, _names_of(host)))
        except (OSError, OverflowError) as problem:
            raise BindingError(
                "WB470",
                f"metrics cannot be served at {host}:{port}: {problem}",
                hint="choose another port, or 0 for any free one",
            ) from problem
        self.host, self.port = host, int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where a scraper finds the metrics."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/metrics"

    def close(self) -> None:
        """Answers no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """A thread for each connection, of which there are few: a scrape takes milliseconds."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, *given: Any) -> None:
        self._open: dict[socket.socket, None] = {}  # in the order in which they came
        self._changing = threading.Lock()
        super().__init__(*given)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changing:
            oldest = next(iter(self._open)) if len(self._open) >= CONNECTIONS_LIMIT else None
            self._open[request] = None
            if oldest is not None:
                del self._open[oldest]
                # Its thread finds the end of what it reads, and closes it.
                with suppress(OSError):
                    oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._changing:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One that goes in the middle is nothing to tell."""


def _names_of(host: str) -> Callable[[str | None], bool]:
    """Which Host headers are answered: a page elsewhere must not make its name lead here.

    Numbers are no names. Of names there are those of this machine, and the one that was given.
    """
    if is_loopback(host):
        known = {*LOOPBACK_NAMES, host}
        return lambda given: name_and_port(given)[0] in known
    known = {*LOOPBACK_NAMES, host, socket.gethostname().lower()}

    def allows(given: str | None) -> bool:
        name, _ = name_and_port(given)
        return name is not None and (name in known or is_address(name))

    return allows


def _handler_of(
    text: Callable[[], str], allows: Callable[[str | None], bool]
) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = SILENT_S
        server_version = "windrow"
        sys_version = ""

        def do_GET(self) -> None:
            names = self.headers.get_all("Host", [])
            if len(names) != 1 or not allows(names[0]):
                words = "this server has another name: use its numeric address"
                self.send_error(HTTPStatus.MISDIRECTED_REQUEST, words)
                return
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(HTTPStatus.NOT_FOUND, "only /metrics exists here")
                return
            try:
                body = text().encode()
            except Exception as problem:
                self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, type(problem).__name__)
                return
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """A scrape each few seconds is nothing to tell."""

    return Handler
