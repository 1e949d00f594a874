"""What a history says of an interval, arranged as a question wants it: filtered, and by its groups.

Nodes that were forgotten are known of all groups together, and in doubt for each. They are added to
the groups of the question, once each, and not to those of the history.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.event_time import END_OF_TIME
from windrow.history.answers.answer import Answer, Interval
from windrow.history.answers.merge import merge_answers
from windrow.history.cells.cell_store import empty_states
from windrow.history.cells.kernels import LEFT, PARTS
from windrow.history.history import History
from windrow.history.nodes.kernels import add_up
from windrow.history.operator import HistoryOperator
from windrow.history.sketches.sketch_answer import SketchAnswer
from windrow.history.state_kernels import ROWS, START
from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.history_plan import HistoryPlan
from windrow.rows.evaluate import Leaf, evaluate, evaluate_filter

__all__ = ["Forgotten", "LookedUp", "arranged", "look_up", "merged"]

_ONE = "all"


@dataclass(frozen=True)
class Forgotten:
    """Nodes that left memory, of all groups together: any group may have some of it, or nothing."""

    answer: Answer

    def for_groups(self, keys: pa.Table) -> Answer:
        """As an answer in which each of these groups may have it."""
        one, many = self.answer, keys.num_rows
        states = np.tile(np.arange(PARTS), many)
        sketches = {
            name: SketchAnswer(each.kind, each.inner * many, each.outer * many)
            for name, each in one.sketches.items()
        }
        return replace(
            one, keys=keys, whole=one.whole[:, states], real=one.real[:, states],
            shares=np.repeat(one.shares, many, axis=0), sketches=sketches,
        )  # fmt: skip


@dataclass(frozen=True)
class LookedUp:
    """An answer by the groups of the history, or of all together; borders of exact intervals."""

    answer: Answer
    inside: Interval | None
    outside: Interval | None
    forgotten: Forgotten | None = None


def look_up(
    operator: HistoryOperator, plan: HistoryPlan, interval: Interval, at_us: int | None
) -> LookedUp:
    """What is known of an interval, from nodes of the level at_us or, without it, from rows too."""
    history = operator.history
    uncut = operator.uncut(interval)
    if plan.is_total:
        answer = history.snapshot(uncut.since_us, uncut.until_us, at_us=at_us, total=True)
        return LookedUp(answer, _within(answer.inside, interval), _around(answer, uncut, interval))
    forgotten = _forgotten(history, uncut)
    since_us = uncut.since_us
    if forgotten is not None:
        since_us = max(since_us, history.storage.regions.begin_us)
    until_us = max(since_us, uncut.until_us)
    answer = history.snapshot(since_us, until_us, at_us=at_us)
    inside = _within(answer.inside, interval)
    if forgotten is None:
        return LookedUp(answer, inside, _around(answer, uncut, interval))
    return LookedUp(answer, inside, None, forgotten)


def arranged(plan: HistoryPlan, found: LookedUp, history: History) -> Answer:
    """The answer by the groups of the question, in columns g0, g1 and so on."""
    answer = found.answer
    if plan.is_total:
        return answer
    if plan.where is not None:
        where = evaluate_filter(plan.where, _keys(answer), len(answer))
        answer = _taken(answer, np.flatnonzero(where))
    columns = {
        f"g{index}": evaluate(part, _keys(answer), len(answer))
        for index, part in enumerate(plan.group_by)
    }
    columns = columns or {_ONE: pa.array(np.zeros(len(answer), np.int64))}
    answer = replace(answer, keys=pa.table(columns))
    parts = [answer]
    if not plan.group_by:
        nothing = history.snapshot(END_OF_TIME, END_OF_TIME, total=True)
        parts.append(replace(nothing, keys=pa.table({_ONE: pa.array([0], pa.int64())})))
    answer = merged(parts)
    if found.forgotten is not None and len(answer):
        answer = merged([answer, found.forgotten.for_groups(answer.keys)])
    return answer


def merged(answers: list[Answer]) -> Answer:
    """One answer of several, and one row of rows with equal keys."""
    answers = [answer for answer in answers if len(answer)] or answers[:1]
    return merge_answers(answers) if len(answers[0]) else answers[0]


def _keys(answer: Answer) -> Leaf:
    def leaf(part: Expr) -> pa.Array:
        assert isinstance(part, ColumnRef)
        column = answer.keys.column(part.column)
        return column.combine_chunks()

    return leaf


def _taken(answer: Answer, places: NDArray[np.int64]) -> Answer:
    states = (PARTS * places[:, None] + np.arange(PARTS)).ravel()
    return replace(
        answer, keys=answer.keys.take(pa.array(places)), whole=answer.whole[:, states],
        real=answer.real[:, states], shares=answer.shares[places],
        sketches={name: each.taken(places) for name, each in answer.sketches.items()},
    )  # fmt: skip


def _forgotten(history: History, interval: Interval) -> Forgotten | None:
    past, begin_us = history.past, history.storage.regions.begin_us
    if past.part_of(interval, begin_us, is_one=False) is None:
        return None
    whole, real = empty_states(PARTS, len(history.spec.measures))
    add_up(np.array([LEFT]), past.whole, past.real, whole, real)
    first_us = int(past.whole[START, 0])
    overlap = min(begin_us, interval.until_us) - max(first_us, interval.since_us)
    shares = np.array([[overlap / max(begin_us - first_us, 1), 0.0]])
    sketches = {
        kind.label: SketchAnswer(kind, [kind.empty()], [history.sketches.forgotten[place]])
        for place, kind in enumerate(history.sketches.kinds)
    }
    assert whole[ROWS, LEFT] > 0
    empty = pa.table({})
    answer = Answer(
        history.spec, interval, None, interval, empty, whole, real, shares, None, sketches
    )
    return Forgotten(answer)


def _within(inside: Interval | None, asked: Interval) -> Interval | None:
    """The part of an exact interval that lies within the requested one."""
    if inside is None:
        return None
    since_us, until_us = max(inside.since_us, asked.since_us), min(inside.until_us, asked.until_us)
    return Interval(since_us, until_us) if since_us < until_us else None


def _around(answer: Answer, uncut: Interval, asked: Interval) -> Interval:
    """The nearest exact interval around; ends that were put behind all rows are as asked for."""
    since_us, until_us = answer.outside.since_us, answer.outside.until_us
    return Interval(
        asked.since_us if since_us == uncut.since_us else since_us,
        asked.until_us if until_us == uncut.until_us else until_us,
    )
