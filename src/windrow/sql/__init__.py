"""Query text to statement tree and back: the only package that imports sqlglot's parser."""

from windrow.sql.places import place_of
from windrow.sql.printer import print_expression, print_statement
from windrow.sql.script import parse_all, parse_query, parse_script, parse_statement

__all__ = [
    "parse_all",
    "parse_query",
    "parse_script",
    "parse_statement",
    "place_of",
    "print_expression",
    "print_statement",
]
