"""Words that are not names, and the word that was probably meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from windrow.sql.dialect import escape_name

__all__ = [
    "CLAUSES",
    "CLOCK_WORDS",
    "NOT_AN_ALIAS",
    "RESERVED",
    "nearest",
    "needs_quotes",
    "print_name",
]

# A column or stream of such a name is written in backquotes.
RESERVED = frozenset(
    [
        *("SELECT", "ALL", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT"),
        *("UNION", "EXCEPT", "INTERSECT", "WITH", "BY", "AS", "ON", "USING"),
        *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "OUTER", "CROSS", "NATURAL", "SEMI"),
        *("ANTI", "LATERAL"),
        *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "ILIKE", "RLIKE"),
        *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "NULL", "TRUE", "FALSE"),
        *("EXISTS",),
    ]
)

# What may follow the sources of a query, in the order in which it is written.
CLAUSES = (
    *("WHERE", "GROUP BY", "HAVING", "WINDOW", "QUALIFY", "UNION", "INTERSECT", "EXCEPT"),
    *("ORDER BY", "LIMIT", "OFFSET", "ERROR", "EVERY", "DURATION", "ON ERROR", "INTO"),
)

# Behind a source or an item these begin the next clause; as an alias they need AS or backquotes.
NOT_AN_ALIAS = RESERVED | frozenset(
    [
        *("ERROR", "EVERY", "DURATION", "INTO", "OFFSET", "FETCH", "QUALIFY", "WINDOW", "SORT"),
        *("CLUSTER", "DISTRIBUTE", "MINUS", "TABLESAMPLE", "WHEN", "FOR"),
        *("PIVOT", "UNPIVOT", "OVER", "FILTER", "WITHIN", "ASOF"),
    ]
)

# Names that are calls without brackets, too: a column of such a name is in backquotes.
CLOCK_WORDS = frozenset(["CURRENT_DATE", "CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "CURRENT_TIME"])

_PLAIN_NAME = re.compile(r"[^\W\d]\w*\Z")


def nearest(word: str, possible: Iterable[str]) -> str | None:
    """The possible word that is spelt most like this one, if any is close.

    >>> nearest("slied", ["RANGE", "SLIDE"])
    'SLIDE'
    """
    found = difflib.get_close_matches(word.upper(), list(possible), n=1, cutoff=0.7)
    return found[0] if found else None


def needs_quotes(name: str) -> bool:
    """Whether the name can only be written in backquotes."""
    return not _PLAIN_NAME.match(name) or name.upper() in NOT_AN_ALIAS | CLOCK_WORDS


def print_name(name: str) -> str:
    """The name as WQL, in backquotes where it needs them.

    >>> print_name("celsius"), print_name("order")
    ('celsius', '`order`')
    """
    return escape_name(name) if needs_quotes(name) else name
