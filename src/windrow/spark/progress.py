"""Progress of a query as plain values, for people and for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from windrow.event_time import show_instant
from windrow.spark.status import QueryStatus

__all__ = ["progress_of"]


def progress_of(query: str, status: QueryStatus, is_running: bool, last: Any) -> dict[str, Any]:
    """What is known after the last batch; `last` is Spark's own progress, or None."""
    clock = status.clock_us
    return {
        "query": query,
        "is_running": is_running,
        "batch_id": status.batch_id,
        "rows_in": {stream: ledger.rows_in for stream, ledger in status.ledgers.items()},
        "ledger": {stream: asdict(ledger) for stream, ledger in status.ledgers.items()},
        "clock_us": clock,
        "clock": None if clock is None else show_instant(clock),
        "complete_us": dict(status.complete_us),
        "answers": status.answers,
        "batch_ms": status.batch_ms,
        "trigger_ms": _trigger_ms(last),
        "state_bytes": status.state_bytes,
        "panes": status.panes,
        "rebuilt": status.rebuilt,
        "window_rows": sum(window.rows for window in status.windows),
        "window_bytes": status.window_bytes,
    }


def _trigger_ms(last: Any) -> int | None:
    if last is None:
        return None
    durations = dict(last["durationMs"] or {})
    return durations.get("triggerExecution")
