"""Formats of TO_NUMBER: digits 9 and 0, commas, a point, $, and the signs S, MI and PR."""

from __future__ import annotations

import re
from dataclasses import dataclass

from windrow.scalar_functions.entry import Given
from windrow.schema import DOUBLE, ColumnType, decimal

__all__ = ["NumberFormat", "number_format", "of_format"]

_FORMAT = re.compile(
    r"(?P<before>MI|S)?(?P<dollar>\$)?(?P<whole>[09][09,G]*)?(?:[.D](?P<places>[09]*))?"
    r"(?P<after>PR|MI|S)?\Z"
)


@dataclass(frozen=True)
class NumberFormat:
    """sign: '' or S, MI before or behind (as 'S-', '-S'), PR; groups: digits between commas."""

    sign: str
    has_dollar: bool
    groups: tuple[str, ...]
    places: int

    @property
    def type(self) -> ColumnType:
        """The decimal that holds all digits."""
        return decimal(sum(map(len, self.groups)) + self.places, self.places)


def number_format(text: str) -> NumberFormat | None:
    """The format that is written so, or None.

    >>> str(number_format("$9,999.99").type)
    'DECIMAL(6, 2)'
    """
    match = _FORMAT.match(text.upper())
    if match is None or not (match["whole"] or match["places"]):
        return None
    if match["before"] and match["after"]:
        return None
    sign = f"{match['before']}-" if match["before"] else match["after"] or ""
    groups = tuple(re.split("[,G]", match["whole"] or ""))
    return NumberFormat(sign, bool(match["dollar"]), groups, len(match["places"] or ""))


def of_format(given: Given) -> ColumnType:
    """A decimal of the digits of the format."""
    found = number_format(str(given.constants[1]))
    return DOUBLE if found is None else found.type
