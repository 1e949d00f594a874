"""A store that speaks S3, on the loopback address: moto's, in a process and a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

# Run by the server's own Python path; it prints its port. The AWS SDK takes the answer to
# Expect: 100-continue for the whole one, so that this is never seen.
_PROGRAM = """
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server
class Handler(WSGIRequestHandler):
    def parse_request(self):
        is_read = super().parse_request()
        if is_read:
            del self.headers["Expect"]
        return is_read
    def log_request(self, *_):
        pass
application = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Handler)
print(server.port, flush=True)
server.serve_forever()
"""
START_S = 60


class S3Store:
    """A server that was started, with one bucket; what it holds is gone when it is stopped."""

    def __init__(self, packages: Path, bucket: str) -> None:
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        self._server = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._server.stdout is not None
        self.address = f"http://127.0.0.1:{int(self._server.stdout.readline())}"
        self._make(bucket)

    def _make(self, bucket: str) -> None:
        request = urllib.request.Request(f"{self.address}/{bucket}", method="PUT")
        deadline = time.monotonic() + START_S
        while True:
            try:
                urllib.request.urlopen(request, timeout=10).close()
            except urllib.error.URLError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
            else:
                return

    def stop(self) -> None:
        """Ends the server."""
        self._server.kill()
        self._server.communicate()
