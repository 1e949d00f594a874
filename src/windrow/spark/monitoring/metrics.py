"""The metrics of a session on Spark, from the reports of each query's last batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from typing import Protocol

from windrow.metrics import Sample
from windrow.runtime.metric_samples import (
    clock_samples,
    complete_samples,
    ledger_samples,
    level_samples,
    window_samples,
)
from windrow.spark.driver.governed_windows import GovernedQuery, query_rows_of, window_rows_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.heavy_keys import heavy_shares

__all__ = ["MeasuredQuery", "session_samples", "skew_of"]

# A label value for each of thousands of buckets would burden Prometheus more than it is worth.
BUCKETS_SHOWN = 64


class MeasuredQuery(GovernedQuery, Protocol):
    """What is asked of a query."""

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""

    def rows_read(self, batch_id: int) -> int | None:
        """How many rows a batch has read; None where only Spark knows."""


def session_samples(queries: Iterable[MeasuredQuery], budget: int, now_s: float) -> list[Sample]:
    """How all queries stand after their last batches."""
    listed = list(queries)
    samples = []
    for query in listed:
        samples += _query_samples(query, now_s)
    running = [query for query in listed if query.is_running]
    taken = sum(query.status.window_bytes for query in running)
    samples.append(Sample("windrow_memory_bytes", taken))
    samples.append(Sample("windrow_memory_budget_bytes", budget))
    samples.append(Sample("windrow_running_queries", len(running)))
    return samples


def _query_samples(query: MeasuredQuery, now_s: float) -> list[Sample]:
    name, status = query.name, query.status
    samples = []
    for stream, ledger in status.ledgers.items():
        samples += ledger_samples(name, stream, ledger)
    for stream, complete_us in status.complete_us.items():
        samples += complete_samples(name, stream, complete_us)
    samples += clock_samples(name, status.clock_us, now_s)
    samples += window_samples(window_rows_of([query]))
    samples += level_samples(query_rows_of([query]))
    samples += [
        Sample("windrow_answers_total", status.answers, (name,)),
        Sample("windrow_state_bytes", status.state_bytes, (name,)),
        Sample("windrow_panes", status.segments, (name,)),
        Sample("windrow_rebuilt_buckets_total", status.rebuilt_so_far, (name,)),
        Sample("windrow_publish_seconds", status.batch_ms / 1_000, (name,)),
    ]
    return samples + _skew_samples(query, status)


def _skew_samples(query: MeasuredQuery, status: QueryStatus) -> list[Sample]:
    name, rows = query.name, status.bucket_rows
    fullest = heapq.nlargest(BUCKETS_SHOWN, range(len(rows)), key=rows.__getitem__)
    samples = [
        Sample("windrow_bucket_rows", rows[bucket], (name, str(bucket)))
        for bucket in sorted(fullest)
    ]
    ratio = skew_of(rows)
    if ratio is not None:
        samples.append(Sample("windrow_bucket_skew_ratio", ratio, (name,)))
    return samples + [
        Sample("windrow_heavy_key_ratio", each["share"], (name, each["input"], each["key"]))
        for each in heavy_shares(query.plan, status.heavy)
    ]


def skew_of(bucket_rows: Sequence[int]) -> float | None:
    """Rows of the fullest bucket by the mean of all; None while no bucket holds any."""
    total = sum(bucket_rows)
    return max(bucket_rows) * len(bucket_rows) / total if total else None
