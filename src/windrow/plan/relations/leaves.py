"""The leaves of the relational algebra: streams, views, tables and constant rows."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.expressions import Expr
from windrow.plan.model import WindowSpec
from windrow.plan.relations.relation import Field, Relation
from windrow.schema import StreamSchema

__all__ = ["Scan", "TableScan", "Values", "VersionScan", "ViewScan"]


@dataclass(frozen=True)
class Scan(Relation):
    """The rows of a stream in a window; columns[i] of the stream is fields[i]."""

    stream: StreamSchema
    alias: str
    window: WindowSpec
    columns: tuple[str, ...]
    given: tuple[Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the stream that are read."""
        return self.given


@dataclass(frozen=True)
class ViewScan(Relation):
    """The rows of a view that runs once; places[i] of it is fields[i]. closes: as in QueryPlan."""

    view: str
    alias: str
    streams: tuple[str, ...]
    places: tuple[int, ...]
    given: tuple[Field, ...]
    tables: tuple[str, ...] = ()
    closes: tuple[int, int] | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the view that are read."""
        return self.given


@dataclass(frozen=True)
class TableScan(Relation):
    """The newest row of each key of a table; column places[i] of the table is fields[i].

    key: the places of the columns of its key.
    """

    table: str
    alias: str
    places: tuple[int, ...]
    given: tuple[Field, ...]
    key: tuple[int, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the table that are read."""
        return self.given


@dataclass(frozen=True)
class VersionScan(Relation):
    """The versions of a table's rows: those that hold, and those that rows may still ask for.

    since: the field with the instant from which a version holds; gone: whether from then on there
    is no row. kept_us: for how long a version is there after the next one has come; None: for ever.
    key: as in TableScan.
    """

    table: str
    alias: str
    places: tuple[int, ...]
    given: tuple[Field, ...]
    since: Field
    gone: Field
    kept_us: int | None
    key: tuple[int, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the table that are read, then since and gone."""
        return (*self.given, self.since, self.gone)


@dataclass(frozen=True)
class Values(Relation):
    """Constant rows: each has an expression without columns for every field."""

    rows: tuple[tuple[Expr, ...], ...]
    given: tuple[Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns."""
        return self.given
