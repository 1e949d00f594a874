"""Functions of dates and times."""

from __future__ import annotations

from windrow.scalar_functions.entry import Given, Kind, ScalarFunction, Takes
from windrow.scalar_functions.rules import CONSTANT_TEXT
from windrow.schema import (
    BIGINT,
    DATE,
    DAY_TIME_INTERVAL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    YEAR_MONTH_INTERVAL,
    ColumnType,
)

__all__ = ["DATES"]

_UNIT = CONSTANT_TEXT
_WALL = (Kind.WALL,)
_PATTERN = "the pattern is a constant"


def _field(given: Given) -> ColumnType:
    """INT, or of seconds DECIMAL(8, 6)."""
    word = str(given.constants[0]).upper()
    return ColumnType("DECIMAL", 8, 6) if word in SECOND_WORDS else INT


def _as_third(given: Given) -> ColumnType:
    """The type of the last argument; of a date TIMESTAMP."""
    return TIMESTAMP if given.types[2] == DATE else given.types[2]


SECOND_WORDS = frozenset(["S", "SEC", "SECOND", "SECONDS", "SECS"])


def _part(name: str, value: str, *also: str) -> ScalarFunction:
    example = f"{name.upper()}(ts)"
    return ScalarFunction(name, _WALL, INT, also=also, example=example, value=value)


def _form(
    name: str, takes: tuple[Takes | Kind, ...], gives: ColumnType, example: str, value: str,
    optional: int = 0, also: tuple[str, ...] = (), differs: str = "",
) -> ScalarFunction:  # fmt: skip
    """One that is bound as other calls."""
    return ScalarFunction(
        name, takes, gives, also, optional, is_form=True, example=example, value=value,
        differs=differs,
    )  # fmt: skip


