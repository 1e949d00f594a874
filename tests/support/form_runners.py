"""The runners that every form of query is run on; each gives all that a query said."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from support.oracle import Oracle, Row
from support.query_forms import PUSHES
from support.runners import BEGINNING, Judge, Model, ShardRunner
from support.sessions import give, session_of
from support.spark.driven_job import DrivenJob, heartbeat
from support.streams import batch_of, plan_of
from windrow.event_time import END_OF_TIME

__all__ = ["RUNNERS", "Given", "assert_right", "whole_model"]


class Given(NamedTuple):
    """All answers, all changes and the last result of a query."""

    answers: pa.Table
    changes: pa.Table
    result: pa.Table


def in_process(text: str, _: Path, *, row_by_row: bool = False) -> Given:
    """A session, given batches or one row after the other."""
    session = session_of()
    query = session.query(text)
    for push in PUSHES:
        give(session, push, "one by one" if row_by_row else "batch")
    session.finish()
    return Given(query.answers(), query.changes(), query.result())


def in_shards(text: str, _: Path, *, buckets: int = 3, restarts: bool = False) -> Given:
    """Pure shards fed side by side, their partial answers combined; or one, saved and restored."""
    plan, model = plan_of(text), Model()
    runner = ShardRunner(plan, buckets)
    for number, push in enumerate(PUSHES):
        runner.step(model.take(push), model.clock(plan))
        if restarts and number % 7 == 3:
            runner.restart()
    runner.step({}, model.last(plan))
    publisher = runner.publisher
    return Given(publisher.answers(), publisher.changes(), publisher.result())


def in_driven_buckets(text: str, folder: Path) -> Given:
    """Spark's packers, buckets and driver without Spark; taken up from the state in the middle."""
    plan = plan_of(text)
    job = DrivenJob(plan, folder, buckets=2)
    given = []
    for number, push in enumerate(each for each in PUSHES if each.stream in plan.streams):
        given.append(job.batch({push.stream: batch_of(push.stream, push.rows)}))
        if number == 6:
            job.restart()
    ends = [heartbeat(stream, END_OF_TIME) for stream in plan.streams]
    nothing = {stream: batch_of(stream, ()) for stream in plan.streams}
    given.append(job.batch(nothing, ends))
    whole = {
        feed: pa.concat_tables([each[feed] for each in given]) for feed in ("answers", "changes")
    }
    return Given(**whole, result=job.publication.result())


RUNNERS: dict[str, Callable[[str, Path], Given]] = {
    "in process": in_process,
    "row by row": lambda text, folder: in_process(text, folder, row_by_row=True),
    "shards": in_shards,
    "restarted": lambda text, folder: in_shards(text, folder, buckets=1, restarts=True),
    "buckets": in_driven_buckets,
}


@cache
def whole_model() -> Model:
    """The streams with all rows, judged one by one."""
    model = Model()
    for push in PUSHES:
        model.take(push)
    return model


class _RememberingOracle(Oracle):
    """Answers are worked out once, as every runner is compared with the same."""

    def __init__(self, text: str) -> None:
        super().__init__(plan_of(text))
        self._known: dict[int, list[Row]] = {}

    def answers(self, rows: object, instants: object) -> dict[int, list[Row]]:
        wanted = sorted(set(instants))
        self._known |= super().answers(rows, [each for each in wanted if each not in self._known])
        return {each: self._known[each] for each in wanted}


_oracle_of = cache(_RememberingOracle)


def assert_right(text: str, given: Given) -> None:
    """Answers at every instant, changes and the result are what DuckDB says."""
    model, judge = whole_model(), Judge(plan_of(text))
    judge.oracle = _oracle_of(text)
    judge.check(model.rows(), BEGINNING, model.last(judge.plan), *given)
    assert given.answers.num_rows, "rows that give no answer show nothing"
