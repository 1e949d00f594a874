"""Progress of a continuous question about the past as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from windrow.event_time import show_instant
from windrow.spark.monitoring.progress import lag_s, run_progress
from windrow.spark.monitoring.skew import fullest_bucket

if TYPE_CHECKING:
    from windrow.spark.driver.question_outlet import QuestionStatus
    from windrow.spark.monitoring.metrics import MeasuredRun

__all__ = ["question_progress"]


def question_progress(
    name: str, is_running: bool, run: MeasuredRun, status: QuestionStatus
) -> dict[str, Any]:
    """What is known after the last batch."""
    clock = status.clock_us
    return {
        "query": name,
        "is_running": is_running,
        "batch_id": status.batch_id,
        "answers": status.answers,
        "ledger": asdict(status.ledger),
        "clock_us": clock,
        "clock": None if clock is None else show_instant(clock),
        "lag_s": lag_s(clock),
        **run_progress(run),
        "state_bytes": status.state_bytes,
        "panes": status.segments,
        "live_bytes": status.live_bytes,
        "bucket_bytes": [status.live_bytes],
        "fullest": fullest_bucket([status.ledger.applied], [status.live_bytes]),
    }
