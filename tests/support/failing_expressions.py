"""Generated expressions that may have no value, each with its slow evaluation.

An expression is its text and a function of a row: it gives a value or None, or raises NoValueError.
With `tries` a part without a value is NULL and what reads it goes on, as ON ERROR NULL says.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

__all__ = ["BIGINT", "DOUBLE", "Expression", "NoValueError", "conditions", "numbers_of", "rows"]

BIGINT, DOUBLE = "bigint", "double"
MOST = 2**63 - 1
Row = dict[str, Any]
Part = Callable[[Row, bool], Any]


class NoValueError(Exception):
    """The expression has no value for the row."""


@dataclass(frozen=True)
class Expression:
    """exact: as an argument of SUM, whose own sums and products do not overflow; None: as it is."""

    text: str
    kind: str
    value: Part
    exact: Part | None = None

    def of(self, row: Row, *, tries: bool = False) -> Any:
        """Its value, or None; raises NoValueError unless it tries."""
        return self.value(row, tries)

    def exactly(self, row: Row, *, tries: bool = False) -> Any:
        """Its value within a SUM."""
        return (self.exact or self.value)(row, tries)


def _fit(value: int, bits: int = 63) -> int:
    if not -(1 << bits) <= value < 1 << bits:
        raise NoValueError
    return value


def _failing(compute: Callable[..., Any], *parts: Part) -> Part:
    """NULL for NULL; where it fails NULL or an error, as asked for."""

    def value(row: Row, tries: bool) -> Any:
        found = [part(row, tries) for part in parts]
        if None in found:
            return None
        try:
            return compute(*found)
        except NoValueError:
            if tries:
                return None
            raise

    return value


def _divide(one: int, other: int) -> int:
    if other == 0:
        raise NoValueError
    quotient = abs(one) // abs(other)
    return _fit(quotient if (one < 0) == (other < 0) else -quotient)


def _rest(one: int, other: int) -> int:
    if other == 0:
        raise NoValueError
    return (
        int(math.copysign(abs(one) % abs(other), one))
        if abs(one) < 2**53
        else _big_rest(one, other)
    )


def _big_rest(one: int, other: int) -> int:
    rest = abs(one) % abs(other)
    return -rest if one < 0 else rest


def _ratio(one: float, other: float) -> float:
    if other == 0:
        raise NoValueError
    try:
        return float(one) / float(other)
    except OverflowError:
        return math.inf


def _number_in(text: str) -> int:
    stripped = text.strip()
    digits = stripped[1:] if stripped[:1] in ("-", "+") else stripped
    if not (digits.isascii() and digits.isdigit()):
        raise NoValueError
    return _fit(int(stripped))


def _column(name: str) -> Part:
    return lambda row, _tries: row[name]


def _constant(value: Any) -> Part:
    return lambda _row, _tries: value


_LEAVES = [
    Expression("x", BIGINT, _column("x")),
    Expression("y", BIGINT, _column("y")),
    Expression("CAST(3 AS BIGINT)", BIGINT, _constant(3)),
    Expression("CAST(t AS BIGINT)", BIGINT, _failing(_number_in, _column("t"))),
    Expression("CAST(CAST(x AS INT) AS BIGINT)", BIGINT,
               _failing(lambda x: _fit(x, 31), _column("x"))),
]  # fmt: skip
_DOUBLES = [
    Expression("d", DOUBLE, _column("d")),
    Expression("CAST(t AS DOUBLE)", DOUBLE, _failing(lambda t: float(_number_in(t)), _column("t"))),
]
_EXACT: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}
_OTHERS: dict[str, Callable[[int, int], int]] = {"DIV": _divide, "%": _rest}


def _arithmetic(sign: str, one: Expression, other: Expression) -> Expression:
    text, compute = f"({one.text} {sign} {other.text})", {**_EXACT, **_OTHERS}[sign]
    value = _failing(lambda a, b: _fit(compute(a, b)), one.value, other.value)
    if sign in _OTHERS:
        return Expression(text, BIGINT, value)
    exact = _failing(compute, one.exact or one.value, other.exact or other.value)
    return Expression(text, BIGINT, value, exact)


def _ratio_of(one: Expression, other: Expression) -> Expression:
    text = f"({one.text} / {other.text})"
    return Expression(text, DOUBLE, _failing(_ratio, one.value, other.value))


def _case(condition: Expression, one: Expression, other: Expression) -> Expression:
    def chosen(first: Part, second: Part) -> Part:
        return lambda row, tries: (first if condition.value(row, tries) else second)(row, tries)

    text = f"CASE WHEN {condition.text} THEN {one.text} ELSE {other.text} END"
    exact = chosen(one.exact or one.value, other.exact or other.value)
    return Expression(text, one.kind, chosen(one.value, other.value), exact)


def _order(value: float) -> tuple[bool, float]:
    """NaN is larger than all others, and equal to itself."""
    return (True, 0.0) if value != value else (False, value)


def _comparison(sign: str, one: Expression, other: Expression) -> Expression:
    compute: dict[str, Callable[[Any, Any], bool]] = {
        "<": lambda a, b: _order(a) < _order(b),
        "=": lambda a, b: _order(a) == _order(b),
        ">=": lambda a, b: _order(a) >= _order(b),
    }
    value = _failing(compute[sign], one.value, other.value)
    return Expression(f"{one.text} {sign} {other.text}", "boolean", value)


def conditions(depth: int = 1) -> st.SearchStrategy[Expression]:
    """Comparisons of numbers."""
    signs = st.sampled_from(["<", "=", ">="])
    return st.builds(_comparison, signs, numbers_of(BIGINT, depth), numbers_of(BIGINT, depth))


def numbers_of(kind: str, depth: int = 2) -> st.SearchStrategy[Expression]:
    """Expressions of BIGINT or of DOUBLE."""
    leaves = st.sampled_from(_LEAVES if kind == BIGINT else _DOUBLES)
    if depth == 0:
        return leaves
    inner = numbers_of(kind, depth - 1)
    branches = st.builds(_case, conditions(0), inner, inner)
    if kind == DOUBLE:
        return leaves | st.builds(_ratio_of, inner, inner) | branches
    signs = st.sampled_from([*_EXACT, *_OTHERS])
    return leaves | st.builds(_arithmetic, signs, inner, inner) | branches


def rows(most: int = 6) -> st.SearchStrategy[list[Row]]:
    """Rows with NULL, NaN, the ends of BIGINT, zeros and texts that are no numbers."""
    whole = st.sampled_from([0, 1, -1, 3, 2**31, 2**61, -(2**61), MOST, -MOST - 1, None])
    parts = [0.0, -0.0, 1.5, math.nan, math.inf, None]
    return st.lists(
        st.fixed_dictionaries(
            {
                "k": st.integers(0, 1),
                "x": whole,
                "y": whole,
                "d": st.sampled_from(parts),
                "t": st.sampled_from(["5", "-3", "q", "", "0", None]),
            }
        ),
        max_size=most,
    )
