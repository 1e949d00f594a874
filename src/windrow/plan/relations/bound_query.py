"""A bound query: its relation, what it shows and in which order, and its service clauses."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.relations.algebra import Field, OrderKey, Relation
from windrow.sql.statements import OnError

__all__ = ["BoundQuery"]


@dataclass(frozen=True)
class BoundQuery:
    """A query over relations.

    relation: its first fields are the outputs; those behind them are only there for the order.
    outputs: the columns under names that differ. order: of the outermost ORDER BY, over fields of
    the relation; with LIMIT the relation is cut by it already, and it says how to show the rows.
    """

    text: str
    relation: Relation
    outputs: tuple[Field, ...]
    order: tuple[OrderKey, ...] = ()
    every_us: int | None = None
    error_percent: float | None = None
    duration: tuple[tuple[str, int], tuple[str, int]] | None = None
    on_error: OnError = "fail"
