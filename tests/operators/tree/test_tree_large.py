"""View trees in steps larger than every buffer inside, at every width of sums, on a grid or not."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from support import runners
from support.oracle import Oracle, assert_same_rows, rows_of
from support.streams import SECOND_US, STREAMS, plan_of
from support.tree_texts import TreeShard, is_for_trees
from windrow.operators.operator import NeedsPairsError
from windrow.operators.partial import Partial
from windrow.operators.tree.operator import TreeOperator
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import Preparer
from windrow.rows.shape import shape_of

State = tuple[int, tuple[int, ...], tuple[int, ...]]  # count, lanes, extras
States = dict[tuple[int, object], State]  # by instant and group, in time order

SEED = 20260102
ROWS = 6_000
LAST_US = 20 * SECOND_US
STAR = "FROM a [3 SECONDS], b [2 SECONDS], c [1 SECOND] WHERE a.k = b.k AND b.k = c.k"
CHAIN = "FROM a [2 SECONDS], b [1 SECOND], c [1 SECOND] WHERE a.k = b.k AND b.l = c.l"
SHAPES = {
    "star": f"SELECT COUNT(*) AS n, SUM(a.l) AS s, SUM(b.l * c.l) AS t {STAR}",
    "five terms": f"SELECT COUNT(*) AS n, SUM(a.l) AS s, SUM(b.l) AS t, SUM(c.l) AS u, "
    f"SUM(a.l * c.l) AS v {STAR}",
    "star by key": f"SELECT b.k AS k, COUNT(*) AS n, MIN(a.d) AS m {STAR} GROUP BY b.k",
    "star by column": f"SELECT a.l AS g, COUNT(*) AS n, MAX(a.d) AS m {STAR} GROUP BY a.l",
    "doubles": f"SELECT SUM(a.d * b.d) AS n, SUM(c.d) AS s, AVG(a.d + c.d) AS m {STAR}",
    "chain": f"SELECT COUNT(*) AS n, SUM(c.l) AS s, MAX(c.d) AS m {CHAIN}",
    "chain by column": f"SELECT c.o AS g, COUNT(*) AS n, SUM(a.d) AS s {CHAIN} GROUP BY c.o",
    "chain of values": f"SELECT COUNT(DISTINCT a.l) AS n, COUNT(DISTINCT c.d) AS m {CHAIN}",
    "rows": "SELECT COUNT(*) AS n, MAX(a.d) AS m FROM a [ROWS 900], b [PARTITION BY l ROWS 9], "
    "c [RANGE 2 SECONDS SLIDE 1 SECOND] WHERE a.k = b.k AND b.k = c.k",
    "partitions": "SELECT MAX(a.d) AS m, MIN(a.l) AS n, COUNT(DISTINCT a.l) AS k "
    "FROM a [PARTITION BY l ROWS 30], b [1 SECOND] WHERE a.k = b.k",
    "one window": "SELECT a.l AS g, MAX(a.d) AS m, COUNT(DISTINCT a.k) AS n "
    "FROM a [3 SECONDS] GROUP BY a.l",
}


def generated(stream: str, seed: int) -> pa.RecordBatch:
    """Rows in order, many at the same instant."""
    chance = np.random.default_rng(seed)
    times = np.sort(chance.integers(0, LAST_US // 50_000, ROWS)) * 50_000
    columns = {
        "ts": pa.array(times).cast(STREAMS[stream].column("ts").type.arrow),
        "k": pa.array((chance.pareto(1.0, ROWS) * 200).astype(np.int64) % 2000),
        "l": pa.array(chance.integers(0, 500, ROWS)),
        "d": pa.array(chance.integers(0, 1000, ROWS) / 64, mask=chance.random(ROWS) < 0.01),
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


BATCHES = {name: generated(name, SEED + i) for i, name in enumerate(STREAMS)}


def tree_runner(plan: QueryPlan) -> runners.ShardRunner:
    assert is_for_trees(plan)
    with patch.object(runners, "Shard", TreeShard):
        return runners.ShardRunner(plan)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_large_step(shape: str) -> None:
    plan = plan_of(SHAPES[shape] + " EVERY (4 SECONDS)")
    clock = 18 * SECOND_US
    batches = {name: BATCHES[name] for name in plan.streams}
    runner = tree_runner(plan)
    runner.step(batches, clock)
    answers = rows_of(runner.publisher.answers().drop_columns(["level", "error_bound"]))
    tables = {name: pa.Table.from_batches([batch]) for name, batch in batches.items()}
    wanted = Oracle(plan).answers(tables, range(4 * SECOND_US, clock + 1, 4 * SECOND_US))
    by_instant = runners.grouped(answers)
    for at, rows in wanted.items():
        assert rows
        assert_same_rows(by_instant.get(at, []), rows, at)
    changes = runner.publisher.changes()

    pieces = tree_runner(plan)
    for part, until in in_pieces(batches):
        pieces.step(part, min(clock, until))
    pieces.step({}, clock)
    assert pieces.publisher.changes().equals(changes)


@pytest.mark.parametrize("shape", ["star by key", "star by column", "doubles", "chain of values"])
def test_a_grid_gives_the_last_state_before_each_instant(shape: str) -> None:
    plan = plan_of(SHAPES[shape])
    grid_us = 300_000
    fine, coarse = (states(plan, grid) for grid in (1, grid_us))
    last = {(-(-at // grid_us) * grid_us, group): state for (at, group), state in fine.items()}
    due = {key: state for key, state in last.items() if key[0] <= LAST_US}
    assert changes_only(coarse) == changes_only(due)


def changes_only(found: States) -> States:
    """Without states that a group had before: it may come and go between two instants."""
    before: dict[object, object] = {}
    kept = {}
    for (at, group), state in found.items():
        gone = state[0] == 0
        if before.get(group) != (None if gone else state):
            kept[at, group] = state
        before[group] = None if gone else state
    return kept


def states(plan: QueryPlan, grid_us: int) -> States:
    """The state of each instant and group, from steps that end between the instants of the grid."""
    operator = TreeOperator(plan, shape_of(plan), grid_us)
    preparers = [Preparer(plan, side) for side in range(len(plan.inputs))]
    found: States = {}
    for part, until in [*in_pieces(BATCHES), ({}, LAST_US)]:
        for side, entry in enumerate(plan.inputs):
            if entry.stream.name in part:
                operator.append(side, preparers[side].prepare(part[entry.stream.name]))
        found |= dict(updates_of(operator.run(until)))
    return found


def updates_of(partial: Partial) -> Iterator[tuple[tuple[int, object], State]]:
    groups = rows_of(pa.Table.from_batches([partial.groups])) or [()]
    for i in range(partial.size):
        lanes = tuple(partial.lanes[i].tolist()) if partial.count[i] else ()
        extras = tuple(partial.extras[i].tolist()) if partial.extras.size else ()
        state = (int(partial.count[i]), lanes, extras)
        yield (int(partial.at[i]), groups[partial.group[i]]), state


def in_pieces(
    batches: dict[str, pa.RecordBatch],
) -> Iterator[tuple[dict[str, pa.RecordBatch], int]]:
    """Rows in pieces, and how far the clock may go after each."""
    for first in range(0, ROWS, 997):
        part = {name: batch.slice(first, 997) for name, batch in batches.items()}
        yield part, min(batch.column("ts")[-1].value for batch in part.values()) - 1


def test_special_factors_are_refused_before_any_row_is_taken() -> None:
    plan = plan_of(SHAPES["doubles"])
    operator = TreeOperator(plan, shape_of(plan), 1)
    prepared = Preparer(plan, 1).prepare(BATCHES["b"].slice(0, 3))
    batch = prepared.batch
    values = batch.column("v0").to_pylist()
    wild = prepared.columns.rows(
        batch.set_column(
            batch.schema.get_field_index("v0"), "v0", pa.array([*values[:2], float("inf")])
        )
    )
    with pytest.raises(NeedsPairsError):
        operator.append(1, wild)
    assert operator.rows(1).num_rows == 0
    operator.append(1, prepared)
    assert operator.rows(1).equals(prepared.batch)


def test_all_state_is_given_back() -> None:
    plan = plan_of(SHAPES["star by column"])
    operator = TreeOperator(plan, shape_of(plan), 1)
    preparers = [Preparer(plan, side) for side in range(3)]
    sizes = []
    for turn in range(6):
        for side, name in enumerate("abc"):
            rows = preparers[side].prepare(BATCHES[name])
            later = pa.array(rows.times + turn * 2 * LAST_US)
            operator.append(side, rows.columns.rows(rows.batch.set_column(0, "ts", later)))
        operator.run((2 * turn + 2) * LAST_US - 1)
        assert operator.row_counts() == [0, 0, 0]
        sizes.append(operator.nbytes)
    assert sizes[-1] == sizes[1]
    assert operator.work_done().rows == (6 * ROWS,) * 3
