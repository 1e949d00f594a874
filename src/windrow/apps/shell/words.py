"""The words that WQL is written with, for completion and colours."""

from __future__ import annotations

from windrow.event_time import UNITS_US
from windrow.sql.functions import AGGREGATES, SCALARS, WINDOW_FUNCTIONS

__all__ = ["BEGINNINGS", "FUNCTIONS", "KEYWORDS", "TYPES", "UNITS", "WINDOW_WORDS"]

BEGINNINGS = (
    "SELECT",
    "WITH",
    "CREATE STREAM",
    "CREATE QUERY",
    "CREATE ALERT",
    "CREATE OR REPLACE QUERY",
    "REPLACE QUERY",
    "CREATE VIEW",
    "CREATE FUNCTION",
    "CREATE HISTORY ON",
    "EXPLAIN SELECT",
    "SET",
    "SHOW ALERTS",
)
KEYWORDS = (
    *("SELECT", "DISTINCT", "FROM", "WHERE", "GROUP", "HAVING", "BY", "AS", "ON", "USING"),
    *("JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "SEMI", "ANTI"),
    *("WITH", "UNION", "INTERSECT", "EXCEPT", "ALL", "VALUES"),
    *("ROLLUP", "CUBE", "GROUPING", "SETS", "FILTER"),
    *("OVER", "PARTITION", "WINDOW", "QUALIFY", "ROWS", "RANGE", "PRECEDING", "FOLLOWING"),
    *("CURRENT", "UNBOUNDED"),
    *("ORDER", "ASC", "DESC", "NULLS", "FIRST", "LAST", "LIMIT", "OFFSET"),
    *("AND", "OR", "NOT", "IN", "IS", "BETWEEN", "LIKE", "EXISTS", "ANY"),
    *("CASE", "WHEN", "THEN", "ELSE", "END", "CAST", "NULL", "TRUE", "FALSE"),
    *("ERROR", "EVERY", "DURATION", "INTO"),
    *("CREATE", "STREAM", "QUERY", "VIEW", "HISTORY", "FUNCTION", "RETURNS", "EXPLAIN", "SET"),
    *("ALERT", "REPLACE"),
    *("TIME", "LATENESS", "LEVELS", "FOR", "FOREVER"),
    *("MAX", "AHEAD", "OFF", "BAD", "ROW", "FAIL", "ASIDE"),
)
WINDOW_WORDS = ("RANGE", "ROWS", "SLIDE", "UNBOUNDED", "PARTITION", "BY", "FROM", "TO", "NOW", "AT")
UNITS = tuple(f"{unit}{end}" for unit in UNITS_US for end in ("S", ""))
TYPES = (
    *("STRING", "TIMESTAMP", "DOUBLE", "BIGINT", "INT", "BOOLEAN", "DATE", "DECIMAL"),
    *("FLOAT", "SMALLINT", "TINYINT"),
)
FUNCTIONS = tuple(sorted({*AGGREGATES, *SCALARS, *WINDOW_FUNCTIONS}))
