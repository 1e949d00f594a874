"""The metrics of a session in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from windrow.embedded.governing import Governing
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.stream_ingest import StreamIngest
from windrow.metrics import Sample
from windrow.runtime.metric_samples import (
    clock_samples,
    complete_samples,
    ledger_samples,
    level_samples,
    window_samples,
)

if TYPE_CHECKING:
    from windrow.embedded.alert_run import AlertRun
    from windrow.embedded.feeding import Feeding
    from windrow.runtime.tables.table_store import TableStore

__all__ = ["alert_samples", "session_samples", "source_samples"]


def session_samples(
    streams: Mapping[str, StreamIngest],
    clock_of: Callable[[str], int],
    running: Iterable[EmbeddedQuery],
    governing: Governing,
    budget: int,
    now_s: float,
    tables: Iterable[TableStore] = (),
) -> list[Sample]:
    """What is known now; nothing is applied for it, so that any thread may ask.

    clock_of: the clock of the slowest query on a stream.
    """
    samples = []
    for name, stream in streams.items():
        ledger, gathered = stream.ledger(clock_of(name)), stream.gathered_count
        waiting = ledger.waiting + gathered
        ledger = replace(ledger, rows_in=ledger.rows_in + gathered, waiting=waiting)
        samples += ledger_samples("", name, ledger)
        samples += complete_samples("", name, stream.completeness.through)
    for table in tables:
        samples += ledger_samples("", table.name, table.ledger)
    queries = list(running)
    for query in queries:
        samples += clock_samples(query.name, query.clock, now_s)
    samples += window_samples(governing.window_rows())
    samples += level_samples(governing.query_rows())
    samples.append(Sample("windrow_memory_bytes", governing.nbytes))
    samples.append(Sample("windrow_memory_budget_bytes", budget))
    samples.append(Sample("windrow_running_queries", len(queries)))
    return samples


def alert_samples(runs: Iterable[AlertRun]) -> list[Sample]:
    """How many groups are pending and raised, and what was told of them."""
    samples = []
    for run in runs:
        name, machine = run.bound.name, run.machine
        told = {"raised": machine.raised, "cleared": machine.cleared}
        for metric, counts in (
            ("windrow_alert_groups", machine.counts()),
            ("windrow_alert_events_total", told),
        ):
            samples += [Sample(metric, n, (name, state)) for state, n in counts.items()]
    return samples


def source_samples(feeding: Feeding | None) -> list[Sample]:
    """How the sources of a session stand; nothing where none was started."""
    samples = []
    for feed in () if feeding is None else feeding.loop.feeds:
        name, standing = feed.name, feed.standing
        waiting = feeding.loop.queue.nbytes_of(name) if feeding is not None else 0
        samples.append(Sample("windrow_source_state", 1, (name, standing.state)))
        samples.append(Sample("windrow_source_retries_total", standing.retries, (name,)))
        samples.append(Sample("windrow_source_queued_bytes", waiting, (name,)))
        if standing.lag is not None:
            labels = ("", name, standing.lag.unit)
            samples.append(Sample("windrow_source_behind", standing.lag.amount, labels))
    return samples
