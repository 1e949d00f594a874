"""Rows of a file that flow in the background at a pace."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pyarrow as pa

from windrow.apps.shell.pace import Pace
from windrow.apps.shell.workbench import Workbench
from windrow.connectors.contract import Source
from windrow.errors import WindrowError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["flow", "flow_of_file"]

Flowing = Iterator[tuple[str, pa.Table | FileRows, float]]


def flow(bench: Workbench, name: str, rows: Flowing) -> threading.Thread:
    """Pushes rows into streams, each some seconds after the one before, until the shell ends."""

    def run() -> None:
        due = time.monotonic()
        try:
            for stream, part, pause_s in rows:
                bench.give(stream, part)
                due = max(due + pause_s, time.monotonic() - 1)
                if bench.closed.wait(max(0.0, due - time.monotonic())):
                    return
        except WindrowError as error:
            bench.note_problem(error)

    bench.begin_flow()
    thread = threading.Thread(target=run, name=name, daemon=True)
    thread.start()
    return thread


def flow_of_file(schema: StreamSchema, source: Source, pace: Pace) -> Flowing:
    """The rows of files at a pace."""
    for rows, _ in source.read(schema):
        if rows.bad:
            yield schema.name, FileRows(rows.batch.slice(0, 0), rows.bad), 0.0
        for part, pause_s in pace.slices(schema, pa.Table.from_batches([rows.batch])):
            yield schema.name, part, pause_s
