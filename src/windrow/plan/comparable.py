"""Maps cannot be compared, as in Spark: not by =, nor grouped, ordered or told apart."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.scope import Scope

__all__ = ["maps_compared", "maps_compared_in"]

_HINT = "compare MAP_ENTRIES(m), or the value of a key: m['k']"


def maps_compared(scope: Scope, what: str, node: exp.Expr) -> BindingError:
    """The error for a map where values are compared."""
    return scope.wrong("WB724", f"{what} compares values, and maps cannot be", node, hint=_HINT)


def maps_compared_in(clause: str) -> BindingError:
    """The same where only the clause is known."""
    message = f"{clause} compares values, and maps cannot be compared"
    return BindingError("WB724", message, hint=_HINT)
