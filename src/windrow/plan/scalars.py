"""All binders of scalar expressions in one table: what is not in it cannot be written."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.plan.casts import bind_cast
from windrow.plan.expressions import Expr
from windrow.plan.functions import bind_function
from windrow.plan.literals import bind_boolean, bind_interval, bind_literal, bind_null
from windrow.plan.nested_access import bind_bracket, bind_dot
from windrow.plan.operators import operator_binders
from windrow.plan.scope import Binder, Resolver, Scope
from windrow.sql.nested_query import NestedQuery

__all__ = ["scope_of"]


def scope_of(text: str, resolve: Resolver) -> Scope:
    """A scope in which names mean what the resolver says."""
    return Scope(text, resolve, _BINDERS)


def _star(scope: Scope, node: exp.Star) -> Expr:
    raise scope.wrong(
        "WB244",
        "* means all columns only as a select item of its own",
        node,
        hint="write COUNT(*) to count",
    )


def _subquery(scope: Scope, node: exp.Expr) -> Expr:
    raise scope.refused("WU207", "a sub-query", node, hint="write a join with an aggregate")


def _window_function(scope: Scope, node: exp.Expr) -> Expr:
    raise scope.refused(
        "WU218",
        "OVER, FILTER, or an order within an aggregate",
        node,
        hint="put a condition into WHERE, or SUM a CASE",
    )


_BINDERS: Mapping[type[exp.Expr], Binder] = {
    **operator_binders,
    exp.Literal: bind_literal,
    exp.Boolean: bind_boolean,
    exp.Null: bind_null,
    exp.Cast: bind_cast,
    exp.TryCast: bind_cast,
    exp.Dot: bind_dot,
    exp.Bracket: bind_bracket,
    exp.Star: _star,
    exp.Interval: bind_interval,
    exp.Exists: _subquery,
    exp.Subquery: _subquery,
    exp.Select: _subquery,
    exp.Any: _subquery,
    exp.All: _subquery,
    NestedQuery: _subquery,
    exp.Window: _window_function,
    exp.Filter: _window_function,
    exp.WithinGroup: _window_function,
    exp.Expr: bind_function,  # everything else: a function by name, or nothing of ours
}
