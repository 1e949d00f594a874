"""Rows as the texts that sqllogictest compares, and whether they are what a query must give."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqllogic.records import Expected, Query, Sort

__all__ = ["is_expected", "rendered"]

Row = Sequence[Any]


def is_expected(rows: Sequence[Row], query: Query) -> bool:
    """Whether the rows are those of the file."""
    values = rendered(rows, query.types, query.sort)
    expected: Expected = query.expected
    if expected.values is not None:
        # Few files write values that they have sorted otherwise; all mean the same multiset.
        return values == list(expected.values)
    return len(values) == expected.count and _md5(values) == expected.md5


def rendered(rows: Sequence[Row], types: str, sort: Sort) -> list[str]:
    """All values, row by row, in the order that the query is compared in."""
    if any(len(row) != len(types) for row in rows):
        return [f"{len(rows[0])} columns instead of {len(types)}"]
    texts = [
        [_rendered(value, kind) for value, kind in zip(row, types, strict=True)] for row in rows
    ]
    if sort == "rowsort":
        texts.sort()
    values = [text for row in texts for text in row]
    return sorted(values) if sort == "valuesort" else values


def _rendered(value: Any, kind: str) -> str:
    """SQLite reads a value as the type asked for: a fraction as an integer is cut off."""
    if value is None:
        return "NULL"
    if kind == "T":
        text = str(value)
        return "".join(c if " " <= c <= "~" else "@" for c in text) or "(empty)"
    if isinstance(value, str):
        return value if kind == "I" else f"{float(value):.3f}"
    if kind == "R":
        return f"{float(value):.3f}"
    assert isinstance(value, (bool, int, float, Decimal))
    return str(int(value))


def _md5(values: Sequence[str]) -> str:
    text = "".join(f"{value}\n" for value in values)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
