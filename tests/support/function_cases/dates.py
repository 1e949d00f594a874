"""Cases of the functions of dates, in UTC; zone_cases.py has those in other zones."""

from __future__ import annotations

import re

_FIELDS = (
    *("year", "quarter", "month", "day", "dayofmonth", "dayofweek", "weekday", "dayofyear"),
    *("weekofyear", "hour", "minute", "second", "dayname", "monthname"),
)
_PARTS = (
    *("YEAR", "YEAROFWEEK", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFWEEK", "DAYOFWEEK_ISO", "DOY"),
    *("HOUR", "MINUTE", "SECOND"),
)
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND")

_CASES: tuple[str, ...] = (
    *(f"{name}(ts)" for name in _FIELDS),
    *(f"{name}(day)" for name in _FIELDS if name not in ("dayname", "monthname")),
    *(f"extract({part} FROM ts)" for part in _PARTS),
    *(f"date_part('{part}', day)" for part in _PARTS),
    "datepart('DOW', ts)",
    *(f"date_trunc('{unit}', ts)" for unit in (*_UNITS, "MICROSECOND", "nonsense")),
    *(f"trunc(day, '{unit}')" for unit in ("YEAR", "QUARTER", "MM", "WEEK", "day")),
    *("add_months(day, m)", "add_months(ts, 1)", "date_add(day, m)", "date_add(ts, 1)"),
    *("dateadd(day, m)", "date_sub(day, m)", "date_sub(day, 366)", "day + m", "day - 1"),
    *("datediff(day, ts)", "date_diff(ts, day)", "datediff(day, date'2024-02-29')"),
    *(f"timestampadd({unit}, m, ts)" for unit in _UNITS),
    *(f"dateadd({unit}, 1, day)" for unit in ("MONTH", "HOUR", "DAYOFYEAR")),
    *(f"timestampdiff({unit}, ts, timestamp'2024-02-29 12:30:00')" for unit in _UNITS),
    *("datediff(MONTH, day, ts)", "date_diff(YEAR, ts, day)", "timediff(DAY, day, ts)"),
    *("last_day(day)", "next_day(day, 'TU')", "next_day(ts, 'Sunday')", "next_day(day, u)"),
    *("months_between(ts, day)", "months_between(day, date'2024-02-29')"),
    "months_between(ts, timestamp'2024-02-29 12:30:00', false)",
    *("make_date(2024, m, 29)", "make_date(i, 1, 1)", "unix_date(day)", "date_from_unix_date(i)"),
    *("unix_seconds(ts)", "unix_millis(ts)", "unix_micros(ts)", "timestamp_seconds(i)"),
    *("timestamp_seconds(p)", "timestamp_millis(k)", "timestamp_micros(i)"),
    *("from_unixtime(i)", "from_unixtime(i, 'yy/M/d H:m')", "unix_timestamp(ts)"),
    *("unix_timestamp(w)", "to_unix_timestamp(day)", "unix_timestamp('2024-02-29', 'yyyy-MM-dd')"),
    *("from_utc_timestamp(ts, 'America/New_York')", "to_utc_timestamp(ts, 'Europe/Berlin')"),
    *("to_utc_timestamp(ts, 'Asia/Kolkata')", "convert_timezone('UTC', '+05:30', ts)"),
    *("convert_timezone('Europe/Berlin', ts)", "current_timezone()"),
    "date_format(ts, 'G yyyy yy M MM MMM MMMM d dd D E EEEE Q QQQ a h hh K k H m mm s ss SSS')",
    *("date_format(day, 'y-MM-dd HH')", "date_format(ts, 'VV z O XXX x Z \\'at\\'')"),
    *("to_date(day)", "date(ts)", "to_date(w)", "try_to_date(w)", "to_date('29/2/24', 'd/M/yy')"),
    *("try_to_date(t, 'yyyy-MM-dd')", "to_timestamp(day)", "try_to_timestamp(w)", "timestamp(i)"),
    *("to_timestamp('29 Feb 2024', 'd MMM yyyy')", "to_timestamp_ltz(ts)", "to_timestamp_ntz(ts)"),
    "try_to_timestamp(t, 'HH:mm')",
    "to_timestamp_ntz('2024-02-29 1', 'yyyy-MM-dd H')",
    *(
        f"{name}(2024, m, 29, 12, 30, 59.5)"
        for name in (
            *("make_timestamp", "make_timestamp_ntz", "make_timestamp_ltz"),
            *("try_make_timestamp", "try_make_timestamp_ntz", "try_make_timestamp_ltz"),
        )
    ),
    *(
        "make_timestamp(2024, 2, m, 1, 2, 60, 'Europe/Berlin')",
        "make_timestamp(2024, 2, 3, i, m, q)",
    ),
    *("ts + interval '1' day", "ts - interval '1-2' year to month", "day + interval '1' month"),
    *("day + interval '2' hour", "ts + make_dt_interval(m, m, m, 1.5)", "interval '2' day + ts"),
    *("ts - day", "day - date'2024-02-29'", "ts - timestamp'2024-02-29 12:30:00'"),
    *("make_dt_interval(i)", "make_dt_interval(m, m) * m", "make_dt_interval(1, 2, 3, p)"),
    *("make_dt_interval(m) / 7", "make_dt_interval(m) * x", "-make_dt_interval(m)"),
    *("abs(make_dt_interval(m))", "make_dt_interval(m) > interval '2' day"),
    *("signum(make_dt_interval(m))", "make_ym_interval(m, m) > make_ym_interval(1)"),
    *("extract(YEAR FROM make_ym_interval(m, m))", "extract(MONTH FROM make_ym_interval(1, m))"),
    *(
        f"extract({part} FROM make_dt_interval(m, m, m, q % 1000))"
        for part in ("DAY", "HOUR", "MINUTE", "SECOND")
    ),
    *("extract(MONTH FROM make_ym_interval(m, m) * 1.5)", "make_interval(0, 0, 0, 1) IS NULL"),
    *("cast(ts AS string)", "cast(day AS string)", "cast(ts AS date)", "cast(day AS timestamp)"),
    *("cast(ts AS timestamp_ntz)", "cast(cast(ts AS timestamp_ntz) AS timestamp)"),
    *(
        "cast(ts AS bigint)",
        "cast(ts AS decimal(20, 6))",
        "cast(ts AS double)",
        "cast(i AS timestamp)",
    ),
    *(
        "cast(p AS timestamp)",
        "cast(f AS timestamp)",
        "try_cast(w AS date)",
        "try_cast(w AS timestamp)",
    ),
    *("cast(w AS date)", "cast(make_dt_interval(1, m) AS string)"),
    *("cast(make_ym_interval(m, m) AS string)", "day < ts", "ts = cast(day AS timestamp)"),
)
# Of times and dates, texts are compared: Python has no dates before the year 1 or after 9999.
_OF_TIME = re.compile(
    r"(date_trunc|trunc|add_months|date_add|dateadd|date_sub|timestampadd|last_day|next_day|date\("
    r"|make_date|date_from|timestamp_|from_utc|to_utc|convert_time|to_date|try_to|to_timestamp"
    r"|timestamp\(|make_timestamp|try_make|try_cast|day [+-] (m|1$|int)|ts [+-] (int|make)"
    r"|interval '2' day \+|cast\(.* AS (date|timestamp|timestamp_ntz)\)$)"
)
DATES: tuple[str, ...] = tuple(
    f"cast({text} AS string)" if _OF_TIME.match(text) else text for text in _CASES
)
