"""A scope: the text at fault, what names mean in it, and the way from a node to its bound form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from windrow.errors import BindingError, Place, UnsupportedError
from windrow.plan.expressions import Expr
from windrow.plan.session_zone import session_zone
from windrow.plan.types import convert, is_null
from windrow.schema import BOOLEAN
from windrow.sql.places import place_of

__all__ = ["MAX_DEPTH", "Binder", "Resolver", "Scope"]

# Far above what a person writes and far below what Python's stack holds.
MAX_DEPTH = 200

Resolver = Callable[[exp.Expr], Expr | None]
Binder = Callable[["Scope", Any], Expr]


class Scope:
    """Binds nodes: the resolver is asked first, then the binder of the node's class."""

    def __init__(
        self, text: str, resolve: Resolver, binders: Mapping[type[exp.Expr], Binder]
    ) -> None:
        self.text = text
        self.time_zone = session_zone()
        self._resolve = resolve
        self._binders = binders
        self._depth = 0

    def bind(self, node: exp.Expr) -> Expr:
        """The bound form of the node."""
        if self._depth >= MAX_DEPTH:
            message = f"expressions nest deeper than {MAX_DEPTH}"
            raise self.wrong("WB253", message, node, hint="remove some brackets")
        self._depth += 1
        try:
            known = self._resolve(node)
            if known is not None:
                return known
            binder = self._binders.get(type(node), self._binders[exp.Expr])
            return binder(self, node)
        finally:
            self._depth -= 1

    def condition(self, node: exp.Expr, clause: str) -> Expr:
        """The bound form of a node that must be true, false or NULL."""
        bound = self.bind(node)
        if bound.type != BOOLEAN and not is_null(bound):
            raise self.wrong(
                "WB222",
                f"{clause} takes a condition, but this is {bound.type}",
                node,
                hint="compare it with something, such as <> 0",
            )
        return convert(bound, BOOLEAN)

    def place(self, node: exp.Expr) -> Place | None:
        """Where the node stands in the text."""
        return place_of(node, self.text)

    def wrong(
        self, code: str, message: str, node: exp.Expr, hint: str | None = None
    ) -> BindingError:
        """A binding error at the node."""
        return BindingError(code, message, hint=hint, place=self.place(node))

    def refused(
        self, code: str, message: str, node: exp.Expr, hint: str | None = None
    ) -> UnsupportedError:
        """A refusal at the node: right WQL that nothing runs yet."""
        return UnsupportedError(
            code, f"{message} is not supported yet", hint=hint, place=self.place(node)
        )
