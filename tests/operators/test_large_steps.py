"""Steps larger than every buffer inside: many events, many groups, many updates at one instant."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from support.oracle import Oracle, assert_same_rows, rows_of
from support.runners import ShardRunner, grouped
from support.streams import SECOND_US, STREAMS, plan_of

SEED = 20260101
ROWS = 12_000
SHAPES = {
    "whole": "SELECT COUNT(*) AS n, SUM(a.l) AS s, SUM(b.l) AS t {} ",
    "by key": "SELECT a.k AS k, COUNT(*) AS n, SUM(a.l) AS s {} GROUP BY a.k",
    "by left": "SELECT a.s AS g, COUNT(*) AS n, SUM(b.l) AS s {} GROUP BY a.s",
    "by right": "SELECT b.s AS g, COUNT(*) AS n, SUM(a.l) AS s {} GROUP BY b.s",
    "by both": "SELECT a.s AS g, b.o AS o, b.s AS h, COUNT(*) AS n, SUM(a.l) AS s {} "
    "GROUP BY a.s, b.o, b.s",
}
WINDOWS = [
    "FROM a [3 SECONDS], b [2 SECONDS] WHERE a.k = b.k",
    "FROM a [ROWS 900], b [RANGE 2 SECONDS SLIDE 1 SECOND] WHERE a.k = b.k",
    "FROM a [PARTITION BY s ROWS 9], b [1 SECOND] WHERE a.k = b.k",
]


def generated(stream: str, seed: int) -> pa.RecordBatch:
    """Rows in order, many at the same instant; a few keys have most of them."""
    chance = np.random.default_rng(seed)
    times = np.sort(chance.integers(0, 20 * SECOND_US // 50_000, ROWS)) * 50_000
    keys = (chance.pareto(1.0, ROWS) * 40).astype(np.int64) % 900
    columns = {
        "ts": pa.array(times).cast(STREAMS[stream].column("ts").type.arrow),
        "k": pa.array(keys),
        "l": pa.array(chance.integers(-9, 9, ROWS)),
        "s": pa.array([f"g{number}" for number in chance.integers(0, 150, ROWS)]),
        "o": pa.array(chance.random(ROWS) < 0.5),
    }
    schema = STREAMS[stream].arrow
    arrays = [
        columns[field.name].cast(field.type)
        if field.name in columns
        else pa.nulls(ROWS, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


BATCHES = {"a": generated("a", SEED), "b": generated("b", SEED + 1)}


@pytest.mark.parametrize("windows", WINDOWS, ids=["timed", "rows", "partition"])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_large_step(shape: str, windows: str) -> None:
    plan = plan_of(SHAPES[shape].format(windows) + " EVERY (4 SECONDS)")
    clock = 18 * SECOND_US
    runner = ShardRunner(plan)
    runner.step(BATCHES, clock)
    answers = grouped(rows_of(runner.publisher.answers().drop_columns(["level", "error_bound"])))
    tables = {name: pa.Table.from_batches([batch]) for name, batch in BATCHES.items()}
    wanted = Oracle(plan).answers(tables, range(0, clock + 1, 4 * SECOND_US))
    assert sum(map(len, wanted.values())) >= 5
    for at, rows in wanted.items():
        assert_same_rows(answers.get(at, []), rows, at)
    changes = runner.publisher.changes()

    pieces = ShardRunner(plan)
    for first in range(0, ROWS, 997):
        part = {name: batch.slice(first, 997) for name, batch in BATCHES.items()}
        newest = min(batch.column("ts")[-1].value for batch in part.values())
        pieces.step(part, min(clock, newest - 1))
    pieces.step({}, clock)
    assert pieces.publisher.changes().equals(changes)
