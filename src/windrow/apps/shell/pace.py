"""The pace of rows pushed from a file: all at once, at a rate per second, or by event time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from windrow.errors import BindingError
from windrow.schema import StreamSchema

__all__ = ["AT_ONCE", "Pace", "pace_of"]

STEP_S = 0.1
_RATE = re.compile(r"(\d+(?:\.\d+)?)/s\Z")
_SPEED = re.compile(r"(\d+(?:\.\d+)?)x\Z")


@dataclass(frozen=True)
class Pace:
    """rows_per_s, or speed: event time runs this many times as fast as the wall clock."""

    rows_per_s: float | None = None
    speed: float | None = None

    @property
    def is_at_once(self) -> bool:
        """Whether nobody waits."""
        return self.rows_per_s is None and self.speed is None

    def slices(self, schema: StreamSchema, rows: pa.Table) -> Iterator[tuple[pa.Table, float]]:
        """Parts of the rows in their order, and how many seconds to wait behind each."""
        if self.rows_per_s is not None:
            size = max(1, round(self.rows_per_s * STEP_S))
            for start in range(0, rows.num_rows, size):
                part = rows.slice(start, size)
                yield part, part.num_rows / self.rows_per_s
        elif self.speed is not None:
            yield from self._by_time(schema, rows, self.speed)
        else:
            yield rows, 0.0

    def _by_time(
        self, schema: StreamSchema, rows: pa.Table, speed: float
    ) -> Iterator[tuple[pa.Table, float]]:
        """Rows of one step of the clock on the wall together, those out of order with them."""
        column = rows.column(schema.time).cast(pa.timestamp("us", "UTC")).cast(pa.int64())
        times = column.to_pylist()
        step_us = STEP_S * speed * 1_000_000
        start = 0
        while start < len(times):
            begin = times[start] or 0
            end = start + 1
            while end < len(times) and (times[end] or 0) < begin + step_us:
                end += 1
            until = max(begin, times[end] or 0) if end < len(times) else begin
            yield rows.slice(start, end - start), (until - begin) / 1_000_000 / speed
            start = end


AT_ONCE = Pace()


def pace_of(text: str) -> Pace:
    """What `100/s`, `60x` or nothing says."""
    if not text:
        return AT_ONCE
    rate, speed = _RATE.match(text), _SPEED.match(text)
    number = float((rate or speed or [0, 0])[1])
    if number > 0:
        return Pace(rows_per_s=number) if rate else Pace(speed=number)
    raise BindingError(
        "WB523",
        f"{text!r} is not a pace",
        hint="write 100/s for rows per second, or 60x for sixty times event time",
    )
