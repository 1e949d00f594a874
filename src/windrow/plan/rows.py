"""The scope of single rows: WHERE, GROUP BY, join keys and the arguments of aggregates."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from windrow.plan.expressions import Expr
from windrow.plan.names import Names
from windrow.plan.nested_access import written_as_field
from windrow.plan.scalars import scope_of
from windrow.plan.scope import Scope

__all__ = ["misplaced", "row_scope"]

_NO_ALIASES: Mapping[str, exp.Expr] = {}


def row_scope(names: Names, clause: str, aliases: Mapping[str, exp.Expr] = _NO_ALIASES) -> Scope:
    """A scope in which names are columns of the inputs, and then names of the select list."""

    def resolve(node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.AggFunc):
            raise misplaced(scope, node, clause)
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return None
        if names.is_field(node):
            return scope.bind(written_as_field(node))
        written = aliases.get(node.name.lower())
        if written is not None and not node.table and not names.find(node):
            return plain.bind(written)
        return names.resolve(node)

    scope = scope_of(names.text, resolve)
    plain = row_scope(names, clause) if aliases else scope
    return scope


def misplaced(scope: Scope, node: exp.AggFunc, clause: str) -> Exception:
    """The error for an aggregate in a clause of single rows."""
    if clause == "an aggregate":
        return scope.wrong(
            "WB241",
            "aggregates cannot be nested",
            node,
            hint="aggregate once; expressions may surround it, such as SUM(x) / COUNT(*)",
        )
    hint = "put it into HAVING" if clause == "WHERE" else "aggregate in the select list instead"
    return scope.wrong("WB240", f"an aggregate is not allowed in {clause}", node, hint=hint)
