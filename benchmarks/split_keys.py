"""Balance of buckets with keys of a Zipf distribution, before and after hot keys are split.

    python benchmarks/split_keys.py [rows]

Rows of a join of two streams are dealt out to 8 buckets; shown are the rows that each bucket gets
of both, copies included, the most by the mean, and the CPU time of dealing out.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pyarrow as pa

from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.schema import StreamSchema, columns_of
from windrow.spark.shuffle.routing import NO_ROUTING, Router, Routing
from windrow.spark.shuffle.splitting import routing_with
from windrow.sql import parse_query

JOIN = """SELECT l.k, COUNT(*) AS n, SUM(l.x) AS total FROM l [1 MINUTE], r [1 MINUTE]
          WHERE l.k = r.k GROUP BY l.k"""
BUCKETS = 8
KEYS = 10_000
# One row of r comes with so many of l.
SIDES = 10


def main() -> None:
    """Prints the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    columns = columns_of("ts timestamp, k bigint, x double")
    streams = [StreamSchema(name, columns, "ts", 0) for name in "lr"]
    plan = bind(parse_query(JOIN), Catalog(*streams))
    random = np.random.default_rng(5)
    print("exponent  split keys   most/mean   rows sent/rows   ns/row   rows per bucket")
    for exponent in (1.0, 1.2, 1.5):
        weights = 1 / np.arange(1, KEYS + 1) ** exponent
        keys = random.choice(KEYS, count, p=weights / weights.sum())
        for split in (0, 1, 4, 16):
            routing = routing_with(plan, {"l": range(split)}) if split else NO_ROUTING
            held, took_s = dealt(plan, routing, keys)
            total = count + count // SIDES
            shown = " ".join(f"{each:,}" for each in held)
            print(
                f"{exponent:8.1f}  {split:10d}  {max(held) * BUCKETS / sum(held):10.2f}"
                f"  {sum(held) / total:15.3f}  {took_s / total * 1e9:7.0f}   {shown}"
            )


def dealt(plan: QueryPlan, routing: Routing, keys: np.ndarray) -> tuple[list[int], float]:
    """The rows of each bucket, and the seconds that it took."""
    router = Router(plan, BUCKETS, routing)
    held, took_s = np.zeros(BUCKETS, np.int64), 0.0
    for input_index, own in ((0, keys), (1, keys[::SIDES])):
        times = pa.array(np.arange(own.size), pa.timestamp("us", tz="UTC"))
        values = pa.array(np.arange(own.size, dtype=np.float64))
        batch = pa.record_batch([times, pa.array(own), values], names=["ts", "k", "x"])
        prepared = Preparer(plan, input_index).prepared_batch(batch)
        began = time.process_time()
        parts = router.parts(input_index, prepared)
        took_s += time.process_time() - began
        held += [part.num_rows for part in parts]
    return held.tolist(), took_s


if __name__ == "__main__":
    main()
