"""The argument of a SUM as words: its sums and products of integers never overflow.

An argument such as x * 4 + y is computed exactly and summed in words: LOW_WORD, its last 31 bits,
and HIGH_WORD, the rest; of a product of two BIGINTs, the rest is MIDDLE_WORD, 33 bits more, and
TOP_WORD. FROM_WORDS puts the sums together. Where the total is a BIGINT so are all of these, and
only the SUM itself can leave its type. Beyond 127 bits a row has no value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.expressions import Call, Expr
from windrow.plan.fallible import integer_bits_of, integer_overflows
from windrow.schema import BIGINT

__all__ = ["from_words", "is_exact_sum", "needs_words", "terms_of", "with_terms", "words_of"]

# A word of 31 bits and one that is a BIGINT hold this many, and the sign.
_TWO_WORDS = 93
_EXACT = frozenset(["+", "-", "*", "negate"])


def is_exact_sum(function: str, *, is_distinct: bool = False) -> bool:
    """Whether the aggregate is a SUM of all values."""
    return AGGREGATE_FUNCTIONS[function].form is Form.SUM and not is_distinct


def needs_words(argument: Expr) -> bool:
    """Whether the argument may be beyond 64 bits, though all of its terms are integers."""
    return _has_arithmetic(argument) and _overflows(argument)


def _overflows(part: Expr) -> bool:
    if not _is_branching(part):
        return _is_exact(part) and integer_overflows(part)
    assert isinstance(part, Call)
    return any(map(_overflows, part.arguments[1:-1:2])) or _overflows(part.arguments[-1])


def _has_arithmetic(part: Expr) -> bool:
    return part.type == BIGINT and isinstance(part, Call)


def _is_exact(part: Expr) -> bool:
    return isinstance(part, Call) and part.function in _EXACT and part.type == BIGINT


def _is_branching(part: Expr) -> bool:
    return isinstance(part, Call) and part.function == "case" and part.type == BIGINT


def with_terms(argument: Expr, rewrite: Callable[[Expr], Expr]) -> Expr:
    """The argument with the terms that its sums and products are made of rewritten."""
    if isinstance(argument, Call) and _is_exact(argument):
        parts = tuple(with_terms(each, rewrite) for each in argument.arguments)
        return replace(argument, arguments=parts)
    if isinstance(argument, Call) and _is_branching(argument):
        *pairs, last = argument.arguments
        parts = tuple(
            with_terms(each, rewrite) if place % 2 else rewrite(each)
            for place, each in enumerate(pairs)
        )
        return replace(argument, arguments=(*parts, with_terms(last, rewrite)))
    return rewrite(argument)


def terms_of(argument: Expr) -> list[Expr]:
    """What can fail of an argument: all of it but its sums and products."""
    if isinstance(argument, Call) and _is_branching(argument):
        # In a branch that is not taken nothing fails: the whole is asked, without arithmetic.
        return [argument] if not needs_words(argument) else [words_of(argument)[0]]
    if isinstance(argument, Call) and _is_exact(argument):
        return [term for each in argument.arguments for term in terms_of(each)]
    return [argument]


def words_of(argument: Expr) -> tuple[Expr, ...]:
    """The parts of the argument that are summed, the highest first."""
    is_wide = _widest(argument) > _TWO_WORDS
    names = ("top_word", "middle_word", "low_word") if is_wide else ("high_word", "low_word")
    return tuple(Call(name, (argument,), BIGINT) for name in names)


def _widest(part: Expr) -> int:
    if not isinstance(part, Call) or not _is_branching(part):
        return integer_bits_of(part)
    return max(_widest(each) for each in (*part.arguments[1:-1:2], part.arguments[-1]))


def from_words(*words: Expr) -> Expr:
    """The sum whose parts these are."""
    return Call("from_words", words, BIGINT)
