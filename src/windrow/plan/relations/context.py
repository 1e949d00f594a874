"""What binding carries along: ids for fields, and what names of FROM mean where a query stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import Field, OrderKey, Relation, Scan
from windrow.plan.relations.visible import Table
from windrow.schema import ColumnType
from windrow.sql.statements import CommonTable, QueryText, Source

__all__ = [
    "MAX_NESTED_QUERIES",
    "MAX_TREE_INPUTS",
    "MAX_TREE_QUERIES",
    "Answer",
    "Common",
    "Context",
    "Enclosing",
    "Environment",
]

# A view of a view of a view doubles its inputs each time that it is joined with itself.
MAX_TREE_INPUTS = 64
# `x IN (query)` as a value asks its query twice, and so does one within it.
MAX_TREE_QUERIES = 128
# Every query within another costs frames of Python's stack.
MAX_NESTED_QUERIES = 24


@dataclass(frozen=True)
class Answer:
    """A bound query: the relation, and of its fields those that are shown; others only order it.

    constants: where a column is one constant, that constant, which takes the type that it meets.
    order: of an ORDER BY. is_single: whether it never has more than one row.
    """

    relation: Relation
    shown: tuple[Field, ...]
    constants: tuple[Literal | None, ...]
    order: tuple[OrderKey, ...] = ()
    is_single: bool = False


class Enclosing(Protocol):
    """What a query can name of the query around it."""

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """What its qualifiers name, and those of the queries around it."""
        ...

    def find_column(self, node: exp.Column) -> Expr | None:
        """The column that the node names there, if any."""
        ...


@dataclass(frozen=True)
class Common:
    """A common table, and what names mean in its query."""

    table: CommonTable
    environment: Environment


@dataclass(frozen=True)
class Environment:
    """Where a query stands: common tables by lower-case name, the query around it, its depth.

    views: those that are being inlined. is_outermost: whether its answer is the user's; is_view:
    whether it is that of a view.
    """

    common: Mapping[str, Common] = field(default_factory=dict)
    enclosing: Enclosing | None = None
    depth: int = 0
    views: tuple[str, ...] = ()
    is_outermost: bool = True
    is_view: bool = False

    def within(self, enclosing: Enclosing | None = None) -> Environment:
        """That of a query in FROM, or with `enclosing` of one in an expression."""
        found = self.enclosing if enclosing is None else enclosing
        return replace(
            self, enclosing=found, depth=self.depth + 1, is_outermost=False, is_view=False
        )

    def within_view(self, name: str) -> Environment:
        """That of the query of a view, which sees nothing of the query that reads it."""
        views = (*self.views, name.lower())
        return Environment(depth=self.depth + 1, views=views, is_outermost=False, is_view=True)

    def with_common(self, tables: Sequence[CommonTable]) -> Environment:
        """With common tables, each of which sees those before it."""
        found = self
        seen: set[str] = set()
        for table in tables:
            name = table.name.lower()
            if name in seen:
                raise BindingError(
                    "WB202",
                    f"WITH names two queries {table.name!r}",
                    hint="give each its own name",
                    place=table.place,
                )
            seen.add(name)
            found = replace(found, common={**found.common, name: Common(table, found)})
        return found


class Context:
    """One call of bind_query: fresh fields, the scans so far, and how queries within are bound."""

    def __init__(
        self,
        catalog: Catalog,
        bind: Callable[[QueryText, Context, Environment], Answer],
        *,
        shares_views: bool = False,
    ) -> None:
        self.catalog = catalog
        self.shares_views = shares_views
        self.scans: dict[Scan, Source] = {}
        self.common_read: set[int] = set()
        self.under_policy: list[Relation] = []  # what ON ERROR was applied to
        self._bind = bind
        self._count = 0
        self._queries = 0

    def fresh(self, name: str, kind: ColumnType) -> Field:
        """A field with an id of its own."""
        self._count += 1
        return Field(f"{name}#{self._count}", name, kind)

    def bind(self, query: QueryText, environment: Environment) -> Answer:
        """The answer of a query within another."""
        if environment.depth > MAX_NESTED_QUERIES:
            raise BindingError(
                "WB275",
                f"queries are nested deeper than {MAX_NESTED_QUERIES}",
                hint="views and WITH count, too: read streams instead of views of views",
            )
        self._queries += 1
        if self._queries > MAX_TREE_QUERIES:
            raise BindingError(
                "WB274",
                f"the query is made of more than {MAX_TREE_QUERIES} queries",
                hint="views and WITH count each time that they are read: split the query",
            )
        return self._bind(query, self, environment)

    def add_scan(self, scan: Scan, source: Source) -> None:
        """Notes a stream that is read, for the checks of windows."""
        self.scans[scan] = source
        if len(self.scans) > MAX_TREE_INPUTS:
            raise BindingError(
                "WB274",
                f"the query reads more than {MAX_TREE_INPUTS} windows",
                hint="a view counts each time that it is read: read it once, or split the query",
                place=source.place,
            )
