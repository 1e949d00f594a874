"""The names of the columns of prepared rows: a part and a number, such as the first key.

Expressions over prepared rows name columns so, and a batch of them that is saved or shuffled does.
"""

from __future__ import annotations

from windrow.plan.expressions import ColumnRef

__all__ = [
    "GROUP",
    "KEY",
    "NEGATED_KEY",
    "PARTITION",
    "TAKES_PART",
    "TIME",
    "VALUE",
    "WEIGHT",
    "column_name",
    "part_of",
]

TIME = "ts"  # when the row happened, in microseconds
KEY = "k"  # what a join compares; none is NULL
GROUP = "g"  # what GROUP BY names
PARTITION = "p"  # what PARTITION BY of the window names
NEGATED_KEY = "n"  # what rows of a negated input are compared with; it may be NULL
VALUE = "v"  # what aggregates read
TAKES_PART = "live"  # whether the row is in answers: windows that count rows hold others too
WEIGHT = "w"  # for how many equal rows the row stands


def column_name(part: str, number: int) -> str:
    """The column with this number among those of a part.

    >>> column_name(VALUE, 12)
    'v12'
    """
    return f"{part}{number}"


def part_of(column: ColumnRef) -> tuple[str, int]:
    """The part that a column belongs to, and its number within it.

    >>> from windrow.schema import BIGINT
    >>> part_of(ColumnRef(0, column_name(VALUE, 12), BIGINT)) == (VALUE, 12)
    True
    """
    return column.column[0], int(column.column[1:])
