"""Bound, typed scalar expressions: what remains of sqlglot's tree once every name is resolved.

Only what this file can express can run: it is the allow-list. An expression without a value of its
type for a row (a division by zero, an overflow, a failed cast) is a fault there, as in Spark's ANSI
mode; ON ERROR says what becomes of it. NaN follows Spark: equal to itself and larger than every
other number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from windrow.scalar_functions import SCALAR_FUNCTIONS
from windrow.scalar_functions.internal import INTERNAL
from windrow.schema import ColumnType

__all__ = [
    "FUNCTIONS",
    "WORDS",
    "AggregateRef",
    "Call",
    "ColumnRef",
    "Expr",
    "GroupRef",
    "Literal",
    "UserCall",
    "Variable",
    "inputs_of",
    "walk",
]

# Parts of integers of any size, of which sums are made.
WORDS = ("top_word", "high_word", "middle_word", "low_word")

# Call.function is one of these. 'cast' converts its argument to Call.type; 'case' has the arguments
# (condition, value, condition, value, ..., otherwise); 'in' has (value, literal, literal, ...).
FUNCTIONS = frozenset(
    [
        *("+", "-", "*", "/", "%", "div", "negate"),  # div of integers only
        *("=", "<>", "<", "<=", ">", ">=", "is_same"),  # is_same is <=>: NULL-safe equality
        *("and", "or", "not", "is_null", "in", "case", "cast", "try_cast", "like"),
        *(name for name, each in SCALAR_FUNCTIONS.items() if not each.is_form),
        *("item", "field", "fields", "map_value"),  # x[i], x.name, array.name and m[key]
        *("concat_arrays", "reverse_array"),
        *INTERNAL,
        *("&", "|", "^", "~"),  # of integers of one type
        *("try_add", "try_subtract", "try_multiply", "try_divide", "try_mod"),  # NULL for a fault
        *("square", "square_error"),  # of doubles, for variances; no text names them
        *("product", "product_error", "first_of_pair"),  # likewise, for correlations
        *("try", "has_value"),  # NULL for a fault, and whether there is none
        *("from_words", *WORDS),  # of exact sums
    ]
)


@dataclass(frozen=True)
class Literal:
    """A constant; None is NULL.

    Timestamps and intervals of days are int microseconds, dates int days, others int months.
    """

    value: object
    type: ColumnType


@dataclass(frozen=True)
class ColumnRef:
    """A column of the input at that position in FROM."""

    source: int
    column: str
    type: ColumnType


@dataclass(frozen=True)
class Call:
    """A function of FUNCTIONS; arguments have the types that it needs (casts are explicit)."""

    function: str
    arguments: tuple[Expr, ...]
    type: ColumnType


@dataclass(frozen=True)
class UserCall(Call):
    """A call of a function that a user has given: `body`, which is no part of a plan's text."""

    body: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class GroupRef:
    """The value of QueryPlan.group_by[index]; only in select items and HAVING."""

    index: int
    type: ColumnType


@dataclass(frozen=True)
class AggregateRef:
    """The value of QueryPlan.aggregates[index]; only in select items and HAVING."""

    index: int
    type: ColumnType


@dataclass(frozen=True)
class Variable:
    """A parameter of a function without a name, within its body; its name is unique there."""

    name: str
    type: ColumnType


Expr = Literal | ColumnRef | Call | GroupRef | AggregateRef | Variable


def walk(expression: Expr) -> Iterator[Expr]:
    """The expression and everything in it, parents first."""
    yield expression
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from walk(argument)


def inputs_of(expression: Expr) -> frozenset[int]:
    """The positions in FROM of all inputs that the expression reads."""
    return frozenset(part.source for part in walk(expression) if isinstance(part, ColumnRef))
