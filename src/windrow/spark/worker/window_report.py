"""What a shard reports of each of its windows after a batch, and the sum over all buckets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.runtime.run_shard import RunShard

__all__ = ["RECENT_PARTS", "WindowReport", "window_reports"]

# The recent rate is that of the last part of a window's width.
RECENT_PARTS = 8


@dataclass(frozen=True)
class WindowReport:
    """One window: rows held, rows that wait, bytes of all and of the columns of rows.

    capacity: the rows that these columns have memory for. recent: rows of the last part of the
    width. oldest_us, newest_us: times of rows held; the end and the start of time where there are
    none.
    """

    position: int
    rows: int = 0
    bytes: int = 0
    waiting: int = 0
    column_bytes: int = 0
    capacity: int = 0
    recent: int = 0
    oldest_us: int = END_OF_TIME
    newest_us: int = START_OF_TIME

    def to_json(self) -> list[int]:
        """Plain numbers."""
        return [getattr(self, each.name) for each in fields(self)]

    @classmethod
    def from_json(cls, numbers: Sequence[Any]) -> WindowReport:
        """Back from to_json()."""
        return cls(*numbers)

    @classmethod
    def total(cls, input_index: int, reports: Iterable[WindowReport]) -> WindowReport:
        """One window over all buckets."""
        own = [each for each in reports if each.position == input_index]
        added = ("rows", "bytes", "waiting", "column_bytes", "capacity", "recent")
        return cls(
            input_index,
            **{name: sum(getattr(each, name) for each in own) for name in added},
            oldest_us=min((each.oldest_us for each in own), default=END_OF_TIME),
            newest_us=max((each.newest_us for each in own), default=START_OF_TIME),
        )


def window_reports(shard: RunShard) -> tuple[WindowReport, ...]:
    """The windows of one shard."""
    return tuple(_report(shard, *each) for each in shard.window_statistics())


def _report(shard: RunShard, input_index: int, rows: int, size: int) -> WindowReport:
    columns = shard.windows[input_index].columns
    times = columns.times[columns.head : columns.tail]
    part_us = shard.lifetime(input_index).hold_us // RECENT_PARTS
    recent = times.size - int(np.searchsorted(times, shard.clock - part_us, side="right"))
    return WindowReport(
        input_index,
        rows,
        size,
        columns.end - columns.tail,
        columns.nbytes,
        columns.store.places_with_memory,
        recent,
        int(times[0]) if times.size else END_OF_TIME,
        int(times[-1]) if times.size else START_OF_TIME,
    )
