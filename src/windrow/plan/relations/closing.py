"""When answers are due without EVERY, where all windows of a query close together."""

from __future__ import annotations

from dataclasses import replace

from windrow.errors import UnsupportedError
from windrow.plan.relations.algebra import AnswerWindow, Relation, Scan, ViewScan, walk_relations
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.windows import common_closes

__all__ = ["closes_of", "has_sessions", "of_closing_sessions"]

Closes = tuple[int, int]


def closes_of(relation: Relation) -> Closes | None:
    """How far apart all its windows close, and how much later than at multiples of that.

    None where they do not close together: then answers are due when rows enter.
    """
    found: set[Closes | None] = set()
    for node in walk_relations(relation):
        if isinstance(node, Scan):
            found.add(common_closes([node.window]))
        elif isinstance(node, ViewScan):
            found.add(node.closes)
        elif isinstance(node, AnswerWindow | SessionScan):
            found.add(None)
    return found.pop() if len(found) == 1 else None


def has_sessions(relation: Relation) -> bool:
    """Whether it has rows of sessions, other than in queries whose answers it reads."""
    if isinstance(relation, AnswerWindow):
        return False
    return isinstance(relation, SessionScan) or any(map(has_sessions, relation.inputs))


def of_closing_sessions(relation: Relation) -> Relation:
    """The same over the sessions that end at this very instant: what is final of it."""
    if isinstance(relation, SessionScan):
        return replace(relation, mode="closing")
    if isinstance(relation, AnswerWindow):
        raise UnsupportedError(
            "WU700",
            "answers come when sessions close, and those of another query do not wait for it",
            hint="write EVERY (10 SECONDS) at the end of the query: it then answers at these ticks",
        )
    parts = [of_closing_sessions(part) for part in relation.inputs]
    return relation.with_inputs(*parts) if parts else relation
