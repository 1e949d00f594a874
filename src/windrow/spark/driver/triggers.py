"""When Spark runs a batch: always, at intervals, or until all that is there has been read."""

from __future__ import annotations

from typing import Any

from windrow.event_time import span_of

__all__ = ["AVAILABLE", "interval_options", "trigger_options", "trigger_us"]

AVAILABLE = "available"


def trigger_options(trigger: str | None) -> dict[str, Any]:
    """What Spark calls the trigger.

    >>> trigger_options("1 second")
    {'processingTime': '1000 milliseconds'}
    """
    return {"availableNow": True} if trigger == AVAILABLE else interval_options(trigger)


def interval_options(trigger: str | None) -> dict[str, Any]:
    """What Spark calls a trigger that never ends: a span, or None for a batch as soon as it can."""
    span_ms = (trigger_us(trigger) or 0) // 1_000
    return {"processingTime": f"{span_ms} milliseconds"}


def trigger_us(trigger: str | None) -> int | None:
    """The span between two batches, 0 where there is none; None for what is there.

    >>> trigger_us("1 second"), trigger_us(None), trigger_us("available")
    (1000000, 0, None)
    """
    if trigger == AVAILABLE:
        return None
    return 0 if trigger is None else max(0, span_of(trigger))
