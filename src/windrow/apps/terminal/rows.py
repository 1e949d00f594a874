"""Rows as people read them: aligned columns, of values on one line each."""

from __future__ import annotations

import re
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from rich.cells import cell_len

from windrow.rows.json_texts import shown_nested

__all__ = ["as_lines", "has_numbers", "on_one_line", "shown_column", "shown_value"]


def as_lines(table: pa.Table) -> list[str]:
    """A header and one line for each row, the columns aligned.

    >>> as_lines(pa.table({"room": ["kitchen", None], "n": [7, 12]}))
    ['room      n', 'kitchen   7', 'NULL     12']
    """
    columns = []
    for name in table.column_names:
        column = table.column(name)
        texts = [on_one_line(name), *shown_column(column)]
        columns.append(_aligned(texts, to_the_right=has_numbers(column.type)))
    return ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]


def _aligned(texts: list[str], *, to_the_right: bool) -> list[str]:
    # Some letters are as wide as two others, and some take no room.
    widths = [len(text) if text.isascii() else cell_len(text) for text in texts]
    width = max(widths)
    blanks = [" " * (width - each) for each in widths]
    pairs = zip(texts, blanks, strict=True)
    return [blank + text if to_the_right else text + blank for text, blank in pairs]


def has_numbers(kind: pa.DataType) -> bool:
    """Whether values of the type stand to the right of their column."""
    return any(is_of(kind) for is_of in _NUMBERS)


_NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)


def shown_column(column: pa.ChunkedArray) -> list[str]:
    """Each value as people read it."""
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type):
        return [shown_value(text) for text in shown_nested(column)]
    if not pa.types.is_timestamp(column.type):
        return [shown_value(value) for value in column.to_pylist()]
    # There may be millions of times, and Arrow writes them quickly; without a zone it needs no
    # list of zones.
    texts = pc.strftime(column.cast(pa.timestamp("us")), format="%Y-%m-%d %H:%M:%S")
    whole = pc.replace_substring_regex(texts, pattern=r"\.0+$", replacement="")
    shown: list[str] = pc.fill_null(whole, "NULL").to_pylist()
    return shown


def shown_value(value: object) -> str:
    r"""A value as people read it, on one line.

    >>> shown_value(None), shown_value(True), shown_value("two\nlines")
    ('NULL', 'true', 'two\\nlines')
    """
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return on_one_line(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(sep=" ")
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def on_one_line(text: str) -> str:
    """The text without letters that would break a table, or tell a terminal what to do."""
    return _UNFIT.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


# Control characters, ends of lines and paragraphs, and what turns the direction of writing.
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
