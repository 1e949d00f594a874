"""Bound expressions over whole columns, with Arrow's kernels.

`leaf` gives the column of a ColumnRef, GroupRef or AggregateRef; the result has exactly the Arrow
type of the expression. A row in which the expression has no value of its type (an integer or
decimal beyond its digits, a cast that fails) is a fault, and ends in an error that names it; in
the branch of a CASE that is not taken, or behind an AND that is false already, it does no harm.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from windrow.deferred import deferred
from windrow.plan.expressions import WORDS, Call, Expr, Literal, UserCall
from windrow.rows.exact_integers import exact_word
from windrow.rows.faults import (
    FaultError,
    Faults,
    any_of,
    at_rows,
    fault_error,
    own_faults,
    where_reached,
)
from windrow.rows.scalar.registry import FUNCTIONS
from windrow.rows.scalar.values import TAKE_FUNCTIONS, Checked, Leaf, as_array
from windrow.rows.user_calls import call_user, why_it_failed
from windrow.schema import ColumnType

if TYPE_CHECKING:
    from windrow.rows.scalar.lambdas import higher_order, outer_leaves
else:
    higher_order = deferred("windrow.rows.scalar.lambdas", "higher_order")
    outer_leaves = deferred("windrow.rows.scalar.lambdas", "outer_leaves")

__all__ = [
    "Leaf",
    "culprit_in",
    "error_at",
    "evaluate",
    "evaluate_checked",
    "evaluate_filter",
    "evaluate_or_null",
    "filter_checked",
]

Flags = npt.NDArray[np.bool_]
Known = Mapping[Expr, Flags]

_NO_FAULTS: Known = {}


def evaluate(expression: Expr, leaf: Leaf, length: int) -> pa.Array:
    """The value of the expression in each of the rows; a fault is a DataError."""
    found, faults = evaluate_checked(expression, leaf, length)
    if faults is not None:
        raise error_at(expression, leaf, faults)
    return found


def evaluate_or_null(expression: Expr, leaf: Leaf, length: int) -> pa.Array:
    """The value of the expression in each of the rows, NULL at a fault."""
    found, faults = evaluate_checked(expression, leaf, length)
    if faults is None:
        return found
    return pc.if_else(pa.array(faults), pa.scalar(None, found.type), found)


def evaluate_checked(
    expression: Expr, leaf: Leaf, length: int, known: Known = _NO_FAULTS
) -> tuple[pa.Array, Flags | None]:
    """The values, and in which rows they are none, if in any; known: faults of the leaves."""
    value, faults = _value(expression, leaf, known)
    return as_array(value, length), at_rows(faults, length)


def evaluate_filter(expression: Expr, leaf: Leaf, length: int) -> Flags:
    """Where the condition is true: neither false nor NULL; a fault is a DataError."""
    found, faults = filter_checked(expression, leaf, length)
    if faults is not None:
        raise error_at(expression, leaf, faults)
    return found


def filter_checked(
    expression: Expr, leaf: Leaf, length: int, known: Known = _NO_FAULTS
) -> tuple[Flags, Flags | None]:
    """Where the condition is true, and where it is neither true nor false nor NULL."""
    if isinstance(expression, Call) and expression.function in ("and", "or"):
        # AND and OR are true on the same rows whether NULL counts as NULL or as false.
        left, faults = filter_checked(expression.arguments[0], leaf, length, known)
        right, others = filter_checked(expression.arguments[1], leaf, length, known)
        is_and = expression.function == "and"
        faults = at_rows(any_of(faults, others, left if is_and else ~left), length)
        return (left & right if is_and else left | right), faults
    quick = _compared_with_literal(expression, leaf) if not known else None
    if quick is not None:
        return quick, None
    truth, faults = evaluate_checked(expression, leaf, length, known)
    if truth.null_count:
        truth = pc.fill_null(truth, False)
    where: Flags = truth.to_numpy(zero_copy_only=False)
    return where, faults


def _value(expression: Expr, leaf: Leaf, known: Known) -> tuple[Any, Faults]:
    if isinstance(expression, Literal):
        return pa.scalar(expression.value, expression.type.arrow), None
    if not isinstance(expression, Call):
        return leaf(expression), known.get(expression)
    if expression.function in TAKE_FUNCTIONS:
        return _of_functions(expression, leaf, known)
    if expression.function == "has_value":
        return _has_value(*_value(expression.arguments[0], leaf, known)), None
    if expression.function == "try":
        return _tried(expression.arguments[0], leaf, known)
    found, inner, own = _called(expression, leaf, known)
    if inner is not None and expression.function in WORDS:
        return exact_word(expression, lambda part: _value(part, leaf, known))
    return found, any_of(inner, own)


def _called(call: Call, leaf: Leaf, known: Known) -> tuple[Any, Faults, Faults]:
    """The value of a call, the faults of its arguments, and those that are its own."""
    parts = [_value(part, leaf, known) for part in call.arguments]
    values, faults = [value for value, _ in parts], [fault for _, fault in parts]
    found: Any
    if isinstance(call, UserCall):
        found = call_user(call.body, values, call.type)
    else:
        found = FUNCTIONS[call.function](values, call.type)
    inner = where_reached(call.function, values, faults)
    if isinstance(found, Checked):
        own = any_of(found.faults, own_faults(call, values, found.value))
        return found.value, inner, own
    return found, inner, own_faults(call, values, found)


def _tried(expression: Expr, leaf: Leaf, known: Known) -> tuple[Any, Faults]:
    """NULL where the expression itself has no value; what it reads is not tried, as in Spark."""
    apart = ("try", "has_value", *TAKE_FUNCTIONS)
    if not isinstance(expression, Call) or expression.function in apart:
        value, own = _value(expression, leaf, known)
        inner = None
    else:
        value, inner, own = _called(expression, leaf, known)
    if own is None or not own.any():
        return value, inner
    nothing = pa.scalar(None, value.type)
    if isinstance(value, pa.Scalar) and own.size == 1:
        return nothing, inner
    return pc.if_else(pa.array(own), nothing, value), inner


def _has_value(value: Any, faults: Faults) -> Any:
    """Whether the value is one; what is NULL is no fault."""
    del value
    if faults is None or not faults.any():
        return pa.scalar(True)
    return pa.scalar(False) if faults.size == 1 else pa.array(~faults)


def _of_functions(call: Call, leaf: Leaf, known: Known) -> tuple[Any, Faults]:
    """A call that takes functions: their bodies are evaluated over the entries of all rows."""
    count = len(call.arguments) - 2 - (call.function == "aggregate")
    parts = [_value(part, leaf, known) for part in call.arguments[:count]]
    lengths = [len(value) for value, _ in parts if not isinstance(value, pa.Scalar)]
    lengths += [len(leaf(part)) for part in outer_leaves(call)] if not lengths else []
    values = [as_array(value, lengths[0] if lengths else 1) for value, _ in parts]
    found = higher_order(call, values, evaluate_checked, leaf, known)
    faults = found.faults
    for _, fault in parts:
        faults = any_of(faults, fault)
    # Of constants alone it is one, for however many rows.
    return (found.value if lengths else found.value[0]), faults


def error_at(expression: Expr, leaf: Leaf, faults: Flags) -> FaultError:
    """What is wrong with the expression in the first row that has a fault."""
    row = int(np.flatnonzero(faults)[0])

    def of_row(part: Expr) -> pa.Array:
        return leaf(part).slice(row, 1)

    culprit = culprit_in(expression, of_row)
    return fault_error(culprit, of_row, _why(culprit, of_row))


def _why(culprit: Expr, leaf: Leaf) -> str | None:
    """What a function of the user's says about the one row that `leaf` gives."""
    if not isinstance(culprit, UserCall):
        return None
    values = [_value(part, leaf, _NO_FAULTS)[0] for part in culprit.arguments]
    return why_it_failed(culprit.body, values, culprit.type)


