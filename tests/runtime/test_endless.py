"""Extremes and different values over everything: memory is of groups and values, not rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.join_texts import small_scenarios
from support.runners import agree, outcome
from support.streams import Action, plan_of
from windrow.rows.prepare import Preparer
from windrow.runtime.shard import Shard

TEXTS = (
    "SELECT MAX(a.l) AS m, MIN(a.d) AS n, COUNT(DISTINCT a.s) AS s FROM a",
    "SELECT a.k AS k, MIN(a.ts) AS t, COUNT(DISTINCT a.d) AS d, SUM(a.d) AS x, COUNT(*) AS n "
    "FROM a GROUP BY a.k",
    "SELECT a.s AS s, MAX(a.p) AS p, COUNT(DISTINCT a.k % 2) AS k FROM a WHERE a.o "
    "GROUP BY a.s EVERY (2 SECONDS)",
)


@pytest.mark.parametrize("text", TEXTS)
@given(actions=small_scenarios(), restarts=st.frozensets(st.integers(0, 12), max_size=3))
def test_answers_are_those_of_all_rows(
    text: str, actions: list[Action], restarts: frozenset[int]
) -> None:
    plan = plan_of(text)
    agree(plan, actions)
    assert outcome(plan, actions, restarts=restarts) == outcome(plan, actions)


def test_memory_does_not_grow_with_the_rows() -> None:
    plan = plan_of("SELECT b.k AS k, MAX(b.d) AS m, COUNT(DISTINCT b.s) AS s FROM b GROUP BY b.k")
    shard, preparer = Shard(plan), Preparer(plan, 0)
    sizes = []
    for step in range(20):
        times = pa.array(np.arange(1000) + 1000 * step).cast(pa.timestamp("us", tz="UTC"))
        columns = {"ts": times, "k": pa.array(np.arange(1000) % 10)}
        columns |= {"d": pa.array(np.random.default_rng(step).random(1000))}
        columns["s"] = pa.array([f"text {i % 7}" for i in range(1000)])
        schema = plan.inputs[0].stream.arrow
        arrays = [columns.get(field.name, pa.nulls(1000, field.type)) for field in schema]
        batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
        shard.advance({0: preparer.prepare(batch)}, 1000 * step + 999)
        sizes.append(shard.nbytes)
    assert len(set(sizes[5:])) == 1
    assert len(shard.snapshot()) < 20_000
