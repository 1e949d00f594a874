"""A small HTTP server that answers GET /metrics, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from windrow.errors import BindingError
from windrow.metrics import CONTENT_TYPE

__all__ = ["MetricsServer"]

# A reader that has connected and says nothing is let go after so long.
SILENT_S = 10


class MetricsServer:
    """Serves what `text` gives until close(); port and address say where."""

    def __init__(self, text: Callable[[], str], host: str, port: int) -> None:
        try:
            self._server = _Server((host, port), _handler_of(text))
        except (OSError, OverflowError) as problem:
            raise BindingError(
                "WB470",
                f"metrics cannot be served at {host}:{port}: {problem}",
                hint="give another port, or 0 for any that is free",
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
    daemon_threads = True
    allow_reuse_address = True


def _handler_of(text: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = SILENT_S
        server_version = "windrow"
        sys_version = ""

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(HTTPStatus.NOT_FOUND, "only /metrics is here")
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
