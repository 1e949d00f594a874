"""Join variables: what the equalities of a query make equal, each found once.

A.x = B.x AND B.x = C.x is one variable of A, B and C, however it is written. Expressions share a
variable as long as one type holds all of them without loss; an equality that would break this has
a variable of its own, because rounding is not transitive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from windrow.plan.expressions import Expr
from windrow.plan.lossless import bare, meet
from windrow.plan.types import convert
from windrow.schema import ColumnType

__all__ = ["JoinVariable", "join_variables"]


@dataclass(frozen=True)
class JoinVariable:
    """Expressions that are equal in every joined row, all of one type, in order of the text."""

    members: tuple[Expr, ...]


def join_variables(pairs: Sequence[tuple[Expr, Expr]]) -> tuple[JoinVariable, ...]:
    """The variables of the equalities, in the order in which the text first names them."""
    found = _Classes()
    for left, right in dict.fromkeys(pairs):
        found.equate(bare(left), bare(right))
    return tuple(each.finished() for each in found.classes)


@dataclass(eq=False)
class _Class:
    """A variable in the making: its members without casts, and the type that holds them all."""

    type: ColumnType
    members: dict[Expr, None]

    def finished(self) -> JoinVariable:
        """The variable, its members converted to one type."""
        converted = dict.fromkeys(convert(member, self.type) for member in self.members)
        return JoinVariable(tuple(converted))


class _Classes:
    """Expressions in classes of equals; `home` has the class in which an expression is found."""

    def __init__(self) -> None:
        self.classes: list[_Class] = []
        self._home: dict[Expr, _Class] = {}

    def equate(self, left: Expr, right: Expr) -> None:
        """Put both into one class, with all that is known to equal either."""
        kind = meet(left.type, right.type)
        assert kind is not None, "the binder has converted both sides to one type"
        known = [each for each in self.classes if each in self._homes(left, right)]
        joint = _joint(kind, known)
        if joint is None or not known:
            first = _Class(kind, {left: None, right: None})
            self.classes.append(first)
        else:
            first = known[0]
            first.type = joint
            for other in known[1:]:
                self._absorb(first, other)
            first.members |= {left: None, right: None}
        for part in (left, right):
            self._home.setdefault(part, first)

    def _homes(self, *parts: Expr) -> list[_Class]:
        return [self._home[part] for part in parts if part in self._home]

    def _absorb(self, first: _Class, other: _Class) -> None:
        self.classes.remove(other)
        first.members |= other.members
        for part in [part for part, home in self._home.items() if home is other]:
            self._home[part] = first


def _joint(kind: ColumnType, classes: list[_Class]) -> ColumnType | None:
    joint: ColumnType | None = kind
    for each in classes:
        joint = None if joint is None else meet(joint, each.type)
    return joint
