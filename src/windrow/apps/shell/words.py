"""The words that WQL is written with, for completion and colours."""

from __future__ import annotations

from windrow.event_time import UNITS_US
from windrow.sql.functions import AGGREGATES, SCALARS

__all__ = ["BEGINNINGS", "FUNCTIONS", "KEYWORDS", "TYPES", "UNITS", "WINDOW_WORDS"]

BEGINNINGS = (
    "SELECT",
    "CREATE STREAM",
    "CREATE QUERY",
    "CREATE VIEW",
    "CREATE HISTORY ON",
    "EXPLAIN SELECT",
    "SET",
)
KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "BY", "AS", "ON"),
    *("JOIN", "INNER", "LEFT", "ANTI"),
    *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "EXISTS"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "NULL", "TRUE", "FALSE"),
    *("ERROR", "EVERY", "DURATION", "INTO"),
    *("CREATE", "STREAM", "QUERY", "VIEW", "HISTORY", "EXPLAIN", "SET"),
    *("TIME", "LATENESS", "LEVELS", "FOR", "FOREVER"),
    *("MAX", "AHEAD", "OFF", "BAD", "ROW", "FAIL", "ASIDE"),
)
WINDOW_WORDS = ("RANGE", "ROWS", "SLIDE", "UNBOUNDED", "PARTITION", "BY", "FROM", "TO", "NOW", "AT")
UNITS = tuple(f"{unit}{end}" for unit in UNITS_US for end in ("S", ""))
TYPES = (
    *("STRING", "TIMESTAMP", "DOUBLE", "BIGINT", "INT", "BOOLEAN", "DATE", "DECIMAL"),
    *("FLOAT", "SMALLINT", "TINYINT"),
)
FUNCTIONS = tuple(sorted(AGGREGATES | SCALARS))
