"""Which expressions may have no value for a row, and what stands for them under ON ERROR.

TRY(e) is e, and NULL where e itself has no value, not where what it reads has none. HAS_VALUE(e) is
whether e has one. Both are functions of plans: TRY_ADD and its kin are written, and ON ERROR puts
them around what can fail, so that whatever evaluates a plan follows its policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from windrow.plan.expressions import FUNCTIONS, WORDS, Call, Expr, Literal
from windrow.plan.types import integer_bits
from windrow.scalar_functions import SCALAR_FUNCTIONS
from windrow.scalar_functions.internal import INTERNAL_TOTAL
from windrow.schema import BIGINT, BOOLEAN

__all__ = [
    "can_fail",
    "has_value",
    "integer_bits_of",
    "integer_overflows",
    "is_guard",
    "tried",
    "tried_within",
    "uncounted",
]

_CHECKED = frozenset([*("+", "-", "*", "/", "%", "div", "negate", "cast", "from_words"), *WORDS])
# Sums and products of these are floats, which have a value for everything.
_UNFAILING_FLOATS = frozenset(["+", "-", "*", "negate"])

# Other functions may report a fault (rows/scalar/values.py): to try them costs next to nothing.
_UNFAILING_FUNCTIONS = frozenset(
    [
        *("coalesce", "nullif", "greatest", "least", "length", "lower", "upper", "trim"),
        *("concat", "substring", "sqrt", "exp", "ln", "sign", "power"),
    ]
)


def can_fail(expression: Expr) -> bool:
    """Whether some part of it may have no value for a row, though all that it reads has one."""
    return any(_fails(part) for part in _untried(expression))


def _untried(expression: Expr) -> Iterator[Expr]:
    """The parts whose faults are those of the whole."""
    if isinstance(expression, Call) and expression.function == "try":
        (inner,) = expression.arguments
        parts: tuple[Expr, ...] = inner.arguments if isinstance(inner, Call) else ()
    elif isinstance(expression, Call) and expression.function == "has_value":
        parts = ()
    else:
        yield expression
        parts = expression.arguments if isinstance(expression, Call) else ()
    for part in parts:
        yield from _untried(part)


def _fails(part: Expr) -> bool:
    if not isinstance(part, Call):
        return False
    if part.function in SCALAR_FUNCTIONS:
        return part.function not in _UNFAILING_FUNCTIONS
    if part.function in INTERNAL_TOTAL:
        return True
    if part.function not in _CHECKED:
        return part.function not in FUNCTIONS  # functions of users may fail
    if part.function in _UNFAILING_FLOATS and part.type.is_float:
        return False
    if part.type == BIGINT and part.function in _UNFAILING_FLOATS:
        return integer_bits_of(part) > 63
    return part.function != "cast" or not _always_fits(part)


def integer_overflows(part: Expr) -> bool:
    """Whether a sum or product of integers may need more than the bits of a BIGINT."""
    return integer_bits_of(part) > 63


def integer_bits_of(part: Expr) -> int:
    """The bits that the magnitude of an integer may take, at most."""
    if isinstance(part, Literal) and isinstance(part.value, int):
        return abs(part.value).bit_length()
    if isinstance(part, Call) and part.function in ("+", "-", "*", "negate"):
        bits = [integer_bits_of(each) for each in part.arguments]
        return sum(bits) if part.function == "*" else max(bits) + len(bits) - 1
    if isinstance(part, Call) and part.function in ("cast", "try"):
        return integer_bits_of(part.arguments[0])
    kind = part.type
    return integer_bits(kind) if kind.is_integer else 64


def _always_fits(cast: Call) -> bool:
    """Whether the cast has a value for every value that it reads."""
    (argument,) = cast.arguments
    source, target = argument.type, cast.type
    if target.is_float or target.name == "STRING":
        return source.name != "STRING" or target.name == "STRING"
    if target.name == "BOOLEAN":
        return source.name != "STRING"
    if source.is_integer and target.is_integer:
        return integer_bits(source) <= integer_bits(target)
    if source.is_integer and target.name == "DECIMAL":
        limit: int = 10 ** (target.precision - target.scale)
        return limit > 1 << (integer_bits(source) - 1)
    if source.name == target.name == "DECIMAL":
        whole = source.precision - source.scale
        # Rounding may carry into one digit more.
        carry = source.scale > target.scale
        return whole + carry <= target.precision - target.scale
    return False


def tried(expression: Expr) -> Expr:
    """TRY of the expression, where that makes a difference."""
    return Call("try", (expression,), expression.type) if _fails(expression) else expression


def tried_within(expression: Expr) -> Expr:
    """The expression with a TRY around every part that can fail."""
    if not isinstance(expression, Call) or expression.function == "has_value":
        return expression
    if expression.function == "try":
        (inner,) = expression.arguments
        if not isinstance(inner, Call):
            return expression
        arguments = tuple(tried_within(each) for each in inner.arguments)
        return replace(expression, arguments=(replace(inner, arguments=arguments),))
    arguments = tuple(tried_within(each) for each in expression.arguments)
    return tried(replace(expression, arguments=arguments))


def has_value(expression: Expr) -> Expr:
    """The condition that the expression has a value, or NULL, and is no error."""
    return Call("has_value", (expression,), BOOLEAN)


def uncounted(condition: Expr) -> Expr:
    """The same condition, where rows that it leaves out are counted elsewhere."""
    if isinstance(condition, Call) and condition.function == "and":
        return replace(condition, arguments=tuple(map(uncounted, condition.arguments)))
    if not is_guard(condition):
        return condition
    return Call("not", (Call("not", (condition,), BOOLEAN),), BOOLEAN)


def is_guard(condition: Expr) -> bool:
    """Whether rows for which it is false are set aside."""
    return isinstance(condition, Call) and condition.function == "has_value"
