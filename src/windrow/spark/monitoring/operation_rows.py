"""How queries and histories are getting on, one flat row for each: for tables that people read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["OPERATION_FIELDS", "operation_rows"]

# What a row holds besides the name; all of it may be unknown.
OPERATION_FIELDS = (
    *("batches", "batch_p50_ms", "batch_p95_ms", "event_p50_ms", "event_p95_ms"),
    *("arrival_p95_ms", "busy", "over_trigger", "behind", "skew", "state_bytes", "restarts"),
)


def operation_rows(progress: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of session.progress(); behind: all that waits; skew: the fullest bucket's bytes."""
    standing = [*progress["queries"].values(), *progress["histories"].values()]
    return [_row(each) for each in standing]


def _row(progress: Mapping[str, Any]) -> dict[str, Any]:
    latency, fullest = progress["latency"], progress["fullest"]
    median = 0 if fullest is None else fullest["median_bytes"]
    found = {
        "batches": latency["batches"],
        **{
            f"{kind}_{name}_ms": latency[f"{kind}_ms"].get(name)
            for kind in ("batch", "event", "arrival")
            for name in ("p50", "p95")
        },
        "busy": latency["busy"],
        "over_trigger": latency["over_trigger"],
        "behind": _sum(source["behind"] for source in progress["sources"]),
        "skew": round(fullest["bytes"] / median, 3) if median else None,
        "state_bytes": progress["state_bytes"],
        "restarts": progress["restarts"],
    }
    name = progress.get("query") or progress["history"]
    return {"query": name, **{field: found[field] for field in OPERATION_FIELDS}}


def _sum(counts: Iterable[int | None]) -> int | None:
    """Of those that are known; None where none is."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
