"""Faults: rows in which an expression has no value of its type, and the error that names one.

Faults are None where there are none, else flags: one for each row, or a single one for all rows of
a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import DataError, Place
from windrow.event_time import show_instant
from windrow.plan.expressions import WORDS, Call, ColumnRef, Expr, GroupRef, walk
from windrow.plan.show import show_with
from windrow.rows.scalar.values import Leaf
from windrow.scalar_functions import SCALAR_FUNCTIONS
from windrow.scalar_functions.internal import INTERNAL_TOTAL

__all__ = [
    "FaultError",
    "Faults",
    "any_of",
    "at_rows",
    "fault_error",
    "hint_for",
    "own_faults",
    "show_fault",
    "where_reached",
]

Flags = npt.NDArray[np.bool_]
Faults = Flags | None

# These have a value wherever all their arguments have one: NULL among their results is a fault.
_ALWAYS_DEFINED = frozenset(
    ["+", "-", "*", "/", "%", "div", "negate", "cast", "from_words", *WORDS, *INTERNAL_TOTAL]
    + [each.name for each in SCALAR_FUNCTIONS.values() if each.is_total]
)
_QUOTIENTS = ("/", "%", "div")
_SHOWN_VALUE = 40  # letters of a value in an error


def own_faults(call: Call, values: Sequence[Any], found: Any) -> Faults:
    """Where the call itself has no value, though all its arguments have one."""
    if call.function not in _ALWAYS_DEFINED:
        return None
    if found.is_valid if isinstance(found, pa.Scalar) else found.null_count == 0:
        return None
    missing = ~_is_valid(found)
    for value in values:
        missing = missing & _is_valid(value)
    return missing if missing.any() else None


def where_reached(function: str, values: Sequence[Any], faults: Sequence[Faults]) -> Faults:
    """Faults of arguments, left out where SQL does not come to look at them."""
    if all(each is None for each in faults):
        return None
    if function == "case":
        return _of_branches(values, faults)
    found = None
    reached: Flags = np.ones(1, np.bool_)
    for value, each in zip(values, faults, strict=True):
        found = any_of(found, each, reached)
        if function == "coalesce":
            reached = reached & ~_is_valid(value)
        elif function == "and":
            reached = reached & ~(_is_valid(value) & ~_flags(value))
        elif function == "or":
            reached = reached & ~_flags(value)
    return found


def _of_branches(values: Sequence[Any], faults: Sequence[Faults]) -> Faults:
    """CASE: a condition counts where none before it held, a value where its condition does."""
    found = None
    waiting: Flags = np.ones(1, np.bool_)
    for place in range(0, len(values) - 1, 2):
        found = any_of(found, faults[place], waiting)
        holds = waiting & _flags(values[place])
        found = any_of(found, faults[place + 1], holds)
        waiting = waiting & ~holds
    return any_of(found, faults[-1], waiting)


def any_of(one: Faults, other: Faults, reached: Flags | None = None) -> Faults:
    """Faults of either; the other ones only where they are reached."""
    if other is None:
        return one
    other = other if reached is None else other & reached
    return other if one is None else one | other


def at_rows(faults: Faults, length: int) -> Faults:
    """One flag for each row; None where there is no fault."""
    if faults is None or not faults.any():
        return None
    spread: Flags = np.broadcast_to(faults, length)
    return spread if length else None


def _is_valid(value: Any) -> Flags:
    if isinstance(value, pa.Scalar):
        return np.array([value.is_valid])
    valid: Flags = value.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _flags(condition: Any) -> Flags:
    """Where a condition is true."""
    if isinstance(condition, pa.Scalar):
        return np.array([condition.as_py() is True])
    truth: Flags = pc.fill_null(condition, False).to_numpy(zero_copy_only=False)
    return truth


class FaultError(DataError):
    """An expression without a value in a row; of what it reads, the values there as texts."""

    def __init__(
        self, code: str, message: str, *, hint: str | None = None, place: Place | None = None,
        expression: Expr | None = None, values: Mapping[ColumnRef, str] | None = None,
        why: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(code, message, hint=hint, place=place)
        self.expression, self.values, self.why = expression, values or {}, why

    def in_words(self, named: Callable[[Expr], str]) -> FaultError:
        """The same with columns named otherwise: rows on their way have columns of their own."""
        if self.expression is None:
            return self
        return _error(self.expression, self.values, named, self.why)


def fault_error(expression: Expr, leaf: Leaf, why: str | None = None) -> FaultError:
    """What has no value in the one row that `leaf` gives, and what to do.

    why: what a function of the user's has raised for the row.
    """
    columns = dict.fromkeys(part for part in walk(expression) if isinstance(part, ColumnRef))
    return _error(expression, {part: _shown(leaf(part)) for part in columns}, _bare, why)


def show_fault(expression: Expr, named: Callable[[Expr], str]) -> str:
    """The expression that has no value, and the type that it would have."""
    text = show_with(expression, named)
    if isinstance(expression, Call) and expression.function == "cast":
        return f"CAST({text} AS {expression.type}) has no value"
    return f"{text} has no value of type {expression.type}"


def hint_for(expression: Expr) -> str:
    """What to write instead."""
    if isinstance(expression, Call) and expression.function == "cast":
        return "TRY_CAST returns NULL for such a value; or filter such rows out"
    function = expression.function if isinstance(expression, Call) else ""
    known = SCALAR_FUNCTIONS.get(function)
    if known is not None and known.remedy:
        return known.remedy
    if function in _QUOTIENTS:
        return "TRY_DIVIDE, NULLIF(..., 0) or ON ERROR NULL give NULL; or filter such rows out"
    return "compute with CAST(... AS DOUBLE), write ON ERROR NULL, or filter such rows out"


def _error(
    expression: Expr,
    values: Mapping[ColumnRef, str],
    named: Callable[[Expr], str],
    why: str | None = None,
) -> FaultError:
    if isinstance(expression, Call) and expression.function == "from_words":
        hint = "sum a DOUBLE or DECIMAL instead: SUM(CAST(x AS DOUBLE))"
        return FaultError("WD302", "a SUM is beyond 64 bits", hint=hint)
    shown = [f"{named(part)} is {text}" for part, text in values.items()]
    where = f" where {', '.join(shown)}" if shown else ""
    code, hint, message = "WD304", hint_for(expression), show_fault(expression, named) + where
    if why is not None:
        code, message = "WD758", f"{show_with(expression, named)} failed{where}: {why}"
        hint = "let the function return None for such a row, or filter such rows out"
    return FaultError(code, message, hint=hint, expression=expression, values=values, why=why)


def _bare(leaf: Expr) -> str:
    if isinstance(leaf, ColumnRef):
        return leaf.column
    return "a group" if isinstance(leaf, GroupRef) else "an aggregate"


def _shown(column: pa.Array) -> str:
    value = column[0]
    if pa.types.is_timestamp(value.type):
        text = show_instant(value.value)
    else:
        text = repr(value.as_py()) if pa.types.is_string(value.type) else str(value.as_py())
    return text if len(text) <= _SHOWN_VALUE else f"{text[: _SHOWN_VALUE - 3]}..."