_PARTS = (
    _part("year", "2026"),
    _part("quarter", "1"),
    _part("month", "1"),
    _part("day", "1", "dayofmonth"),
    _part("dayofweek", "5"),
    _part("weekday", "3"),
    _part("dayofyear", "1"),
    _part("weekofyear", "1"),
    _part("hour", "9"),
    _part("minute", "30"),
    _part("second", "0"),
    ScalarFunction("dayname", _WALL, STRING, example="DAYNAME(ts)", value="Thu"),
    ScalarFunction("monthname", _WALL, STRING, example="MONTHNAME(ts)", value="Jan"),
    ScalarFunction(
        "date_part", (_UNIT, Kind.ANY), _field, also=("datepart",), is_form=True,
        example="DATE_PART('DAY', ts)", value="1",
    ),
)  # fmt: skip
_CALENDAR = (
    ScalarFunction(
        "add_months", (Kind.DATE, Kind.INT), DATE, is_total=True,
        example="ADD_MONTHS('2024-01-31', 1)", value="2024-02-29",
    ),
    ScalarFunction(
        "date_add", (Kind.ANY, Kind.ANY, Kind.ANY), DATE, also=("dateadd",), optional=1,
        is_total=True, example="DATE_ADD('2024-02-28', 1)", value="2024-02-29",
    ),
    ScalarFunction(
        "date_sub", (Kind.DATE, Kind.INT), DATE, is_total=True,
        example="DATE_SUB('2024-03-01', 1)", value="2024-02-29",
    ),
    ScalarFunction(
        "datediff", (Kind.ANY, Kind.ANY, Kind.ANY), INT, also=("date_diff",), optional=1,
        is_total=True, example="DATEDIFF('2024-03-01', '2024-02-01')", value="29",
    ),
    ScalarFunction(
        "last_day", (Kind.DATE,), DATE, is_total=True, example="LAST_DAY(ts)", value="2026-01-31"
    ),
    ScalarFunction(
        "next_day", (Kind.DATE, Kind.TEXT), DATE, example="NEXT_DAY(ts, 'MON')", value="2026-01-05"
    ),
    ScalarFunction(
        "months_between", (Kind.WALL, Kind.WALL, Kind.BOOLEAN), DOUBLE, optional=1,
        example="MONTHS_BETWEEN('2024-03-31', '2024-02-29')", value="1.0",
    ),
    ScalarFunction(
        "trunc", (Kind.DATE, _UNIT), DATE, example="TRUNC(ts, 'MM')", value="2026-01-01",
        differs="the unit is a constant",
    ),
    ScalarFunction(
        "make_date", (Kind.INT, Kind.INT, Kind.INT), DATE, is_total=True,
        example="MAKE_DATE(2024, 2, 29)", value="2024-02-29",
    ),
    ScalarFunction(
        "unix_date", (Kind.DATE,), INT, example="UNIX_DATE('1970-01-02')", value="1"
    ),
    ScalarFunction(
        "date_from_unix_date", (Kind.INT,), DATE, example="DATE_FROM_UNIX_DATE(1)",
        value="1970-01-02",
    ),
    _form("to_date", (Kind.ANY, CONSTANT_TEXT), DATE, "TO_DATE('1/2/24', 'd/M/yy')", "2024-02-01",
          1, ("date",), _PATTERN),
    _form("try_to_date", (Kind.ANY, CONSTANT_TEXT), DATE, "TRY_TO_DATE('x')", "NULL", 1, (),
          _PATTERN),
)  # fmt: skip
_EPOCHS = (
    ScalarFunction(
        "unix_seconds", (Kind.TIMESTAMP,), BIGINT, example="UNIX_SECONDS(ts)", value="1767259800"
    ),
    ScalarFunction(
        "unix_millis", (Kind.TIMESTAMP,), BIGINT, example="UNIX_MILLIS(ts)", value="1767259800000"
    ),
    ScalarFunction(
        "unix_micros", (Kind.TIMESTAMP,), BIGINT, example="UNIX_MICROS(ts)",
        value="1767259800000000",
    ),
    ScalarFunction(
        "timestamp_seconds", (Kind.NUMBER,), TIMESTAMP, is_total=True,
        example="TIMESTAMP_SECONDS(0.5)", value="1970-01-01 00:00:00.500000+00:00",
    ),
    ScalarFunction(
        "timestamp_millis", (Kind.BIGINT,), TIMESTAMP, is_total=True,
        example="TIMESTAMP_MILLIS(1)", value="1970-01-01 00:00:00.001000+00:00",
    ),
    ScalarFunction(
        "timestamp_micros", (Kind.BIGINT,), TIMESTAMP, is_total=True,
        example="TIMESTAMP_MICROS(1)", value="1970-01-01 00:00:00.000001+00:00",
    ),
    _form("from_unixtime", (Kind.BIGINT, CONSTANT_TEXT), STRING, "FROM_UNIXTIME(0)",
          "1970-01-01 00:00:00", 1, (), _PATTERN),
    _form("unix_timestamp", (Kind.ANY, CONSTANT_TEXT), BIGINT, "UNIX_TIMESTAMP(ts)", "1767259800",
          1, ("to_unix_timestamp",), _PATTERN + "; without arguments it is refused"),
)  # fmt: skip
_ZONES = (
    ScalarFunction(
        "from_utc_timestamp", (Kind.TIMESTAMP, Kind.TEXT), TIMESTAMP,
        example="FROM_UTC_TIMESTAMP(ts, 'Asia/Kolkata')", value="2026-01-01 15:00:00+00:00",
    ),
    ScalarFunction(
        "to_utc_timestamp", (Kind.TIMESTAMP, Kind.TEXT), TIMESTAMP,
        example="TO_UTC_TIMESTAMP(ts, 'Asia/Kolkata')", value="2026-01-01 04:00:00+00:00",
    ),
    ScalarFunction(
        "convert_timezone", (Kind.TEXT, Kind.TEXT, Kind.ANY), TIMESTAMP_NTZ, optional=1,
        example="CONVERT_TIMEZONE('Europe/Berlin', ts)", value="2026-01-01 10:30:00",
    ),
    _form("current_timezone", (), STRING, "CURRENT_TIMEZONE()", "UTC"),
)  # fmt: skip
_TIMESTAMPS = (
    ScalarFunction(
        "date_format", (Kind.ANY, CONSTANT_TEXT), STRING, example="DATE_FORMAT(ts, 'd MMM yyyy')",
        value="1 Jan 2026", differs=_PATTERN + "; zzzz in UTC only",
    ),
    ScalarFunction(
        "date_trunc", (_UNIT, Kind.TIMESTAMP), TIMESTAMP, example="DATE_TRUNC('HOUR', ts)",
        value="2026-01-01 09:00:00+00:00", differs="the unit is a constant",
    ),
    ScalarFunction(
        "date_ceil", (_UNIT, Kind.TIMESTAMP), TIMESTAMP, is_total=True,
        example="DATE_CEIL('HOUR', ts)", value="2026-01-01 10:00:00+00:00",
        differs="Flink's CEIL(ts TO HOUR); Spark has none",
    ),
    ScalarFunction(
        "timestampadd", (_UNIT, Kind.BIGINT, Kind.ANY), _as_third, is_form=True,
        example="TIMESTAMPADD(HOUR, 1, ts)", value="2026-01-01 10:30:00+00:00",
    ),
    ScalarFunction(
        "timestampdiff", (_UNIT, Kind.WALL, Kind.WALL), BIGINT, also=("timediff",),
        example="TIMESTAMPDIFF(MINUTE, '2026-01-01', ts)", value="570",
    ),
    _form("to_timestamp", (Kind.ANY, CONSTANT_TEXT), TIMESTAMP, "TO_TIMESTAMP('1/2/24', 'd/M/yy')",
          "2024-02-01 00:00:00+00:00", 1, ("to_timestamp_ltz", "timestamp"), _PATTERN),
    _form("try_to_timestamp", (Kind.ANY, CONSTANT_TEXT), TIMESTAMP, "TRY_TO_TIMESTAMP('x')",
          "NULL", 1, (), _PATTERN),
    _form("to_timestamp_ntz", (Kind.ANY, CONSTANT_TEXT), TIMESTAMP_NTZ,
          "TO_TIMESTAMP_NTZ('2024-02-29')", "2024-02-29 00:00:00", 1, (), _PATTERN),
    *(
        _form(f"{word}make_timestamp{kind}", (*(Kind.INT,) * 5, Kind.ANY, Kind.TEXT)[:count], gives,
              f"{word}make_timestamp{kind}(2024, 2, 29, 9, 30, 1.5)".upper(), value, count - 6,
              also)
        for word in ("", "try_")
        for kind, count, gives, value, also in (
            ("", 7, TIMESTAMP, "2024-02-29 09:30:01.500000+00:00", (f"{word}make_timestamp_ltz",)),
            ("_ntz", 6, TIMESTAMP_NTZ, "2024-02-29 09:30:01.500000", ()),
        )
    ),
)  # fmt: skip
_INTERVALS = (
    ScalarFunction(
        "make_dt_interval", (Kind.INT, Kind.INT, Kind.INT, Kind.ANY), DAY_TIME_INTERVAL, optional=4,
        is_total=True, example="MAKE_DT_INTERVAL(1, 2)", value="1 day, 2:00:00",
    ),
    ScalarFunction(
        "make_ym_interval", (Kind.INT, Kind.INT), YEAR_MONTH_INTERVAL, optional=2, is_total=True,
        example="MAKE_YM_INTERVAL(1, 2)", value="14",
    ),
    _form("make_interval", (*(Kind.INT,) * 6, Kind.ANY), DAY_TIME_INTERVAL,
          "MAKE_INTERVAL(0, 0, 0, 1)", "1 day, 0:00:00", 7, (),
          "of constants, and of years and months or of weeks and less, not of both"),
)  # fmt: skip
DATES: tuple[ScalarFunction, ...] = (
    *_PARTS,
    *_CALENDAR,
    *_EPOCHS,
    *_ZONES,
    *_TIMESTAMPS,
    *_INTERVALS,
)
