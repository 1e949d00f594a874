"""Which columns of a relation are the event time of its rows, and how long such a row can stay."""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    Apply,
    AsOfJoin,
    Field,
    Join,
    Project,
    Relation,
    Scan,
    SetOperation,
    ViewScan,
    walk_relations,
)
from windrow.schema import TIMESTAMP

__all__ = ["NotTimeError", "longest_stay", "time_of_rows"]


class NotTimeError(Exception):
    """A column is not the event time of a stream."""


def time_of_rows(relation: Relation) -> Field | None:
    """The column that has the time of the one stream that the relation reads, if it gives it."""
    scans = [node for node in walk_relations(relation) if isinstance(node, Scan)]
    if len(scans) != 1:
        return None
    for field in relation.fields:
        try:
            if field.type == TIMESTAMP and _is_given_by(relation, field.id, scans[0]):
                return field
        except NotTimeError:
            continue
    return None


def longest_stay(relation: Relation, column: str) -> int | None:
    """How long after the time in that column a row can be in the relation; None: for ever.

    NotTimeError: the column is not the event time of the rows of a stream.
    """
    if isinstance(relation, Scan):
        names = {
            field.id: name for field, name in zip(relation.given, relation.columns, strict=True)
        }
        if names.get(column) != relation.stream.time:
            raise NotTimeError(column)
        return _stay(relation.window)
    if isinstance(relation, ViewScan):
        return None  # what a view keeps is not known to who reads it
    if isinstance(relation, AnswerWindow):
        if column != relation.time.id:
            raise NotTimeError(column)
        return _stay(relation.window)
    if isinstance(relation, SetOperation):
        return _longest_of_parts(relation, column)
    if isinstance(relation, Join | Apply | AsOfJoin):
        is_left = any(field.id == column for field in relation.left.fields)
        return longest_stay(relation.left if is_left else relation.right, column)
    if not relation.inputs:
        raise NotTimeError(column)
    return longest_stay(relation.inputs[0], _below(relation, column))


def _below(relation: Relation, column: str) -> str:
    """What the column is called in the input of a node with one input."""
    items = relation.items if isinstance(relation, Project) else ()
    if isinstance(relation, Aggregate):
        items = relation.groups
    elif not isinstance(relation, Project):
        return column
    value = next((item.expression for item in items if item.field.id == column), None)
    if not isinstance(value, ColumnRef):
        raise NotTimeError(column)
    return value.column


def _longest_of_parts(relation: SetOperation, column: str) -> int | None:
    place = [field.id for field in relation.given].index(column)
    stays = [longest_stay(part, part.fields[place].id) for part in relation.parts]
    known = [each for each in stays if each is not None]
    return max(known) if len(known) == len(stays) else None


def _is_given_by(relation: Relation, column: str, scan: Scan) -> bool:
    longest_stay(relation, column)
    return any(field.type == TIMESTAMP for field in scan.given)


def _stay(window: WindowSpec) -> int | None:
    timing = window.traits.timing
    if timing is None or window.traits.is_endless:
        return None
    slide_us, hold_us, *steps = timing(window)
    if not steps:
        # A row is older than the end of its version, and enters less than a slide after its time.
        return slide_us + hold_us - 2
    # Windows that close: rows enter at the next end, and leave at one, perhaps of other steps.
    return slide_us + hold_us + (steps[2] if len(steps) > 2 else 0)
