"""Numbers and other values in a text by a format: FORMAT_NUMBER, FORMAT_STRING."""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Any

from windrow.rows.scalar.values import Function, NoValueError, per_value

__all__ = ["FORMATS"]

_EVEN = Context(prec=1000, rounding=ROUND_HALF_EVEN)
_UP = Context(prec=1000, rounding=ROUND_HALF_UP)
_PIECE = re.compile(r"%(?:(\d+)\$)?([-#+ 0,(]*)(\d+)?(?:\.(\d+))?([a-zA-Z%])")
_MOST_DIGITS = 400
_WHOLE = 2.0**53


def _grouped(value: int | float | Decimal, places: int) -> str | None:
    """With commas between thousands and that many places; halves go to the even digit."""
    if places < 0:
        return None
    if places > _MOST_DIGITS:
        raise NoValueError
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "∞" if value > 0 else "-∞"
    # Java takes the digits that a large double shows, and the exact value of a small one.
    is_large = isinstance(value, float) and abs(value) >= _WHOLE
    exact = Decimal(repr(value) if is_large else value)
    rounded = exact.quantize(Decimal(1).scaleb(-places), context=_EVEN)
    if rounded == 0 and isinstance(value, Decimal | int):
        rounded = abs(rounded)
    return f"{rounded:,f}"


def _formatted(template: str | None, *values: Any) -> str | None:
    if template is None:
        return None
    found, at, following = [], 0, 0
    for match in _PIECE.finditer(template):
        between = template[at : match.start()]
        if "%" in between:
            raise NoValueError
        found.append(between)
        at = match.end()
        place, flags, width, precision, letter = match.groups()
        if letter in "%n":
            text = "%" if letter == "%" else "\n"
        else:
            index = int(place) - 1 if place else following
            following += not place
            if not 0 <= index < len(values):
                raise NoValueError
            text = _piece(values[index], flags, precision, letter, int(width or 0))
        wide = int(width or 0)
        found.append(text.ljust(wide) if "-" in flags else text.rjust(wide))
    if "%" in template[at:]:
        raise NoValueError
    return "".join([*found, template[at:]])


def _piece(value: Any, flags: str, precision: str | None, letter: str, width: int) -> str:
    if letter not in "sSdxXofFeEbBc":
        raise NoValueError
    if letter in "bB":
        shown = str(value).lower() if isinstance(value, bool) else str(value is not None).lower()
    elif value is None:
        shown = "null"
    elif letter in "sS":
        shown = _as_text(value)
    else:
        shown = _number(value, flags, precision, letter, width)
        return shown.upper() if letter.isupper() else shown
    shown = shown if precision is None else shown[: int(precision)]
    return shown.upper() if letter.isupper() else shown


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | bytes | list | dict):
        raise NoValueError  # Spark writes them as Java does
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def _number(value: Any, flags: str, precision: str | None, letter: str, width: int) -> str:
    if letter == "c":
        if not isinstance(value, int) or not 0 <= value <= 0x10FFFF:
            raise NoValueError
        return chr(value)
    if letter in "dxXo":
        if isinstance(value, bool) or not isinstance(value, int) or precision is not None:
            raise NoValueError
        digits = _integer(abs(value), flags, letter) if letter == "d" else _bits(value, letter)
        return _signed(digits, letter == "d" and value < 0, flags, width)
    if not isinstance(value, float | Decimal):
        raise NoValueError
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("-Infinity" if value < 0 else "Infinity")
    exact = abs(Decimal(repr(value)) if isinstance(value, float) else value)
    negative = value < 0 or (isinstance(value, float) and math.copysign(1.0, value) < 0)
    return _signed(_fraction(exact, flags, int(precision or 6) if precision != "0" else 0, letter),
                   negative, flags, width)  # fmt: skip


def _integer(value: int, flags: str, _letter: str) -> str:
    return f"{value:,}" if "," in flags else str(value)


def _bits(value: int, letter: str) -> str:
    return format(value % 2**64 if value < 0 else value, letter.lower())


def _fraction(value: Decimal, flags: str, places: int, letter: str) -> str:
    if letter in "fF":
        rounded = value.quantize(Decimal(1).scaleb(-places), context=_UP)
        return f"{rounded:,f}" if "," in flags else f"{rounded:f}"
    exponent = value.adjusted() if value else 0
    scaled = value.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), context=_UP)
    if scaled >= 10:
        scaled, exponent = (scaled / 10).quantize(Decimal(1).scaleb(-places)), exponent + 1
    return f"{scaled:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _signed(digits: str, negative: bool, flags: str, width: int) -> str:
    if negative and "(" in flags:
        return f"({digits})"
    sign = "-" if negative else "+" if "+" in flags else " " if " " in flags else ""
    return sign + digits.rjust(width - len(sign), "0") if "0" in flags else sign + digits


FORMATS: dict[str, Function] = {
    "format_number": per_value(_grouped),
    "format_string": per_value(_formatted, takes_null=True),
}
