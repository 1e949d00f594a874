"""Query text to statement tree and back: the only package that imports sqlglot's parser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.sql.places import place_of
from windrow.sql.script import parse_all, parse_query, parse_script, parse_statement

if TYPE_CHECKING:
    from windrow.sql.printer import print_expression, print_statement
else:
    print_expression = deferred("windrow.sql.printer", "print_expression")
    print_statement = deferred("windrow.sql.printer", "print_statement")

__all__ = [
    "parse_all",
    "parse_query",
    "parse_script",
    "parse_statement",
    "place_of",
    "print_expression",
    "print_statement",
]
