"""What other dialects of SQL have, each with what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FUNCTIONS", "SIGNS", "STATEMENTS", "UNITS"]

_ROWS_COME = "rows arrive by push() or from a source, and expire on their own"
_PARAMETER = "there are no parameters: write the value itself"
_WINDOW = (
    "the window comes after the stream: s [10 MINUTES], or [RANGE 10 MINUTES SLIDE 10 MINUTES]"
)
_NO_CLOCK = "now is where the window ends: s [10 MINUTES] holds the last ten minutes"
_PART_OF_TIME = "CAST(ts AS DATE) is its day, FLOOR(CAST(ts AS BIGINT) % 86400 / 3600) its hour"
_LENGTH = "subtract seconds: CAST(a.ts AS DOUBLE) - CAST(b.ts AS DOUBLE)"
_COLLECTED = "a query without aggregates returns the rows themselves: SELECT x FROM s [10 MINUTES]"

STATEMENTS: Mapping[str, str] = {
    **dict.fromkeys(["INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"], _ROWS_COME),
    **dict.fromkeys(
        ["DROP", "ALTER"], "stop() ends a query; streams last as long as their session"
    ),
    **dict.fromkeys(
        ["SHOW", "DESCRIBE", "DESC", "USE"],
        "session.streams() and session.queries() list them; in the shell \\d",
    ),
}

UNITS: Mapping[str, str] = {
    "ROWS": "for a number of rows write [ROWS 1000]",
    "ROW": "for a number of rows write [ROWS 1000]",
    **dict.fromkeys(["WEEK", "WEEKS"], "write 7 DAYS for a week"),
    **dict.fromkeys(["MONTH", "MONTHS"], "months differ in length: write 30 DAYS"),
    **dict.fromkeys(["YEAR", "YEARS"], "years differ in length: write 365 DAYS"),
    **dict.fromkeys(["US"], "write MICROSECONDS"),
    **dict.fromkeys(["MS", "MILLIS"], "write MILLISECONDS"),
    **dict.fromkeys(["S", "SEC", "SECS"], "write SECONDS"),
    **dict.fromkeys(["M", "MIN", "MINS"], "write MINUTES"),
    **dict.fromkeys(["H", "HR", "HRS"], "write HOURS"),
    **dict.fromkeys(["D"], "write DAYS"),
}

SIGNS: Mapping[str, str] = {
    "&": "write AND between conditions; there are no operators on bits",
    "&&": "write AND between conditions",
    "|": "write OR between conditions; || joins texts",
    "^": "write POWER(x, 2)",
    "~": "there are no regular expressions: write LIKE 'lab%'",
    **dict.fromkeys(["?", ":", "$", "@", "{", "}"], _PARAMETER),
}

FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(["now", "current_timestamp", "current_date", "localtimestamp"], _NO_CLOCK),
    **dict.fromkeys(["tumble", "hop", "session", "window", "time_bucket"], _WINDOW),
    **dict.fromkeys(
        [*("date_trunc", "extract", "date_part", "to_date", "date"), *("year", "month", "day")],
        _PART_OF_TIME,
    ),
    **dict.fromkeys(["hour", "minute", "second", "dayofweek", "unix_timestamp"], _PART_OF_TIME),
    **dict.fromkeys(["datediff", "date_diff", "timestampdiff"], _LENGTH),
    **dict.fromkeys(["array_agg", "collect_list", "collect_set", "string_agg"], _COLLECTED),
    **dict.fromkeys(["listagg", "group_concat"], _COLLECTED),
    "log": "LN is the natural logarithm; LN(x) / LN(10) is the one to base ten",
    "log10": "write LN(x) / LN(10)",
    "log2": "write LN(x) / LN(2)",
    "isnull": "write x IS NULL",
    "nvl2": "write CASE WHEN x IS NULL THEN b ELSE a END",
    "position": "x LIKE '%a%' tells whether x has the text, and not where",
    **dict.fromkeys(
        ["left", "right"], "write SUBSTRING(x, 1, 3), or SUBSTRING(x, -3) from the end"
    ),
    **dict.fromkeys(
        ["rand", "random", "uuid"], "the same rows must give the same answers: nothing is random"
    ),
}
