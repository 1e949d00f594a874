"""Integers as digits of another base: BIN and CONV."""

from __future__ import annotations

from windrow.rows.scalar.values import Function, NoValueError, per_value

__all__ = ["DIGITS"]

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_BITS = 2**64


def _binary(value: int) -> str:
    return format(value % _BITS, "b")


def _converted(text: str, base: int, target: int) -> str | None:
    """As Spark's: digits up to the first that is none, as 64 bits without a sign.

    A negative target says that the 64 bits have a sign.
    """
    text = text.strip(" ")
    if not text or not 2 <= base <= 36 or not 2 <= abs(target) <= 36:
        return None
    is_negative = text.startswith("-")
    value = _leading(text[is_negative:].upper(), base)
    if value >= _BITS:
        raise NoValueError
    if is_negative and target > 0:
        value = _BITS - 1 if value >= _BITS // 2 else -value % _BITS
    if target < 0 and value >= _BITS // 2:
        value, is_negative = _BITS - value, True
    sign = "-" if is_negative and target < 0 else ""
    return sign + _in_base(value, abs(target))


def _leading(text: str, base: int) -> int:
    value = 0
    for letter in text:
        digit = _DIGITS.find(letter)
        if not 0 <= digit < base:
            break
        value = value * base + digit
    return value


def _in_base(value: int, base: int) -> str:
    found = ""
    while value:
        value, digit = divmod(value, base)
        found = _DIGITS[digit] + found
    return found or "0"


DIGITS: dict[str, Function] = {"bin": per_value(_binary), "conv": per_value(_converted)}
