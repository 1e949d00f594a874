"""Nodes of the algebra for windows that have a start and an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from windrow.plan.expressions import Expr
from windrow.plan.model import WindowSpec
from windrow.plan.relations.algebra import (
    Field,
    Filter,
    Item,
    Project,
    Relation,
    Scan,
    Unary,
)

__all__ = ["BoundPart", "SessionScan", "WindowBound", "WindowBounds"]

BoundPart = OneOf["start", "end", "time"]


@dataclass(frozen=True)
class WindowBound:
    """A column with a bound of a window: its start, its end, or the last time in it ('time')."""

    part: BoundPart
    field: Field


@dataclass(frozen=True)
class SessionScan(Relation):
    """Rows of sessions, with bounds of their session.

    mode: 'rows' of the sessions that are open; 'newest', of these only the newest row, whose time
    says when the session would end; 'closing', rows of the sessions that end at this very instant.
    condition: only rows for which it is true are in sessions. computed: columns that are computed
    from the row, such as those that sessions are told apart by.
    """

    scan: Scan
    mode: OneOf["rows", "newest", "closing"]
    bounds: tuple[WindowBound, ...]
    condition: Expr | None = None
    computed: tuple[Item, ...] = ()

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the stream that are read, those computed, then the bounds."""
        return (*self.rows.fields, *(each.field for each in self.bounds))

    @property
    def rows(self) -> Relation:
        """The rows that are in sessions, as a relation without them."""
        rows: Relation = self.scan
        if self.condition is not None:
            rows = Filter(rows, self.condition)
        if not self.computed:
            return rows
        own = tuple(Item(field, field.ref) for field in self.scan.given)
        return Project(rows, (*own, *self.computed))


@dataclass(frozen=True)
class WindowBounds(Unary):
    """Every row of the input, with bounds of the window that closed last.

    They depend on the instant, not on the row: all rows have the same, and new ones when the next
    window closes. window: how long windows are, and when they close.
    """

    window: WindowSpec
    bounds: tuple[WindowBound, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, then the bounds."""
        return (*self.input.fields, *(each.field for each in self.bounds))

    @property
    def spec(self) -> tuple[str, int, int, int]:
        """Equal for windows that start and end together."""
        window = self.window
        return window.kind, window.length_us, window.slide_us, window.offset_us
