"""How a query was asked for: its text, and what was said beside it."""

from __future__ import annotations

from dataclasses import dataclass, field

from windrow.sql import parse_query
from windrow.sql.query_printer import print_query

__all__ = ["Asked", "printed"]


@dataclass(frozen=True)
class Asked:
    """How a query was registered; printed: so that equal ones are found equal."""

    text: str = field(compare=False)
    printed: str
    algorithm: str
    store: str
    has_name: bool


def printed(text: str) -> str:
    """A query as it is printed: equal for texts that differ in spaces, comments and case alone."""
    return print_query(parse_query(text))
