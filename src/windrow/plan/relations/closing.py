"""When answers are due without EVERY, where all windows of a query close together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from windrow.errors import UnsupportedError
from windrow.plan.fallible import uncounted
from windrow.plan.relations.algebra import AnswerWindow, Filter, Relation, Scan, ViewScan
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.windows import common_closes

__all__ = ["closes_of", "has_sessions", "of_closing_sessions"]

Closes = tuple[int, int]


def closes_of(relation: Relation) -> Closes | None:
    """How far apart all its windows close, and how much later than at multiples of that.

    None where they do not close together: then answers are due when rows enter.
    """
    found = set(_closes(relation))
    return found.pop() if len(found) == 1 else None


def _closes(relation: Relation) -> Iterator[Closes | None]:
    """Those of all windows but those of queries whose answers are read through one."""
    if isinstance(relation, Scan | AnswerWindow):
        yield common_closes([relation.window])
    elif isinstance(relation, ViewScan):
        yield relation.closes
    elif isinstance(relation, SessionScan):
        yield None
    else:
        for part in relation.inputs:
            yield from _closes(part)


def has_sessions(relation: Relation) -> bool:
    """Whether it has rows of sessions, other than in queries whose answers it reads."""
    if isinstance(relation, AnswerWindow):
        return False
    return isinstance(relation, SessionScan) or any(map(has_sessions, relation.inputs))


def of_closing_sessions(relation: Relation) -> Relation:
    """The same over the sessions that end at this very instant: what is final of it."""
    if isinstance(relation, SessionScan):
        condition = None if relation.condition is None else uncounted(relation.condition)
        return replace(relation, mode="closing", condition=condition)
    if isinstance(relation, AnswerWindow):
        raise UnsupportedError(
            "WU700",
            "answers come when sessions close, and those of another query do not wait for it",
            hint="write EVERY (10 SECONDS) at the end of the query: it then answers at these ticks",
        )
    parts = [of_closing_sessions(part) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if isinstance(relation, Filter):
        # Rows that are set aside are counted once: where sessions are open.
        return replace(relation, condition=uncounted(relation.condition))
    return relation
