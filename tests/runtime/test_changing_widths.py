"""Queries whose windows change their width while they run, against the oracle on the rows held."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.join_texts import general_joins, general_singles
from support.oracle import Oracle, Row, SumOverflowError, assert_same_rows, rows_of
from support.runners import BEGINNING, Model, ShardRunner, grouped, listed, replay
from support.streams import (
    TICK_US,
    Action,
    Push,
    instant,
    joins,
    plan_of,
    scenarios,
    single_queries,
)
from windrow.errors import DataError, UnsupportedError
from windrow.plan.model import QueryPlan
from windrow.rows.prepare import lifetime_of
from windrow.windows.lifetime import Lifetime


@dataclass
class HeldInput:
    """One window: its lifetime now, and the time before which rows have been let go."""

    lifetime: Lifetime
    edge: int = BEGINNING

    def let_go(self, clock: int) -> None:
        """All rows are gone that the lifetime let go of up to the clock."""
        if not self.lifetime.is_endless and clock > BEGINNING:
            edge = int(self.lifetime.edge(np.array([clock]))[0])
            if self.lifetime.floor_us <= clock:
                self.edge = max(self.edge, edge)


@st.composite
def changes(draw: st.DrawFn) -> dict[int, list[tuple[int, int, int]]]:
    """After some actions, per input: ticks of width, and growth and rest of turns (0: none)."""
    when = draw(st.sets(st.integers(0, 12), max_size=4))
    turn = st.tuples(st.integers(0, 9), st.sampled_from([0, 0, 1, 3]), st.integers(0, 4))
    return {number: [draw(turn) for _ in range(4)] for number in sorted(when)}


def lifetime_after(
    plan: QueryPlan, input_index: int, width: int, growth: int, rest: int, clock: int
) -> Lifetime:
    window = plan.inputs[input_index].window
    full = lifetime_of(window)
    if window.kind == "slide":
        length = min(window.length_us, max(1, width) * window.slide_us)
        return full.narrowed(length, clock)
    narrow = min(window.length_us, width * TICK_US)
    changed = full.narrowed(narrow, clock)
    if growth and narrow + growth * TICK_US <= window.length_us:
        period = (growth + rest) * TICK_US
        changed = changed.turning(clock + TICK_US, period, growth * TICK_US)
    return changed


def held_rows(plan: QueryPlan, model: Model, inputs: list[HeldInput]) -> dict[str, pa.Table]:
    rows = model.rows()
    for held, entry in zip(inputs, plan.inputs, strict=True):
        table = rows[entry.stream.name]
        times = table.column(entry.stream.time).cast(pa.int64()).to_numpy()
        entered = lifetime_of(entry.window).enter(times)
        rows[entry.stream.name] = table.filter(pa.array(entered >= held.edge))
    return rows


def agree_with_widths(
    plan: QueryPlan, actions: list[Action], changed: dict[int, list[tuple[int, int, int]]]
) -> None:
    runner, model, oracle = ShardRunner(plan), Model(), Oracle(plan)
    inputs = [HeldInput(lifetime_of(entry.window)) for entry in plan.inputs]
    held: Counter[Row] = Counter()
    for number, action in enumerate([*actions, None]):
        batches = {} if action is None else model.take(action)
        clock = model.clock(plan) if action is not None else model.last(plan)
        runner.step(batches, clock)
        for each in inputs:
            each.let_go(clock)
        if number in changed and clock > BEGINNING:
            lifetimes = {
                index: lifetime_after(plan, index, *changed[number][index], clock)
                for index, entry in enumerate(plan.inputs)
                if entry.window.traits.has_width
            }
            for shard in runner.shards:
                shard.change_lifetimes(lifetimes)
            runner.step({}, clock)
            for index, lifetime in lifetimes.items():
                inputs[index].lifetime = lifetime
                inputs[index].let_go(clock)
            if number % 2:
                runner.restart()
        rows = held_rows(plan, model, inputs)
        result = rows_of(runner.publisher.result())
        if clock > BEGINNING:
            assert_same_rows(result, oracle.answer_at(rows, clock), f"result at {clock}")
        answers = runner.publisher.answers().drop_columns(["level", "error_bound"])
        given_at = grouped(rows_of(answers)).get(clock)
        if given_at is not None and number not in changed:
            assert_same_rows(given_at, result, f"answer at {clock}")
        replay(runner.publisher.changes(), held)
        if oracle.change_instants(model.rows(), clock):
            assert_same_rows(listed(held), result, "changes add up to result()")


def is_governable(plan: QueryPlan) -> bool:
    streams = [entry.stream.name for entry in plan.inputs]
    has_width = any(entry.window.traits.has_width for entry in plan.inputs)
    return plan.kind == "aggregate" and len(set(streams)) == len(streams) and has_width


texts = st.one_of(single_queries(), joins(), general_joins(3), general_singles())


@given(
    texts,
    scenarios(streams="aabbc"),
    changes(),
    st.sampled_from(["auto", "charged", "incremental"]),
)
def test_widths_change_what_is_held_and_nothing_else(
    text: str,
    actions: list[Action],
    changed: dict[int, list[tuple[int, int, int]]],
    algorithm: str,
) -> None:
    plan = plan_of(text)
    if not is_governable(plan):
        return
    if algorithm != "auto" and len(plan.inputs) > 1:
        try:
            plan = plan_of(text, algorithm)
        except UnsupportedError:
            return
    try:
        agree_with_widths(plan, actions, changed)
    except DataError as refused:
        if refused.code not in ("WD302", "WD304"):
            raise
        if refused.code == "WD304":
            return  # the slow twin has NULL there
    except SumOverflowError:
        return


def test_a_charged_query_goes_on_by_another_algorithm() -> None:
    plan = plan_of(
        "SELECT COUNT(*) AS n FROM a [5], b [5] WHERE a.k = b.k AND a.d > b.d", "charged"
    )
    runner = ShardRunner(plan)
    assert runner.shards[0].algorithm == "charged"
    runner.shards[0].change_lifetimes({0: Lifetime.closed(3)})
    assert runner.shards[0].algorithm == "incremental"
    assert not runner.shards[0].change_algorithm("charged")


@pytest.mark.parametrize("width", [1, 4])
def test_a_window_that_was_always_narrow_is_a_shorter_window(width: int) -> None:
    long, short = (plan_of(f"SELECT SUM(k) AS s FROM a [{t} SECONDS]") for t in (9, width))
    runners = [ShardRunner(long), ShardRunner(short)]
    runners[0].shards[0].change_lifetimes({0: Lifetime.closed(width * 1_000_000)})
    model = Model()
    for second in range(20):
        push = Push("a", ({"ts": instant(second * 700_000), "k": second},))
        batches = model.take(push)
        for runner in runners:
            runner.step(batches, model.clock(long))
    first, second_ = (runner.publisher.answers().to_pylist() for runner in runners)
    assert first == second_
    assert len(first) > 5
