"""What other dialects of SQL have, each with what to write here instead."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FUNCTIONS", "SIGNS", "STATEMENTS", "UNITS"]

_ROWS_COME = "rows arrive by push() or from a source, and expire on their own"
_PARAMETER = "there are no parameters: write the value itself"
_WINDOW = "the window comes after the stream: s [10 MINUTES], or s [TUMBLE 10 MINUTES]"
_NO_CLOCK = (
    "answers depend on rows, not on a clock: the last ten minutes are the window s [10 MINUTES], "
    "and the column `at` is the instant of an answer"
)

STATEMENTS: Mapping[str, str] = {
    **dict.fromkeys(["INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "COPY"], _ROWS_COME),
    **dict.fromkeys(
        ["DROP", "ALTER"], "stop() ends a query; streams last as long as their session"
    ),
    **dict.fromkeys(
        ["SHOW", "DESCRIBE", "DESC", "USE"],
        "session.streams(), session.queries() and session.alerts() list them; in the shell \\d, "
        "\\alerts",
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
    **dict.fromkeys(["?", ":", "$", "@", "{", "}"], _PARAMETER),
}

FUNCTIONS: Mapping[str, str] = {
    **dict.fromkeys(
        [
            *("now", "current_timestamp", "localtimestamp"),
            *("current_date", "curdate", "current_time"),
        ],
        _NO_CLOCK,
    ),
    **dict.fromkeys(["tumble", "hop", "session", "window", "time_bucket"], _WINDOW),
    "extract": "write EXTRACT(HOUR FROM ts)",
    "group_concat": "write LISTAGG(x, ',')",
    **dict.fromkeys(
        [
            *("rand", "random", "randn", "uuid", "randstr", "uniform", "shuffle"),
            *("monotonically_increasing_id", "spark_partition_id"),
        ],
        "the same rows must give the same answers, also when they come again: nothing is random",
    ),
}
