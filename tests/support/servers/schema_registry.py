"""A schema registry of the tests' own: what readers ask of one, and counts of what was asked."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class SchemaRegistry:
    """Schemas by the paths at which they are asked for."""

    port: int = 0
    secret: str | None = None  # 'name:password' that must be given
    asked: list[str] = field(default_factory=list)
    answers: dict[str, Any] = field(default_factory=dict)
    failing: int | None = None  # the status of every answer

    @property
    def address(self) -> str:
        login = "" if self.secret is None else f"{self.secret}@"
        return f"http://{login}127.0.0.1:{self.port}"

    def put(
        self,
        number: int,
        schema: str,
        kind: str = "AVRO",
        references: Sequence[Mapping[str, Any]] = (),
        form: str = "",
    ) -> None:
        query = f"?format={form}" if form else ""
        told = {"schema": schema, "references": list(references)}
        # As the real one does, it leaves the kind out of Avro.
        told |= {} if kind == "AVRO" else {"schemaType": kind}
        self.answers[f"/schemas/ids/{number}{query}"] = told

    def put_subject(self, subject: str, version: int, schema: str, form: str = "") -> None:
        query = f"?format={form}" if form else ""
        self.answers[f"/subjects/{subject}/versions/{version}{query}"] = {"schema": schema}

    def answer(self, path: str, login: str | None) -> tuple[int, bytes]:
        self.asked.append(path)
        if self.failing is not None:
            return self.failing, b"{}"
        if self.secret is not None:
            wanted = base64.b64encode(self.secret.encode()).decode()
            if login != f"Basic {wanted}":
                return 401, b"{}"
        found = self.answers.get(path)
        return (404, b"{}") if found is None else (200, json.dumps(found).encode())


@contextmanager
def schema_registry(secret: str | None = None) -> Iterator[SchemaRegistry]:
    made = SchemaRegistry(secret=secret)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, body = made.answer(self.path, self.headers.get("Authorization"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
