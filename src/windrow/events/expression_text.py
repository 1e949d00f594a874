"""Bound expressions as Python expressions: text, with what it refers to in a namespace.

NULL is None. A condition is written twice where it must be: where it is true, and where it is
false; neither holds where it is NULL. What has no value of its type gives up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from windrow.events.giving_up import GivesUpError, gives_up
from windrow.events.values import from_arrow
from windrow.plan.expressions import Call, ColumnRef, Expr, Literal, walk
from windrow.rows.evaluate import evaluate
from windrow.rows.faults import FaultError
from windrow.schema import ColumnType

__all__ = ["Namespace", "Texts"]

Namespace = dict[str, Any]
_COMPARED = {"=": "==", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_COMPUTED = {"+": "+", "-": "-", "*": "*"}
_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
_EXACT_DOUBLE = 1 << 53


class Texts:
    """Writes expressions; leaf: the text of a column, group or aggregate."""

    def __init__(self, leaf: Callable[[Expr], str], namespace: Namespace) -> None:
        self._leaf, self._namespace = leaf, namespace
        namespace.update(gives_up=gives_up, compared=_compared)

    def value(self, part: Expr) -> str:
        """The value of an expression."""
        if not isinstance(part, (Call, Literal)):
            return self._leaf(part)
        if isinstance(part, Literal) or _is_constant(part):
            return self._constant(part)
        function, kind = part.function, part.type
        if kind.name == "BOOLEAN" and function != "case":
            return f"(True if {self.true(part)} else False if {self.false(part)} else None)"
        if function in _COMPUTED and (kind.is_integer or kind.name == "DOUBLE"):
            left, right, checks = self._present(*part.arguments)
            return f"(None if {checks} else {self._in_range(f'{left} {function} {right}', kind)})"
        if function == "/" and kind.name == "DOUBLE":
            left, right, checks = self._present(*part.arguments)
            return f"(None if {checks} else {left} / {right} if {right} else gives_up())"
        if function == "cast":
            return self._cast(part.arguments[0], kind)
        raise GivesUpError(f"the function {function}")

    def true(self, part: Expr) -> str:
        """Where a condition is true."""
        return self._where(part, is_true=True)

    def false(self, part: Expr) -> str:
        """Where it is false; where it is NULL it is neither."""
        return self._where(part, is_true=False)

    def _where(self, part: Expr, *, is_true: bool) -> str:
        if not isinstance(part, Call) or _is_constant(part):
            return f"({self.value(part)} is {is_true})"
        function, arguments = part.function, part.arguments
        if function in ("and", "or"):
            word = "and" if (function == "and") == is_true else "or"
            parts = [self._where(each, is_true=is_true) for each in arguments]
            return f"({f' {word} '.join(parts)})"
        if function == "not":
            return self._where(arguments[0], is_true=not is_true)
        if function == "is_null":
            return f"({self.value(arguments[0])} is {'' if is_true else 'not '}None)"
        if function in _COMPARED:
            left, right, checks = self._present(*arguments)
            return f"(not ({checks}) and {self._comparison(part, left, right, is_true=is_true)})"
        if function == "in":
            return self._among(arguments, is_true=is_true)
        raise GivesUpError(f"the condition {function}")

    def _comparison(self, part: Call, left: str, right: str, *, is_true: bool) -> str:
        kind, function = part.arguments[0].type, part.function
        if not (_is_plain(kind) and kind == part.arguments[1].type):
            raise GivesUpError(f"comparisons of {kind}")
        if kind.is_float:
            return f"compared({left}, {right}, {function!r}) is {is_true}"
        return f"{'' if is_true else 'not '}{left} {_COMPARED[function]} {right}"

    def _among(self, arguments: tuple[Expr, ...], *, is_true: bool) -> str:
        """IN a list of constants without NULL."""
        listed = [_constant_value(each) for each in arguments[1:]]
        kind = arguments[0].type
        if None in listed or kind.is_float or not _is_plain(kind):
            raise GivesUpError("IN with NULL or with doubles")
        name, value = self._named(frozenset(listed)), self._fresh()
        inside = "in" if is_true else "not in"
        return f"(({value} := {self.value(arguments[0])}) is not None and {value} {inside} {name})"

    def _present(self, left: Expr, right: Expr) -> tuple[str, str, str]:
        """Both operands as names, and whether one of them is NULL."""
        names, checks = list[str](), list[str]()
        for part in (left, right):
            name = text = self.value(part)
            if not text.isidentifier():
                name = self._fresh()
                checks.append(f"({name} := {text}) is None")
            elif self._namespace.get(text) is None:  # a column, or a constant that is NULL
                checks.append(f"{text} is None")
            names.append(name)
        return names[0], names[1], " or ".join(checks) or "False"

    def _in_range(self, text: str, kind: ColumnType) -> str:
        if kind.is_float:
            return text
        value, most = self._fresh(), 1 << _BITS[kind.name]
        return f"({value} if {-most} <= ({value} := {text}) < {most} else gives_up())"

    def _cast(self, part: Expr, kind: ColumnType) -> str:
        value, text = self._fresh(), self.value(part)
        if part.type.is_integer and kind.is_integer and _BITS[kind.name] >= _BITS[part.type.name]:
            return text
        if part.type.is_float and kind.name == "DOUBLE":
            return text
        if part.type.is_integer and kind.name == "DOUBLE":
            within = f"{-_EXACT_DOUBLE} <= {value} <= {_EXACT_DOUBLE}"
            known = f"float({value}) if {within} else gives_up()"
            return f"(None if ({value} := {text}) is None else {known})"
        raise GivesUpError(f"a cast from {part.type} to {kind}")

    def _constant(self, part: Expr) -> str:
        return self._named(_constant_value(part))

    def _named(self, value: object) -> str:
        name = f"c{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def _fresh(self) -> str:
        """A name of its own; the namespace counts them."""
        name = f"t{len(self._namespace)}"
        self._namespace[name] = None
        return name


def _is_plain(kind: ColumnType) -> bool:
    return not kind.is_nested and not kind.is_interval


def _is_constant(part: Expr) -> bool:
    return all(isinstance(each, (Call, Literal)) for each in walk(part))


def _constant_value(part: Expr) -> Any:
    if not _is_constant(part):
        raise GivesUpError("IN with expressions")
    try:
        return from_arrow(evaluate(part, _no_column, 1), part.type)[0]
    except FaultError:
        raise GivesUpError("a constant without a value") from None


def _no_column(part: Expr) -> pa.Array:
    raise AssertionError(f"{part} in a constant")


def _compared(left: float, right: float, function: str) -> bool:
    """Doubles as SQL compares them: NaN equals itself and is larger than any other."""
    if math.isnan(left) or math.isnan(right):
        left, right = float(math.isnan(left)), float(math.isnan(right))
    if function == "=":
        return left == right
    if function == "<>":
        return left != right
    if function == "<":
        return left < right
    if function == "<=":
        return left <= right
    return left > right if function == ">" else left >= right


def columns_read(parts: list[Expr]) -> list[str]:
    """The columns that expressions of one input read, each once."""
    read = {leaf.column for part in parts for leaf in walk(part) if isinstance(leaf, ColumnRef)}
    return sorted(read)
