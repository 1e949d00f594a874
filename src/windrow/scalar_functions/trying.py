"""Arithmetic that is NULL where it has no value, whatever ON ERROR says."""

from __future__ import annotations

from windrow.scalar_functions.entry import Kind, ScalarFunction
from windrow.scalar_functions.rules import as_first

__all__ = ["TRYING"]

_NUMBERS = (Kind.NUMBER, Kind.NUMBER)


def _trying(name: str, example: str, value: str) -> ScalarFunction:
    return ScalarFunction(name, _NUMBERS, as_first, is_form=True, example=example, value=value)


TRYING: tuple[ScalarFunction, ...] = (
    _trying("try_add", "TRY_ADD(9223372036854775807, 1)", "NULL"),
    _trying("try_subtract", "TRY_SUBTRACT(i, 3)", "-10"),
    _trying("try_multiply", "TRY_MULTIPLY(9223372036854775807, 2)", "NULL"),
    _trying("try_divide", "TRY_DIVIDE(i, 0)", "NULL"),
    _trying("try_mod", "TRY_MOD(i, 0)", "NULL"),
)
