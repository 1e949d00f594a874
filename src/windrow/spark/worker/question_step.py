"""One batch of a continuous question about the past: rows in, what is due of its answers out.

It has one bucket, as its answers are of all groups together; tasks pack its rows in parallel.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache

from windrow.plan.catalog import Catalog
from windrow.plan.history_binder import bind_history
from windrow.plan.history_plan import HistoryPlan
from windrow.spark.checkpoint.history_declaration import history_fingerprint, history_of_text
from windrow.spark.worker.history_step import HistoryStep
from windrow.spark.worker.live_cache import LiveShelf
from windrow.spark.worker.live_question import LiveQuestion
from windrow.sql import parse_query
from windrow.sql.statements import Select

__all__ = ["QuestionStep", "question_of", "question_text", "step_of"]

_SHELF: LiveShelf[LiveQuestion] = LiveShelf()

QUESTIONS_READ = 64


def question_text(history: str, query: str, time_zone: str) -> str:
    """A question as text for workers; history: what it is asked of, by history_text()."""
    return json.dumps({"history": history, "query": query, "time_zone": time_zone})


@lru_cache(maxsize=QUESTIONS_READ)
def question_of(text: str) -> HistoryPlan:
    """The plan of the question, bound again."""
    parts = json.loads(text)
    schema = history_of_text(parts["history"])
    select = parse_query(parts["query"])
    assert isinstance(select, Select)
    catalog = Catalog(schema.stream, time_zone=parts["time_zone"])
    return bind_history(select, catalog, {schema.stream.name: schema}, continuous=True)


def step_of(text: str, owner: str, bucket: int) -> QuestionStep:
    """The step of a bucket, as the operator carries it."""
    plan = question_of(text)
    place = (history_fingerprint(plan.history), owner, bucket, plan.history, _SHELF)
    return QuestionStep(*place, plan=plan)


@dataclass
class QuestionStep(HistoryStep):
    """The work of the one bucket in every batch."""

    plan: HistoryPlan | None = None

    def _new(self) -> LiveQuestion:
        assert self.plan is not None
        return LiveQuestion(self.plan)

    def _restored(self, snapshot: bytes | memoryview) -> LiveQuestion:
        assert self.plan is not None
        return LiveQuestion.resumed(self.plan, snapshot)
