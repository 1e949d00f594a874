"""Runs of queries that are trees: in a session, or as a shard that is saved and restored."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from support.runners import BEGINNING, Judge, Model
from support.sessions import give, session_of
from support.sql_oracle import SqlOracle
from support.streams import CATALOG, Action
from windrow.embedded.query_parts import preparers_of
from windrow.output.publish import Publisher
from windrow.output.session_publisher import SessionPublisher
from windrow.plan.relations.planner import plan_query, tree_plan
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.sql import parse_query

__all__ = ["Told", "TreeRunner", "assert_tree_is_right", "session_run", "shard_run", "tree_plan_of"]

# All answers, all changes and the last result.
Told = tuple[pa.Table, pa.Table, pa.Table]


def tree_plan_of(text: str) -> TreePlan:
    """The plan of a query over a, b and c, a tree also where one block would do."""
    return tree_plan(parse_query(text), CATALOG)


def session_run(text: str, actions: Sequence[Action]) -> Told:
    """All that a query of a session gives."""
    session = session_of(memory="1 GB")
    plan = session.plan_of(text)
    is_growing = isinstance(plan, TreePlan) and plan.growing
    warned = pytest.warns(RuntimeWarning, match="keeps every row") if is_growing else nullcontext()
    with warned:
        query = session.query(text)
    for action in actions:
        give(session, action)
    session.finish()
    return query.answers(), query.changes(), query.result()


class TreeRunner:
    """A tree and its publisher, without a session."""

    def __init__(self, plan: TreePlan) -> None:
        self.plan = plan
        self.shard = TreeShard(plan)
        is_of_sessions = plan.closing is not None
        self._publishing = SessionPublisher if is_of_sessions else Publisher
        self.publisher: Any = self._publishing(plan.published)
        self._preparers = preparers_of(plan)
        self._waiting = np.empty(0, np.int64)

    def step(self, batches: dict[str, pa.RecordBatch], clock: int) -> None:
        """Give rows of streams and run to the clock."""
        prepared = {}
        for number, entry in enumerate(self.plan.inputs):
            batch = batches.get(entry.stream.name)
            if batch is None:
                continue
            times = batch.column(entry.stream.time).cast(pa.int64()).to_numpy(zero_copy_only=False)
            if self.plan.answering[number]:
                entered = self._preparers[number].instants(times)
                self._waiting = np.concatenate([self._waiting, entered])
            prepared[number] = self._preparers[number].prepare(batch)
        self.shard.append(prepared)
        partial = self.shard.advance({}, clock)
        reached = self._waiting <= clock
        entered = np.concatenate([self._waiting[reached], self.shard.entered])
        closed = self.shard.closed
        if closed is None:
            self.publisher.absorb([(0, partial)], entered, clock)
        else:
            self.publisher.absorb_sessions(partial, entered, *closed, clock)
        self._waiting = self._waiting[~reached]

    def restart(self) -> None:
        """Save shard and publisher as bytes and go on from the bytes alone."""
        self.shard = TreeShard.restore(self.plan, self.shard.snapshot())
        published = self.plan.published
        self.publisher = self._publishing.restore(published, self.publisher.snapshot())


def shard_run(text: str, actions: Sequence[Action], restarts: frozenset[int] = frozenset()) -> Told:
    """All that a tree gives; it is restarted after the actions of these numbers."""
    plan, model = tree_plan_of(text), Model()
    runner = TreeRunner(plan)
    for number, action in enumerate(actions):
        runner.step(model.take(action), model.clock(plan))
        if number in restarts:
            runner.restart()
    runner.step({}, model.last(plan))
    publisher = runner.publisher
    return publisher.answers(), publisher.changes(), publisher.result()


def assert_tree_is_right(text: str, actions: Sequence[Action], told: Told) -> int:
    """Answers, changes and result are what DuckDB says; the number of instants compared."""
    model, plan = Model(), plan_query(parse_query(text), CATALOG)
    for action in actions:
        model.take(action)
    judge = Judge(plan)
    oracle = judge.oracle = SqlOracle(text, at_ticks=isinstance(plan, TreePlan))
    rows, clock = model.rows(), model.last(plan)
    judge.check(rows, BEGINNING, clock, *told)
    return len({*oracle.answer_instants(rows, clock), *oracle.change_instants(rows, clock)})
