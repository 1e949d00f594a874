"""A task of Spark that breaks off anywhere in a bucket's step, and is tried again in its process.

What the state store was given is then thrown away, and the worker process stays: what it holds in
memory must not be what the broken attempt has made of it. The same holds of the driver, where a
batch is published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from spark.driver.test_bundles import common_partitioning
from spark.worker.test_history_step import BY_ROOM, LEVELS_OF_H, H, batches_of_h
from support.faults import (
    Injected,
    chosen_on_spark,
    lines_outside_with,
    raising_at,
    spots_of,
)
from support.spark.driven_bundle import DrivenBundle
from support.spark.driven_job import DrivenJob, heartbeat, order
from support.spark.history_buckets import Buckets
from support.spark.stream_files import COLUMNS, SECOND, in_order, random_batches
from windrow.event_time import END_OF_TIME
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.schema import StreamSchema, columns_of
from windrow.spark.driver.publication import Publication
from windrow.spark.shuffle.packets import Packet
from windrow.spark.worker import history_segments, shard_segments
from windrow.sql import parse_query
from windrow.windows.lifetime import Lifetime

STREAMS = [StreamSchema(name, columns_of(COLUMNS), "ts", SECOND) for name in ("h", "c")]
QUERIES = {
    "join": """SELECT h.room, COUNT(*) AS n, MAX(h.value) AS most FROM h [8 SECONDS], c [5 SECONDS]
               WHERE h.room = c.room GROUP BY h.room""",
    "last-rows": "SELECT room, AVG(value) AS m FROM h [PARTITION BY room ROWS 3] GROUP BY room",
    "rows": "SELECT room, value FROM h [4 SECONDS] WHERE value > 3",
    "ticks": "SELECT room, COUNT(*) AS n FROM h [8 SECONDS] GROUP BY room EVERY (2 SECONDS)",
    "tolerant": "SELECT COUNT(*) AS n FROM h [8 SECONDS] ERROR (20%)",
}
GUESTS = [
    "SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS] WHERE h.room = c.room "
    "GROUP BY h.room",
    "SELECT MAX(c.value) AS n FROM h [3 SECONDS], c [6 SECONDS] WHERE h.room = c.room",
]
BATCHES = 4  # the last but one is broken off
PLACES = 12  # that are tried where not all are


class Worker:
    """Batches for one process; what each gives in a form that can be compared."""

    def __init__(
        self, holder: Any, batches: list[Callable[[], object]], shown: Callable[[], object] = dict
    ) -> None:
        self._holder = holder
        self.batches = batches
        self.shown = shown  # what the driver tells between batches

    def broken_off(self, batch: Callable[[], object], number: int) -> None:
        """The batch raises at a line; nothing that it gave the state store is committed."""
        before = [state.copy() for state in self._holder.states]
        with pytest.raises(Injected), raising_at(number, Injected(), lines_outside_with):
            batch()
        self._holder.states = before


def plan_of(text: str) -> QueryPlan:
    return bind(parse_query(text), Catalog(*STREAMS))


def query_worker(text: str, folder: Path) -> Worker:
    job = DrivenJob(plan_of(text), folder, buckets=2 if "GROUP" in text else 1)
    narrower = [order(1, Lifetime.closed(5 * SECOND))] if "ERROR" in text else []

    def batch(tables: dict[str, pa.Table], orders: list[Packet]) -> object:
        given = job.batch({name: tables[name] for name in job.plan.streams}, orders)
        shown = {feed: in_order(table) for feed, table in given.items()}
        status = job.publication.status
        ledgers = {stream: asdict(ledger) for stream, ledger in status.ledgers.items()}
        return shown, ledgers, status.clock_us, status.answers

    made = random_batches(BATCHES - 1, seed=3, disorder_us=2 * SECOND)
    steps = [
        lambda tables=tables, number=number: batch(tables, narrower if number == 1 else [])
        for number, tables in enumerate(made)
    ]
    ends = [heartbeat(stream, END_OF_TIME) for stream in job.plan.streams]
    nothing = {stream: made[0][stream][:0] for stream in job.plan.streams}
    return Worker(job, [*steps, lambda: batch(nothing, ends)], lambda: told(job.publication))


def told(publication: Publication) -> object:
    """What whoever asks a query is told."""
    status = {**publication.status.to_dict(), "rebuilt": 0, "rebuilt_so_far": 0}
    return in_order(publication.result()), status


def bundle_worker(folder: Path) -> Worker:
    plans = [plan_of(text) for text in GUESTS]
    bundle = DrivenBundle(common_partitioning(plans), folder, buckets=2)

    def batch(tables: dict[str, pa.Table], orders: list[Packet]) -> object:
        whole = {name: pa.concat_batches(table.to_batches()) for name, table in tables.items()}
        given = bundle.batch(whole, orders)
        return {
            (number, feed): in_order(table)
            for number, feeds in given.items()
            for feed, table in feeds.items()
        }

    made = random_batches(BATCHES, seed=5, disorder_us=2 * SECOND)
    orders = [[bundle.begin(0, plans[0])], [], [bundle.begin(1, plans[1])], [bundle.end(0)]]
    return Worker(
        bundle,
        [
            lambda tables=tables, order=order: batch(tables, order)
            for tables, order in zip(made, orders, strict=True)
        ],
        lambda: told(bundle.publications[0]),
    )


def history_worker(archive: Path | None) -> Worker:
    place = None if archive is None else str(archive)
    buckets = Buckets(
        H,
        2,
        place,
        measures=["value"],
        by=["room"],
        levels=LEVELS_OF_H,
        quantiles=["value"],
        distincts=["room"],
    )

    def batch(table: pa.Table) -> object:
        outputs = buckets.push(table)
        return [asdict(each.ledger) for each in outputs], [each.clock_us for each in outputs]

    def question() -> object:
        return in_order(buckets.ask(BY_ROOM))

    steps = [lambda table=table: batch(table) for table in batches_of_h(8)]
    return Worker(buckets, [*steps, lambda: [question(), buckets.finish() and question()]])


def check_every_line(worker_in: Callable[[Path], Worker], folder: Path, is_whole: bool) -> None:
    """Break the last batch but one off at many lines, and give it again."""
    # First, as what is read once in a process, such as a plan, must not be among the lines.
    steady = worker_in(folder / "undisturbed")
    wanted, known = [], []
    for batch in steady.batches:
        wanted.append(batch())
        known.append(steady.shown())
    counted = worker_in(folder / "counted")
    for batch in counted.batches[:-2]:
        batch()
    lines = spots_of(counted.batches[-2], lines_outside_with)
    for number in chosen_on_spark(lines, is_whole, PLACES):
        worker = worker_in(folder / str(number))
        *earlier, broken, last = worker.batches
        for batch in earlier:
            batch()
        worker.broken_off(broken, number)
        assert worker.shown() in known[-3:-1], lines[number]
        assert [broken(), last()] == wanted[-2:], lines[number]


@pytest.mark.parametrize("spare_rows", [0, 10_000], ids=["snapshots", "segments"])
@pytest.mark.parametrize("name", QUERIES)
def test_queries(
    name: str, spare_rows: int, tmp_path: Path, is_whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shard_segments, "SPARE_ROWS", spare_rows)
    check_every_line(lambda folder: query_worker(QUERIES[name], folder), tmp_path, is_whole)


def test_bundles(tmp_path: Path, is_whole: bool) -> None:
    check_every_line(bundle_worker, tmp_path, is_whole)


@pytest.mark.parametrize("spare_bytes", [0, 1 << 20], ids=["snapshots", "segments"])
@pytest.mark.parametrize("is_archived", [False, True], ids=["forgets", "archives"])
def test_histories(
    is_archived: bool,
    spare_bytes: int,
    tmp_path: Path,
    is_whole: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history_segments, "SPARE_BYTES", spare_bytes)
    check_every_line(
        lambda folder: history_worker(folder if is_archived else None), tmp_path, is_whole
    )
