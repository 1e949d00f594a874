"""TO_NUMBER: a number that a text holds in a given format."""

from __future__ import annotations

from decimal import Decimal

from windrow.rows.scalar.values import Function, NoValueError, per_value
from windrow.scalar_functions.number_format import NumberFormat, number_format

__all__ = ["NUMBERS_IN_TEXT"]


def _number(text: str, form: str) -> Decimal | None:
    known = number_format(form)
    if known is None:
        raise NoValueError
    stripped = text.strip()
    negative, rest = _sign_of(stripped, known)
    if rest is None:
        return None
    if known.has_dollar:
        if not rest.startswith("$"):
            return None
        rest = rest[1:]
    whole, point, places = rest.partition(".")
    if (point and not places.isdigit() and places) or len(places) > known.places:
        return None
    if not (whole + places).isascii() or not _fits(whole, known.groups, places):
        return None
    value = Decimal(f"{whole.replace(',', '') or '0'}.{places or '0'}")
    return -value if negative else value


def _sign_of(text: str, known: NumberFormat) -> tuple[bool, str | None]:
    """Whether it is negative, and what is left; None where a sign stands that has no place."""
    if known.sign == "PR":
        if text.startswith("<") and text.endswith(">"):
            return True, text[1:-1]
        return False, text
    signs = "+-" if known.sign.startswith("S") else "-" if known.sign else ""
    if known.sign.endswith("-"):
        found = text[:1] if text[:1] and text[:1] in signs else ""
        return found == "-", text[len(found) :]
    found = text[-1:] if text[-1:] and text[-1:] in signs else ""
    return found == "-", text[: len(text) - len(found)]


def _fits(whole: str, groups: tuple[str, ...], places: str) -> bool:
    """Whether the digits stand in the groups of the format; those on the left may be missing."""
    written = whole.split(",") if whole else []
    if not all(part.isdigit() for part in written) or len(written) > len(groups):
        return False
    if not written:
        return bool(places) and not groups[0].startswith("0")
    if groups[0].startswith("0") and len(written) != len(groups):
        return False
    for part, group in zip(reversed(written[1:]), reversed(groups), strict=False):
        if len(part) != len(group):
            return False
    first = groups[len(groups) - len(written)]
    return len(written[0]) == len(first) if first.startswith("0") else len(written[0]) <= len(first)


NUMBERS_IN_TEXT: dict[str, Function] = dict.fromkeys(
    ["to_number", "try_to_number"], per_value(_number)
)
