"""A scope: the text at fault, what names mean in it, and the way from a node to its bound form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from windrow.errors import BindingError, Place, UnsupportedError
from windrow.plan.expressions import Expr, Variable
from windrow.plan.session_zone import session_zone
from windrow.plan.types import convert, is_null
from windrow.schema import BOOLEAN, ColumnType
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
        self._lambdas: list[dict[str, Variable]] = []
        self.owner = ""  # of a function's body: its name, so that its parameters are its own

    def enter_lambda(self, names: Sequence[str], kinds: Sequence[ColumnType]) -> list[Variable]:
        """From here on these names are parameters, until leave_lambda()."""
        depth = len(self._lambdas)
        pairs = zip(names, kinds, strict=False)
        variables = {
            name.lower(): Variable(f"{name}#{self.owner}{depth}", kind) for name, kind in pairs
        }
        self._lambdas.append(variables)
        return [variables[name.lower()] for name in names]

    def leave_lambda(self) -> None:
        """The parameters of the innermost function are no names any more."""
        self._lambdas.pop()

    def _variable(self, node: exp.Expr) -> Variable | None:
        if not isinstance(node, exp.Column) or node.table:
            return None
        found = (each[node.name.lower()] for each in reversed(self._lambdas)
                 if node.name.lower() in each)  # fmt: skip
        return next(found, None)

    def _has_variable(self, node: exp.Expr) -> bool:
        names = {name for each in self._lambdas for name in each}
        columns = node.find_all(exp.Column)
        return any((each.table or each.name).lower() in names for each in columns)

    def bind(self, node: exp.Expr) -> Expr:
        """The bound form of the node."""
        if self._depth >= MAX_DEPTH:
            message = f"expressions nest deeper than {MAX_DEPTH}"
            raise self.wrong("WB253", message, node, hint="remove some brackets")
        self._depth += 1
        try:
            known = self._known(node)
            if known is not None:
                return known
            binder = self._binders.get(type(node), self._binders[exp.Expr])
            return binder(self, node)
        finally:
            self._depth -= 1

    def _known(self, node: exp.Expr) -> Expr | None:
        """What a name means: the innermost parameter of that name, else what the resolver says."""
        if not self._lambdas or not self._has_variable(node):
            return self._resolve(node)
        if isinstance(node, exp.Column) and node.table:
            column = exp.Column(this=node.args["table"].copy())
            if self._variable(column) is not None:
                return self.bind(exp.Dot(this=column, expression=node.this.copy()))
            return self._resolve(node)
        # What holds a parameter is no group and no column of the query around it.
        return self._variable(node)

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
