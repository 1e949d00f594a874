"""A phase of a query: the rows as far as they are bound, and what expressions over them mean.

Binding an expression may put nodes below it (a sub-query is an Apply), so the relation of a phase
grows while its expressions are bound; the node that uses them goes on top of it afterwards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.expressions import Expr
from windrow.plan.nested_access import written_as_field
from windrow.plan.relations.aggregate_calls import GROUPING, PLACED, RANKING, function_name
from windrow.plan.relations.algebra import Apply, ApplyKind, Field, Filter, Relation
from windrow.plan.relations.context import Context, Environment
from windrow.plan.relations.instants import INSTANT, is_instant
from windrow.plan.relations.nested import is_query_form, nested_value
from windrow.plan.relations.row_times import time_of_rows
from windrow.plan.relations.visible import Table, Visible
from windrow.plan.rows import misplaced
from windrow.plan.scalars import scope_of
from windrow.plan.scope import Scope
from windrow.plan.types import all_of

__all__ = ["Aliases", "Phase", "RowPhase"]

Aliases = Mapping[str, exp.Expr]
_NONE: Aliases = {}
# Clauses whose conditions may say when rows hold.
_OF_INSTANTS = ("WHERE", "HAVING", "QUALIFY")


class Phase(ABC):
    """What rows and groups have in common. It is what queries within its expressions can name."""

    def __init__(
        self, context: Context, environment: Environment, visible: Visible, relation: Relation
    ) -> None:
        self.context = context
        self.environment = environment
        self.visible = visible
        self.relation = relation
        self.windows: list[tuple[exp.Expr, Field]] = []
        # Equal sub-queries are asked once; a phase that is closed gets no new ones.
        self.known: list[tuple[exp.Expr, Expr]] = []
        self.is_closed = False

    def scope(self, clause: str, aliases: Aliases = _NONE) -> Scope:
        """A scope for the clause; aliases: names of the select list that it may use."""

        def resolve(node: exp.Expr) -> Expr | None:
            own = self._own(node)
            if own is not None:
                return own
            if isinstance(node, exp.Window):
                return self._window_value(scope, node, clause)
            if is_query_form(node):
                return nested_value(self, scope, node)
            if self._is_instant(node, clause):
                return INSTANT
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                return self._named(scope, node, clause, aliases)
            _refuse_misplaced(scope, node, clause)
            if function_name(node) == "proctime":
                return self._arrival(scope, node)
            return self._aggregate(scope, node, clause)

        scope = scope_of(self.visible.text, resolve)
        return scope

    def _named(self, scope: Scope, node: exp.Column, clause: str, aliases: Aliases) -> Expr:
        """What a name means: a field, an item of the select list, or a column."""
        if self._is_field(node):
            return scope.bind(written_as_field(node))
        written = aliases.get(node.name.lower()) if not node.table else None
        if written is not None and not self.visible.has(node):
            return self.scope(clause).bind(written)
        return self._column(node, shadowed=written is not None)

    def _is_instant(self, node: exp.Expr, clause: str) -> bool:
        is_column = isinstance(node, exp.Column) and self.visible.has(node)
        return clause in _OF_INSTANTS and is_instant(node) and not is_column

    def bind(self, node: exp.Expr, clause: str, aliases: Aliases = _NONE) -> Expr:
        """The bound form of an expression."""
        return self.final(self.scope(clause, aliases).bind(node))

    def condition(self, node: exp.Expr, clause: str, aliases: Aliases = _NONE) -> Expr:
        """The bound form of an expression that is true, false or NULL."""
        return self.final(self.scope(clause, aliases).condition(node, clause))

    def final(self, bound: Expr) -> Expr:
        """What a scope gave, over the fields of the relation."""
        return bound

    def place(self, kind: ApplyKind, right: Relation, condition: Expr | None = None) -> None:
        """Puts a sub-query below what is bound next."""
        self.relation = Apply(kind, self.relation, right, condition)

    def filter(self, conditions: list[Expr]) -> None:
        """Keeps the rows for which all conditions are true."""
        condition = all_of(conditions)
        if condition is not None:
            self.relation = Filter(self.relation, condition)

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """What qualifiers can name: here first, then around it."""
        enclosing = self.environment.enclosing
        return (*self.visible.tables, *(enclosing.all_tables if enclosing else ()))

    def find_column(self, node: exp.Column) -> Expr | None:
        """The column that the node names here or around it, None where it names none."""
        if self.visible.has(node):
            return self.final(self._own_column(node, shadowed=False))
        enclosing = self.environment.enclosing
        return enclosing.find_column(node) if enclosing is not None else None

    def _is_field(self, node: exp.Column) -> bool:
        """Whether a.b is no column b of a table a, but may be field b of a column a."""
        if not node.table or node.args.get("db") is not None:
            return False
        tables = [each for each in self.all_tables if each.alias.lower() == node.table.lower()]
        if any(each.has(node.name) for each in tables):
            return False
        own = exp.Column(this=node.args["table"])
        if not tables:
            return self.visible.has(own) or any(each.has(node.table) for each in self.all_tables)
        # The name of a table, too: it is the column only if that has something inside.
        found = self.find_column(own)
        return found is not None and found.type.is_nested

    def _column(self, node: exp.Column, *, shadowed: bool) -> Expr:
        if self.visible.has(node):
            return self._own_column(node, shadowed=shadowed)
        found = self.find_column(node)
        if found is not None:
            return found
        if node.table:
            raise self.visible.unknown_table(node, self.all_tables)
        raise self.visible.unknown(node, self.all_tables)

    def _arrival(self, scope: Scope, node: exp.Expr) -> Expr:
        """PROCTIME(): rows are processed at their own time, whenever they come."""
        field = time_of_rows(self.relation)
        if field is None:
            told = "PROCTIME() is the time of the rows of one stream"
            hint = "write it in a query over one stream, or name the time column"
            raise scope.wrong("WB716", told, node, hint=hint)
        return self.final(field.ref)

    def _own(self, _node: exp.Expr) -> Expr | None:
        """What the whole node is known as, before its parts are looked at."""
        return None

    def _window_value(self, scope: Scope, node: exp.Window, clause: str) -> Expr:
        for known, field in self.windows:
            if known == node:
                return field.ref
        raise misplaced_window(scope, node, clause)

    @abstractmethod
    def _own_column(self, node: exp.Column, *, shadowed: bool) -> Expr:
        """What a column of FROM is in this phase."""

    @abstractmethod
    def _aggregate(self, scope: Scope, node: exp.Expr, clause: str) -> Expr | None:
        """The value of an aggregate; None for a node that is none."""


class RowPhase(Phase):
    """Single rows: FROM, WHERE, GROUP BY, arguments of aggregates, and SELECT without groups."""

    def _own_column(self, node: exp.Column, *, shadowed: bool) -> Expr:  # noqa: ARG002
        found = self.visible.find(node)
        assert found is not None
        return found.ref

    def _aggregate(self, scope: Scope, node: exp.Expr, clause: str) -> Expr | None:
        if isinstance(node, exp.Filter):
            node = node.this
        if isinstance(node, exp.AggFunc):
            raise misplaced(scope, node, clause)
        return None


def _refuse_misplaced(scope: Scope, node: exp.Expr, clause: str) -> None:
    """Functions that have a value only somewhere else."""
    if function_name(node) in (*RANKING, *PLACED):
        raise misplaced_window(scope, node, clause)
    if function_name(node) in GROUPING:
        hint = "write GROUP BY ROLLUP (a, b), and GROUPING in the select list or HAVING"
        raise scope.wrong("WB272", "GROUPING is a value of groups", node, hint=hint)


def misplaced_window(scope: Scope, node: exp.Expr, clause: str) -> BindingError:
    """A function with OVER where rows are not numbered yet, or one that lacks its OVER."""
    if not isinstance(node, exp.Window):
        name = function_name(node).upper()
        message = f"{name} is a function of rows in order, and needs OVER"
        hint = f"write {name}(...) OVER (PARTITION BY ... ORDER BY ...)"
        return scope.wrong("WB265", message, node, hint=hint)
    hint = "compute it in a query in FROM, and use its column here; QUALIFY filters by it, too"
    if clause == "a window function":
        hint = "compute the inner one in a query in FROM"
    message = f"a function with OVER is not allowed in {clause}"
    return scope.wrong("WB265", message, node, hint=hint)