def culprit_in(expression: Expr, leaf: Leaf) -> Expr:
    """The innermost part that has no value in the one row that `leaf` gives."""
    if isinstance(expression, Call) and expression.function not in TAKE_FUNCTIONS:
        parts = [_value(part, leaf, _NO_FAULTS) for part in expression.arguments]
        for part, (_, faults) in zip(expression.arguments, parts, strict=True):
            if at_rows(faults, 1) is not None:
                return culprit_in(part, leaf)
    return expression


# A comparison, its mirror image, and the IEEE comparison that gives it: negated where True, so that
# NaN, for which IEEE always says false, comes out larger than the literal.
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_BY_IEEE: dict[str, tuple[Any, bool]] = {
    "<": (np.less, False),
    "<=": (np.less_equal, False),
    ">": (np.less_equal, True),
    ">=": (np.less, True),
    "=": (np.equal, False),
    "<>": (np.not_equal, False),
}


def _compared_with_literal(expression: Expr, leaf: Leaf) -> Flags | None:
    """A column of numbers without NULL against a number: one pass, without Arrow's bitmaps."""
    if not isinstance(expression, Call) or expression.function not in _BY_IEEE:
        return None
    function, (column, number) = expression.function, expression.arguments
    if isinstance(column, Literal):
        function, column, number = _MIRRORED[function], number, column
    if not isinstance(number, Literal) or isinstance(column, (Call, Literal)):
        return None
    array = leaf(column)
    if array.null_count or not _is_plain(column.type, number.value):
        return None
    compare, negate = _BY_IEEE[function]
    found: Flags = compare(array.to_numpy(), array.type.to_pandas_dtype()(number.value))
    return np.logical_not(found, out=found) if negate else found


def _is_plain(kind: ColumnType, number: object) -> bool:
    if not isinstance(number, (int, float)) or math.isnan(number):
        return False
    return kind.is_integer or kind.is_float
