"""The metrics of a session on Spark, from the reports of each query's last batch."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from windrow.metrics import Sample
from windrow.runtime.metric_samples import (
    clock_samples,
    complete_samples,
    ledger_samples,
    level_samples,
    window_samples,
)
from windrow.spark.driver.governed_windows import GovernedQuery, query_rows_of, window_rows_of
from windrow.spark.monitoring.operator_bytes import operator_bytes
from windrow.spark.monitoring.run_meter import RunMeter
from windrow.spark.monitoring.skew import median_ratio, skew_of
from windrow.spark.monitoring.status import QueryStatus
from windrow.spark.shuffle.heavy_keys import heavy_shares

__all__ = ["MeasuredQuery", "MeasuredRun", "session_samples"]

# A label value for each of thousands of buckets would burden Prometheus more than it is worth.
BUCKETS_SHOWN = 64


class MeasuredRun(Protocol):
    """What is asked of a run on Spark."""

    @property
    def meter(self) -> RunMeter:
        """What it measures of itself."""

    @property
    def restarts(self) -> int:
        """How often it was started once more by itself."""

    @property
    def last_progress(self) -> Mapping[str, Any] | None:
        """What Spark says of the last batch."""


class MeasuredQuery(GovernedQuery, Protocol):
    """What is asked of a query."""

    @property
    def is_running(self) -> bool:
        """Whether Spark is at work on it."""

    def rows_read(self, batch_id: int) -> int | None:
        """How many rows a batch has read; None where only Spark knows."""

    @property
    def run(self) -> MeasuredRun:
        """What runs it on Spark."""


def session_samples(
    queries: Iterable[MeasuredQuery],
    budget: int,
    now_s: float,
    histories: Mapping[str, MeasuredRun] | None = None,
) -> list[Sample]:
    """How all queries stand after their last batches; histories: their runs, by name."""
    listed = list(queries)
    samples = []
    for query in listed:
        samples += _query_samples(query, now_s)
        samples += _run_samples(query.name, query.run)
    for name, run in (histories or {}).items():
        samples += _run_samples(name, run)
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
        *(
            Sample("windrow_operator_bytes", each["bytes"], (name, each["operator"]))
            for each in operator_bytes(query.plan, status)
        ),
    ]
    return samples + _skew_samples(query, status)


def _run_samples(name: str, run: MeasuredRun) -> list[Sample]:
    """Latencies, the load, what waits in sources, and restarts."""
    times = run.meter.times
    samples = [
        Sample(f"windrow_{kind}_latency_seconds", us / 1e6, (name, str(quantile)))
        for kind, quantiles in times.quantiles().items()
        for quantile, us in quantiles.items()
    ]
    if times.busy is not None:
        samples.append(Sample("windrow_busy_ratio", times.busy, (name,)))
    samples.append(Sample("windrow_batches_over_trigger_total", times.over_trigger, (name,)))
    samples.append(Sample("windrow_query_restarts_total", run.restarts, (name,)))
    for each in run.meter.backlogs(run.last_progress):
        if each.behind is not None:
            labels = (name, each.stream, each.unit)
            samples.append(Sample("windrow_source_behind", each.behind, labels))
    return samples


def _skew_samples(query: MeasuredQuery, status: QueryStatus) -> list[Sample]:
    name, rows = query.name, status.bucket_rows
    fullest = heapq.nlargest(BUCKETS_SHOWN, range(len(rows)), key=rows.__getitem__)
    samples = [
        Sample("windrow_bucket_rows", rows[bucket], (name, str(bucket)))
        for bucket in sorted(fullest)
    ]
    sizes = status.bucket_bytes
    samples += [
        Sample("windrow_bucket_bytes", sizes[bucket], (name, str(bucket)))
        for bucket in sorted(fullest)
        if sizes
    ]
    ratio = skew_of(rows)
    if ratio is not None:
        samples.append(Sample("windrow_bucket_skew_ratio", ratio, (name,)))
    for unit, held in (("rows", rows), ("bytes", sizes)):
        ratio = median_ratio(held)
        if ratio is not None:
            samples.append(Sample("windrow_bucket_median_ratio", ratio, (name, unit)))
    return samples + [
        Sample("windrow_heavy_key_ratio", each["share"], (name, each["input"], each["key"]))
        for each in heavy_shares(query.plan, status.heavy)
    ]
