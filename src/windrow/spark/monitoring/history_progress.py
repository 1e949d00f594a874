"""Progress of a history as plain values, as that of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from windrow.event_time import show_instant
from windrow.runtime.ledger import total_ledger
from windrow.spark.monitoring.progress import lag_s, run_progress
from windrow.spark.monitoring.skew import fullest_bucket

if TYPE_CHECKING:
    from windrow.spark.monitoring.metrics import MeasuredRun
    from windrow.spark.worker.history_output import HistoryOutput

__all__ = ["history_progress"]


def history_progress(
    name: str, is_running: bool, run: MeasuredRun, outputs: Sequence[HistoryOutput]
) -> dict[str, Any]:
    """What is known after the last batch; outputs: what its buckets gave, if there was one."""
    clock = outputs[0].clock_us if outputs else None
    sizes = [each.live_bytes for each in outputs]
    return {
        "history": name,
        "is_running": is_running,
        "ledger": asdict(total_ledger(each.ledger for each in outputs)),
        "clock_us": clock,
        "clock": None if clock is None else show_instant(clock),
        "lag_s": lag_s(clock),
        **run_progress(run),
        "state_bytes": sum(each.state_bytes for each in outputs),
        "panes": sum(each.segments for each in outputs),
        "rebuilt": sum(each.was_rebuilt for each in outputs),
        "live_bytes": sum(sizes),
        "bucket_bytes": sizes,
        "fullest": fullest_bucket([each.ledger.applied for each in outputs], sizes),
    }
