"""How the batches of a query on Spark are getting on, in words."""

from __future__ import annotations

__all__ = ["operation_words"]

_MS = 1_000


def operation_words(p50_ms: float | None, p95_ms: float | None, busy: float | None) -> str:
    """One line about recent batches; empty before the first.

    >>> operation_words(120.4, 300.0, 0.4)
    'batches of 0.12 s (95 % within 0.30 s), busy 40 %'
    """
    if p50_ms is None or p95_ms is None:
        return ""
    took = f"batches of {p50_ms / _MS:.2f} s (95 % within {p95_ms / _MS:.2f} s)"
    return took if busy is None else f"{took}, busy {100 * busy:.0f} %"
