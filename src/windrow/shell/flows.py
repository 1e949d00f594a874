"""Rows that flow in the background: a file at a pace, or the smart building without end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from windrow.demo.building import LENGTH_US, SECOND_US, SLICE_US, building
from windrow.embedded.files import batches_of
from windrow.errors import WindrowError
from windrow.schema import StreamSchema
from windrow.shell.pace import Pace
from windrow.shell.workbench import Workbench
from windrow.sources import FileSource

__all__ = ["BUILDING_SPEED", "flow", "flow_of_building", "flow_of_file"]

# Half a minute of the building takes half a second: the first alarm comes within seconds.
BUILDING_SPEED = 60

Flowing = Iterator[tuple[str, pa.Table, float]]


def flow(bench: Workbench, name: str, rows: Flowing) -> threading.Thread:
    """Gives rows to streams, each so many seconds after the one before, until the shell is left."""

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


def flow_of_file(schema: StreamSchema, source: FileSource, pace: Pace) -> Flowing:
    """The rows of files at a pace."""
    for batch, _ in batches_of(schema, source):
        for part, pause_s in pace.slices(schema, batch):
            yield schema.name, part, pause_s


def flow_of_building(seed: int = 1) -> Flowing:
    """One half-hour of the smart building after the other, each with fires of its own."""
    later_us = 0
    while True:
        for piece in building(seed).slices:
            last = len(piece.rows) - 1
            for position, (stream, rows) in enumerate(piece.rows.items()):
                pause_s = SLICE_US / SECOND_US / BUILDING_SPEED if position == last else 0.0
                yield stream, _shifted(rows, later_us), pause_s
        seed += 1
        later_us += LENGTH_US


def _shifted(rows: pa.Table, later_us: int) -> pa.Table:
    column = rows.schema.get_field_index("ts")
    times = pc.add(rows.column(column), pa.scalar(later_us, pa.duration("us")))
    return rows.set_column(column, rows.schema.field(column), times)
