"""The metrics of a session, in Prometheus' text format 0.0.4.

A session says what it knows as samples; names, kinds and meanings stand here, once, for sessions in
one process and on Spark alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["CONTENT_TYPE", "METRICS", "Histogram", "Metric", "Sample", "exposition"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


@dataclass(frozen=True)
class Metric:
    """One metric: kind is 'counter', 'gauge' or 'histogram'; where 'both', 'Spark' or 'process'."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str
    where: str = "both"


METRICS = (
    Metric("windrow_rows_in_total", "counter", ("query", "stream"), "Rows received."),
    Metric(
        "windrow_rows_settled_total",
        "counter",
        ("query", "stream", "outcome"),
        "Rows by outcome: applied, late, bad_time, bad_value or rejected.",
    ),
    Metric(
        "windrow_rows_waiting",
        "gauge",
        ("query", "stream"),
        "Rows that are not late and that the clock has not reached.",
    ),
    Metric(
        "windrow_complete_seconds",
        "gauge",
        ("query", "stream"),
        "The watermark: the event time through which a stream is complete, since 1970.",
    ),
    Metric(
        "windrow_clock_seconds",
        "gauge",
        ("query",),
        "The event time through which a query has answered, since 1970.",
    ),
    Metric(
        "windrow_clock_lag_seconds",
        "gauge",
        ("query",),
        "How far a query's clock is behind this machine's.",
    ),
    Metric(
        "windrow_window_rows", "gauge", ("window", "stream"), "Rows held; copies for hot keys too."
    ),
    Metric("windrow_window_bytes", "gauge", ("window", "stream"), "Bytes of a window."),
    Metric(
        "windrow_window_wanted_seconds",
        "gauge",
        ("window", "stream"),
        "The longest range that a query needs from a time window.",
    ),
    Metric(
        "windrow_window_width_seconds",
        "gauge",
        ("window", "stream"),
        "How far back a time window reaches, at least.",
    ),
    Metric(
        "windrow_service_level",
        "gauge",
        ("query", "window", "level"),
        "1 for the level at which a query is served: A, B, C, unmet or incomplete.",
    ),
    Metric("windrow_memory_bytes", "gauge", (), "Bytes of all windows of running queries."),
    Metric("windrow_memory_budget_bytes", "gauge", (), "Bytes that windows may use."),
    Metric("windrow_running_queries", "gauge", (), "Running queries."),
    Metric(
        "windrow_source_behind",
        "gauge",
        ("query", "stream", "unit"),
        "What waits in a source: on Spark files or offsets; in one process rows, bytes or files.",
    ),
    Metric(
        "windrow_alert_groups",
        "gauge",
        ("alert", "state"),
        "Groups that are pending or raised.",
        "process",
    ),
    Metric(
        "windrow_alert_events_total",
        "counter",
        ("alert", "state"),
        "Groups that were raised or cleared.",
        "process",
    ),
    Metric(
        "windrow_source_state",
        "gauge",
        ("stream", "state"),
        "1 for the state of a source: starting, catching up, live, failing, done, failed, stopped.",
        "process",
    ),
    Metric(
        "windrow_source_retries_total",
        "counter",
        ("stream",),
        "Failures of a source after which it was opened again.",
        "process",
    ),
    Metric(
        "windrow_source_queued_bytes",
        "gauge",
        ("stream",),
        "Bytes that were read from a source and are not applied yet.",
        "process",
    ),
    Metric("windrow_answers_total", "counter", ("query",), "Rows written to sinks.", "Spark"),
    Metric("windrow_state_bytes", "gauge", ("query",), "Bytes in the state store.", "Spark"),
    Metric("windrow_panes", "gauge", ("query",), "Panes in the state store.", "Spark"),
    Metric(
        "windrow_rebuilt_buckets_total",
        "counter",
        ("query",),
        "Buckets whose live shard was rebuilt from the state store.",
        "Spark",
    ),
    Metric(
        "windrow_bucket_rows",
        "gauge",
        ("query", "bucket"),
        "Rows that windows hold in a bucket; at most 64 buckets, the fullest ones.",
        "Spark",
    ),
    Metric(
        "windrow_bucket_skew_ratio",
        "gauge",
        ("query",),
        "Rows of the fullest bucket relative to the mean.",
        "Spark",
    ),
    Metric(
        "windrow_heavy_key_ratio",
        "gauge",
        ("query", "input", "key"),
        "The share of an input's recent rows that have this key, estimated; the heaviest only.",
        "Spark",
    ),
    Metric(
        "windrow_bucket_bytes",
        "gauge",
        ("query", "bucket"),
        "Bytes of windows and sums in a bucket; of the same buckets.",
        "Spark",
    ),
    Metric(
        "windrow_bucket_median_ratio",
        "gauge",
        ("query", "unit"),
        "Rows or bytes of the fullest bucket relative to the median.",
        "Spark",
    ),
    Metric(
        "windrow_operator_bytes",
        "gauge",
        ("query", "operator"),
        "Bytes that an operator of a query holds in memory, over all buckets.",
        "Spark",
    ),
    Metric(
        "windrow_batch_latency_seconds",
        "gauge",
        ("query", "quantile"),
        "Of the recent batches: from the begin until the sink had it.",
        "Spark",
    ),
    Metric(
        "windrow_event_latency_seconds",
        "gauge",
        ("query", "quantile"),
        "Of the recent batches: the age of the newest answer at the sink, by event time.",
        "Spark",
    ),
    Metric(
        "windrow_arrival_latency_seconds",
        "gauge",
        ("query", "quantile"),
        "Of the recent batches: from when the first row had come until the sink had it, at most.",
        "Spark",
    ),
    Metric(
        "windrow_busy_ratio",
        "gauge",
        ("query",),
        "The part of the recent time in which a batch was at work; 1 is back-pressure.",
        "Spark",
    ),
    Metric(
        "windrow_batches_over_trigger_total",
        "counter",
        ("query",),
        "Batches that took longer than the trigger.",
        "Spark",
    ),
    Metric(
        "windrow_query_restarts_total",
        "counter",
        ("query",),
        "Starts that were made once more by themselves, after a reason that passes.",
        "Spark",
    ),
    Metric("windrow_query_starts_total", "counter", ("query",), "Starts and restarts.", "Spark"),
    Metric(
        "windrow_query_ends_total",
        "counter",
        ("query", "how"),
        "Ends of a running query: stopped or failed.",
        "Spark",
    ),
    Metric("windrow_batch_seconds", "histogram", ("query",), "Time of whole batches.", "Spark"),
    Metric(
        "windrow_batch_part_seconds_total",
        "counter",
        ("query", "part"),
        "Time of batches by Spark's parts of them, such as addBatch, getBatch and walCommit.",
        "Spark",
    ),
    Metric(
        "windrow_batch_rows_total", "counter", ("query",), "Rows that Spark read for it.", "Spark"
    ),
    Metric(
        "windrow_publish_seconds",
        "gauge",
        ("query",),
        "Time on the driver of the last batch: combining, writing and saving answers.",
        "Spark",
    ),
)

