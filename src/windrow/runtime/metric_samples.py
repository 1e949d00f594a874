"""Samples of metrics that sessions in one process and on Spark have in common."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.event_time import END_OF_TIME, START_OF_TIME
from windrow.governor.window_table import QueryRow, WindowRow
from windrow.metrics import Sample
from windrow.runtime.ledger import Ledger

__all__ = ["clock_samples", "complete_samples", "ledger_samples", "level_samples", "window_samples"]

SECOND_US = 1_000_000


def ledger_samples(query: str, stream: str, ledger: Ledger) -> list[Sample]:
    """What became of the rows of a stream; query: '' where all queries read the same rows."""
    outcomes = ("applied", "late", "bad_time", "bad_value", "rejected")
    return [
        Sample("windrow_rows_in_total", ledger.rows_in, (query, stream)),
        *(
            Sample("windrow_rows_settled_total", getattr(ledger, each), (query, stream, each))
            for each in outcomes
        ),
        Sample("windrow_rows_waiting", ledger.waiting, (query, stream)),
    ]


def complete_samples(query: str, stream: str, complete_us: int) -> list[Sample]:
    """The watermark of a stream; none before its first row and after its end."""
    if not START_OF_TIME < complete_us < END_OF_TIME:
        return []
    return [Sample("windrow_complete_seconds", complete_us / SECOND_US, (query, stream))]


def clock_samples(query: str, clock_us: int | None, now_s: float) -> list[Sample]:
    """A query's clock and how far it is behind; none before its first answer."""
    if clock_us is None or not START_OF_TIME < clock_us < END_OF_TIME:
        return []
    clock_s = clock_us / SECOND_US
    return [
        Sample("windrow_clock_seconds", clock_s, (query,)),
        Sample("windrow_clock_lag_seconds", now_s - clock_s, (query,)),
    ]


def window_samples(rows: Iterable[WindowRow]) -> list[Sample]:
    """What windows hold, and how wide they are."""
    samples = []
    for row in rows:
        labels = (row.window, row.stream)
        samples.append(Sample("windrow_window_rows", row.rows, labels))
        samples.append(Sample("windrow_window_bytes", row.bytes, labels))
        if row.wanted is not None:
            samples.append(Sample("windrow_window_wanted_seconds", row.wanted / SECOND_US, labels))
        if row.width is not None:
            samples.append(Sample("windrow_window_width_seconds", row.width / SECOND_US, labels))
    return samples


def level_samples(rows: Iterable[QueryRow]) -> list[Sample]:
    """At which level queries are served."""
    found = dict.fromkeys((row.query, row.window, row.level) for row in rows)
    return [Sample("windrow_service_level", 1, labels) for labels in found]
