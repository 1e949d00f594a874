"""What our own stages of the Spark pipeline cost, bucket by bucket, without Spark around them.

    python benchmarks/pipeline_stages.py                              # 2, 16, 64 and 256 buckets
    python benchmarks/pipeline_stages.py --buckets 2 --rate 50000     # rows that combine
    python benchmarks/pipeline_stages.py --buckets 256 --batch 2000   # small batches
    python benchmarks/pipeline_stages.py --buckets 2 --rate 50000 --extremes         # MIN and MAX
    python benchmarks/pipeline_stages.py --buckets 64 --tasks 64      # as many tasks that pack

Packing, the step of each bucket on a dictionary in the place of the state store, and publication,
in one process, in CPU time. Spark's scans, shuffles and state store are not in it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from typing import Any

from pipeline_data import PipelineData, pipeline_data
from pipeline_paths import QUERY, SCHEMA
from process_tree import machine
from rich.console import Console
from rich.table import Table

import windrow
from windrow.plan.fingerprint import fingerprint
from windrow.spark.driver.publication import Publication
from windrow.spark.shuffle.columns import columns_read
from windrow.spark.shuffle.packer import Packer
from windrow.spark.worker.live_cache import LiveCache
from windrow.spark.worker.shard_output import ShardOutput
from windrow.spark.worker.shard_step import ShardStep
from windrow.storage import Storage

EXTREMES = "SELECT MAX(A.v) AS m, MIN(B.v) AS n FROM A [60 SECONDS], B [60 SECONDS] WHERE A.k = B.k"
WARM_BATCHES = 2
GRID_US = 1_000_000


class DictionaryState:
    """What the state store would hold for one bucket, and how much was written."""

    def __init__(self) -> None:
        self._header: bytes | None = None
        self._segments: dict[int, bytes] = {}
        self.written = 0

    def read_header(self) -> bytes | None:
        """The header."""
        return self._header

    def write_header(self, data: bytes) -> None:
        """Replaces it."""
        self._header = data
        self.written += len(data)

    def read_segment(self, sequence: int) -> bytes | None:
        """A segment."""
        return self._segments.get(sequence)

    def write_segment(self, sequence: int, data: bytes) -> None:
        """Adds or replaces it."""
        self._segments[sequence] = data
        self.written += len(data)

    def remove_segment(self, sequence: int) -> None:
        """Removes it."""
        self._segments.pop(sequence, None)


class Stages:
    """One query over so many buckets, with CPU seconds by stage."""

    def __init__(
        self, data: PipelineData, buckets: int, tasks: int, folder: str, query: str
    ) -> None:
        session = windrow.connect()
        for name in "AB":
            session.stream(name, SCHEMA, time="ts")
        self._plan = session.query(f"{query} EVERY (1 SECOND)").plan
        self._data, self.buckets, self._tasks = data, buckets, tasks
        cache, name = LiveCache(lends=False), fingerprint(self._plan)
        self._steps = [
            ShardStep(self._plan, name, "stages", bucket, cache, GRID_US)
            for bucket in range(buckets)
        ]
        self.states = [DictionaryState() for _ in range(buckets)]
        self._publication = Publication(self._plan, Storage(folder))
        self._complete_us: dict[str, int] | None = None
        self.clear()

    def clear(self) -> None:
        """Forget what was measured."""
        self.spent = dict.fromkeys(("pack", "publish"), 0.0)
        self.by_bucket = [0.0] * self.buckets
        self.packet_bytes = 0

    def batch(self, number: int, rows: int) -> None:
        """Runs one batch."""
        packets: list[list[bytes]] = [[] for _ in self._steps]
        for task in range(self._tasks):
            self._pack(task, number * rows // 2, rows // self._tasks, packets)
        outputs = []
        for bucket, (step, state) in enumerate(zip(self._steps, self.states, strict=True)):
            began = time.process_time()
            outputs.append(step.run_batch(packets[bucket], state).to_bytes())
            self.by_bucket[bucket] += time.process_time() - began
        began = time.process_time()
        opened = [ShardOutput.from_bytes(each) for each in outputs]
        self._publication.absorb(number, opened, ("answers",))
        self._publication.save()
        self.spent["publish"] += time.process_time() - began
        self._complete_us = opened[0].complete_us

    def _pack(self, task: int, first: int, count: int, packets: list[list[bytes]]) -> None:
        """Tasks of both streams take turns; each packs so many rows, from the first one on."""
        stream, start = "AB"[task % 2], first + task // 2 * count
        rows = self._data.table(task % 2, start, start + count)
        rows = rows.select(columns_read(self._plan, stream))
        began = time.process_time()
        packer = Packer(self._plan, stream, tuple(range(self.buckets)), task)
        if self._complete_us is not None:
            packer.combine_above(self._complete_us[stream], GRID_US)
        for each in rows.to_batches():
            packer.add(each)
        packed = packer.take()
        self.spent["pack"] += time.process_time() - began
        for bucket, data in enumerate(packed.column("packet").to_pylist()):
            packets[bucket].append(data)
            self.packet_bytes += len(data)


def main() -> int:
    """Run all numbers of buckets; print a table and JSON lines."""
    options = _options()
    data = pipeline_data(options.rate, options.keys, options.seed)
    rows = [_measured(data, buckets, options) for buckets in options.buckets]
    table = Table(title="CPU milliseconds a batch")
    for heading in rows[0]:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*[str(value) for value in row.values()])
    Console(width=150).print(table)
    facts = {"command": " ".join(["python", *sys.argv]), "seed": options.seed, **machine()}
    for row in rows:
        print(json.dumps({**facts, **row}))  # the result for machines
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--buckets", type=int, action="append")
    parser.add_argument("--tasks", type=int, default=2, help="that pack; an even number")
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--batch", type=int, default=500_000, help="rows of a micro-batch")
    parser.add_argument("--rate", type=int, default=1_000, help="rows per second and side")
    parser.add_argument("--keys", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--extremes", action="store_true", help="MIN and MAX instead of sums")
    options = parser.parse_args()
    options.buckets = options.buckets or [2, 16, 64, 256]
    return options


def _measured(data: PipelineData, buckets: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        stages = Stages(
            data, buckets, options.tasks, folder, EXTREMES if options.extremes else QUERY
        )
        for number in range(WARM_BATCHES + options.batches):
            if number == WARM_BATCHES:
                stages.clear()
                written = sum(state.written for state in stages.states)
            stages.batch(number, options.batch)
    written = sum(state.written for state in stages.states) - written
    per_batch = 1_000 / options.batches
    rows = options.batches * options.batch
    everything = sum(stages.spent.values()) + sum(stages.by_bucket)
    return {
        "buckets": buckets,
        "tasks": options.tasks,
        "rows a batch": options.batch,
        "pack": round(stages.spent["pack"] * per_batch, 2),
        "busiest bucket": round(max(stages.by_bucket) * per_batch, 2),
        "median bucket": round(statistics.median(stages.by_bucket) * per_batch, 2),
        "all buckets": round(sum(stages.by_bucket) * per_batch, 2),
        "driver": round(stages.spent["publish"] * per_batch, 2),
        "packet bytes a row": round(stages.packet_bytes / rows, 1),
        "state bytes a row": round(written / rows, 1),
        "CPU-s a million rows": round(everything / rows * 1_000_000, 3),
    }


if __name__ == "__main__":
    sys.exit(main())