_BY_NAME = {metric.name: metric for metric in METRICS}


class Histogram:
    """Counts of values by upper bounds, and their sum.

    >>> histogram = Histogram((1, 5))
    >>> for value in (0.5, 1, 3, 9): histogram.add(value)
    >>> histogram.cumulative(), histogram.total
    ([2, 3, 4], 13.5)
    """

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = tuple(bounds)
        self._counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """Counts one value."""
        place = next((i for i, bound in enumerate(self.bounds) if value <= bound), -1)
        self._counts[place] += 1
        self.total += value

    def copy(self) -> Histogram:
        """The counts so far, for another thread."""
        made = Histogram(self.bounds)
        made._counts, made.total = list(self._counts), self.total
        return made

    def cumulative(self) -> list[int]:
        """How many values are at most each bound, and how many there are."""
        counts: list[int] = []
        for count in self._counts:
            counts.append(count + (counts[-1] if counts else 0))
        return counts


@dataclass(frozen=True)
class Sample:
    """One value of a metric, with the values of its labels in the order of the metric's."""

    name: str
    value: float | Histogram
    labels: tuple[str, ...] = ()


def exposition(samples: Iterable[Sample]) -> str:
    """The samples as text, in the order of METRICS; metrics without samples are left out.

    >>> print(exposition([Sample("windrow_panes", 3, ("a",))]), end="")
    # HELP windrow_panes Panes in the state store.
    # TYPE windrow_panes gauge
    windrow_panes{query="a"} 3
    """
    by_name: dict[str, list[Sample]] = {name: [] for name in _BY_NAME}
    for sample in samples:
        by_name[sample.name].append(sample)
    lines = []
    for name, given in by_name.items():
        if given:
            metric = _BY_NAME[name]
            lines += [f"# HELP {name} {_help(metric.meaning)}", f"# TYPE {name} {metric.kind}"]
            lines += [line for sample in given for line in _lines(metric, sample)]
    return "".join(f"{line}\n" for line in lines)


def _lines(metric: Metric, sample: Sample) -> list[str]:
    labels = dict(zip(metric.labels, sample.labels, strict=True))
    if not isinstance(sample.value, Histogram):
        return [_line(metric.name, labels, sample.value)]
    histogram = sample.value
    counts = histogram.cumulative()
    bounds = [*map(_number, histogram.bounds), "+Inf"]
    lines = [
        _line(f"{metric.name}_bucket", {**labels, "le": bound}, count)
        for bound, count in zip(bounds, counts, strict=True)
    ]
    lines.append(_line(f"{metric.name}_sum", labels, histogram.total))
    return [*lines, _line(f"{metric.name}_count", labels, counts[-1])]


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    shown = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    return f"{name}{{{shown}}} {_number(value)}" if shown else f"{name} {_number(value)}"


def _escaped(text: str) -> str:
    whole = text.encode("utf-8", "replace").decode()  # a lone surrogate is no UTF-8
    return whole.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    if isinstance(value, int) or value.is_integer():
        return str(int(value)) if abs(value) < 1e15 or isinstance(value, int) else repr(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)
