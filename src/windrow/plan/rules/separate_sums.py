"""Sums over several inputs taken apart: SUM(a.x * b.y + 2 * c.z) as products of single inputs.

What separates need not be computed for every joined row: the sum of products is a product of sums.
A term is a product of at most two factors that read different inputs. Products of factors are exact
in the sum, so nothing is separated that would round where the text does not: a sum of floats is
not multiplied out by a constant unless this is exact, and factors of one input are multiplied only
where the text does so. Nor does a factor overflow that the text does not have: a constant next to a
BIGINT stands as a factor of its own.
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

from windrow.aggregate_functions import Form
from windrow.plan.expressions import Call, Expr, Literal, inputs_of
from windrow.plan.lossless import is_lossless
from windrow.plan.model import Aggregate, QueryPlan
from windrow.plan.types import convert, integer_bits
from windrow.schema import BIGINT, DOUBLE, MAX_DECIMAL_DIGITS, ColumnType, decimal

__all__ = ["MAX_TERMS", "separate_sums"]

Term = tuple[Expr, ...]
Terms = tuple[Term, ...]

# Every term is a lane of its own in the state of every key.
MAX_TERMS = 16


def separate_sums(plan: QueryPlan) -> QueryPlan:
    """The plan with the terms of each SUM and AVG over several inputs that separates."""
    return replace(plan, aggregates=tuple(_with_terms(each) for each in plan.aggregates))


def _with_terms(aggregate: Aggregate) -> Aggregate:
    argument, is_sum = aggregate.argument, aggregate.traits.form in (Form.SUM, Form.MEAN)
    if argument is None or aggregate.source is not None or not is_sum:
        return aggregate
    return replace(aggregate, terms=_separated(argument))


def _separated(argument: Expr) -> Terms:
    """The terms that add up to the argument; () where it does not separate."""
    terms = _terms(argument)
    return () if terms is None or len(terms) > MAX_TERMS else terms


def _terms(part: Expr) -> Terms | None:
    if len(inputs_of(part)) <= 1:
        return ((part,),)
    if not isinstance(part, Call):
        return None
    if part.function in ("+", "-"):
        return _sum(part)
    if part.function == "negate":
        inner = _terms(part.arguments[0])
        return None if inner is None else _all_negated(inner)
    if part.function == "*":
        return _product(part)
    if part.function == "/":
        return _quotient(part)
    return _cast(part) if part.function == "cast" else None


def _sum(call: Call) -> Terms | None:
    left, right = (_terms(part) for part in call.arguments)
    if left is None or right is None:
        return None
    if call.function == "-":
        right = _all_negated(right)
    return None if right is None else left + right


def _all_negated(terms: Terms) -> Terms | None:
    found = tuple(_negated(term) for term in terms)
    return found if all(found) else None


def _negated(term: Term) -> Term:
    first, *others = term
    if first.type == BIGINT:
        return _times_integer(term, Literal(-1, BIGINT))
    if isinstance(first, Literal) and isinstance(first.value, (float, Decimal)):
        return (Literal(-first.value, first.type), *others)
    return (Call("negate", (first,), first.type), *others)


def _product(call: Call) -> Terms | None:
    left, right = (_terms(part) for part in call.arguments)
    if left is None or right is None:
        return None
    is_sum = len(left) * len(right) > 1
    products = [_joined(one, other, is_sum=is_sum) for one in left for other in right]
    return tuple(term for term in products if term) if all(products) else None


def _joined(one: Term, other: Term, *, is_sum: bool) -> Term:
    """The product of two terms, () where it is not one of two factors of different inputs."""
    if not inputs_of(one[0]):
        one, other = other, one
    if not inputs_of(other[0]):
        return _scaled("*", one, other[0], is_sum=is_sum)
    if len(one) + len(other) > 2 or inputs_of(one[0]) == inputs_of(other[0]):
        return ()
    return (one[0], other[0])


def _quotient(call: Call) -> Terms | None:
    """Divided by a constant; by anything else, a quotient is no sum of products.

    Quotients of decimals are rounded to their scale, each one for itself.
    """
    terms, divisor = _terms(call.arguments[0]), call.arguments[1]
    if terms is None or not isinstance(divisor, Literal) or not divisor.value:
        return None
    if call.type.name == "DECIMAL":
        return None
    found = [_scaled("/", term, divisor, is_sum=len(terms) > 1) for term in terms]
    return tuple(term for term in found if term) if all(found) else None


def _scaled(function: str, term: Term, constant: Expr, *, is_sum: bool) -> Term:
    """The term with the constant in its last factor, () where that would not be as exact."""
    *others, last = term
    if last.type.name == "DECIMAL":
        digits = last.type.precision + constant.type.precision
        if digits > MAX_DECIMAL_DIGITS:
            return ()
        kind = decimal(digits, last.type.scale + constant.type.scale)
        return (*others, Call(function, (last, constant), kind))
    if last.type == BIGINT and function == "*" and isinstance(constant, Literal):
        return _times_integer(term, constant)
    if last.type.is_float and is_sum and not _only_moves_exponents(constant):
        return ()
    return (*others, Call(function, (last, constant), last.type))


def _times_integer(term: Term, constant: Literal) -> Term:
    """The term times an integer: in a factor with bits to spare, or next to a single one."""
    needed = abs(constant.value).bit_length() if isinstance(constant.value, int) else 64
    for place, factor in enumerate(term):
        if _bits(factor) + needed <= 63:
            scaled = Call("*", (factor, constant), BIGINT)
            return (*term[:place], scaled, *term[place + 1 :])
    return (term[0], constant) if len(term) == 1 else ()


def _bits(factor: Expr) -> int:
    """The bits that the magnitude of a BIGINT factor may take."""
    if isinstance(factor, Literal) and isinstance(factor.value, int):
        return abs(factor.value).bit_length()
    if isinstance(factor, Call) and factor.function == "cast":
        return integer_bits(factor.arguments[0].type)
    return 64


def _only_moves_exponents(constant: Expr) -> bool:
    value = constant.value if isinstance(constant, Literal) else None
    if not isinstance(value, float) or not math.isfinite(value):
        return False
    return abs(math.frexp(value)[0]) == 0.5


def _cast(call: Call) -> Terms | None:
    """A cast that loses nothing goes into the factors."""
    (argument,) = call.arguments
    terms = _terms(argument)
    if terms is None:
        return None
    if call.type.name == "DECIMAL" and argument.type.name == "DECIMAL":
        return _rescaled(terms, argument.type, call.type)
    if call.type == DOUBLE and argument.type == BIGINT:
        return _as_doubles(terms)
    return None


def _rescaled(terms: Terms, source: ColumnType, target: ColumnType) -> Terms | None:
    if not is_lossless(source, target):
        return None
    more = target.scale - source.scale
    found = []
    for first, *others in terms:
        digits = first.type.precision + more
        if digits > MAX_DECIMAL_DIGITS:
            return None
        found.append((convert(first, decimal(digits, first.type.scale + more)), *others))
    return tuple(found)


def _as_doubles(terms: Terms) -> Terms | None:
    """Integers that a double holds exactly: INT and narrower, which arithmetic takes as BIGINT."""
    found = []
    for term in terms:
        narrow = [_narrow(factor) for factor in term]
        if any(factor is None for factor in narrow):
            return None
        found.append(tuple(convert(factor, DOUBLE) for factor in narrow if factor is not None))
    return tuple(found)


def _narrow(factor: Expr) -> Expr | None:
    if isinstance(factor, Literal):
        small = isinstance(factor.value, int) and abs(factor.value) <= 1 << 53
        return factor if small else None
    if isinstance(factor, Call) and factor.function == "*":
        # Made by _times_integer: the product is exact, and a double holds it up to 53 bits.
        exact = sum(_bits(part) for part in factor.arguments) <= 53
        return factor if exact else None
    if isinstance(factor, Call) and factor.function == "cast":
        (inner,) = factor.arguments
        return inner if is_lossless(inner.type, DOUBLE) and inner.type.is_integer else None
    return None
