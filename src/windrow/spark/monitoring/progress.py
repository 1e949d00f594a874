"""Progress of a query as plain values, for people and for JSON."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from windrow.event_time import END_OF_TIME, START_OF_TIME, show_instant
from windrow.governor.window_table import WindowRow
from windrow.spark.monitoring.operator_bytes import operator_bytes
from windrow.spark.monitoring.run_meter import RunMeter
from windrow.spark.monitoring.skew import fullest_bucket, skew_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.heavy_keys import heavy_shares

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan
    from windrow.spark.monitoring.metrics import MeasuredRun

__all__ = ["lag_s", "progress_of", "run_progress"]

SECOND_US = 1_000_000
WHOLE = "triggerExecution"


def progress_of(
    query: str,
    status: QueryStatus,
    is_running: bool,
    run: MeasuredRun | None = None,
    windows: Sequence[WindowRow] = (),
    plan: RunnablePlan | None = None,
) -> dict[str, Any]:
    """What is known after the last batch; run: what runs it, if it was started."""
    clock = status.clock_us
    return {
        "query": query,
        "is_running": is_running,
        "batch_id": status.batch_id,
        "first_batch": status.first_batch,
        "began": None if status.began_us == START_OF_TIME else show_instant(status.began_us),
        "rows_in": {stream: ledger.rows_in for stream, ledger in status.ledgers.items()},
        "answers": status.answers,
        "ledger": {stream: asdict(ledger) for stream, ledger in status.ledgers.items()},
        "clock_us": clock,
        "clock": None if clock is None else show_instant(clock),
        "lag_s": lag_s(clock),
        "complete_us": dict(status.complete_us),
        "batch_ms": status.batch_ms,
        **run_progress(run),
        "state_bytes": status.state_bytes,
        "panes": status.segments,
        "rebuilt": status.rebuilt,
        "rebuilt_so_far": status.rebuilt_so_far,
        "window_rows": sum(window.rows for window in status.windows),
        "window_bytes": status.window_bytes,
        "windows": [_shown(window) for window in windows],
        "operators": [] if plan is None else operator_bytes(plan, status),
        "bucket_rows": list(status.bucket_rows),
        "bucket_bytes": list(status.bucket_bytes),
        "skew": skew_of(status.bucket_rows),
        "fullest": fullest_bucket(status.bucket_rows, status.bucket_bytes),
        "heavy_keys": [] if plan is None else heavy_shares(plan, status.heavy),
    }


def run_progress(run: MeasuredRun | None) -> dict[str, Any]:
    """How long batches take, how old answers are, and what waits."""
    last = None if run is None else run.last_progress
    meter = RunMeter() if run is None else run.meter
    parts = {} if last is None else dict(last["durationMs"] or {})
    return {
        "trigger_ms": parts.pop(WHOLE, None),
        "spark_ms": parts,
        "latency": meter.times.shown(),
        "sources": [asdict(each) for each in meter.backlogs(last)],
        "restarts": 0 if run is None else run.restarts,
    }


def lag_s(clock_us: int | None) -> float | None:
    """How far the clock of the query is behind that of this machine."""
    if clock_us is None or not START_OF_TIME < clock_us < END_OF_TIME:
        return None
    return round(time.time() - clock_us / SECOND_US, 3)


def _shown(row: WindowRow) -> dict[str, Any]:
    return {
        "window": row.window,
        "stream": row.stream,
        "rows": row.rows,
        "bytes": row.bytes,
        "wanted_us": row.wanted,
        "width_us": row.width,
        "level": row.level,
    }
