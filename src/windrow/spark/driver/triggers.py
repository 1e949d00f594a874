"""When Spark runs a batch: always, at intervals, or until all that is there has been read."""

from __future__ import annotations

from typing import Any

from windrow.event_time import span_of

__all__ = ["AVAILABLE", "trigger_options"]

AVAILABLE = "available"


def trigger_options(trigger: str | None) -> dict[str, Any]:
    """What Spark calls the trigger.

    >>> trigger_options("1 second")
    {'processingTime': '1000 milliseconds'}
    """
    if trigger is None:
        return {"processingTime": "0 seconds"}
    if trigger == AVAILABLE:
        return {"availableNow": True}
    return {"processingTime": f"{max(0, span_of(trigger) // 1_000)} milliseconds"}
