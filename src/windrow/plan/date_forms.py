"""Functions of dates and times whose arguments are words, patterns, or of several types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from sqlglot import exp

from windrow.plan.argument_kinds import bind_by_kinds, convert_argument
from windrow.plan.date_patterns import checked_pattern, writes_zone
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.scope import Scope
from windrow.plan.session_zone import DEFAULT_ZONE
from windrow.plan.time_arithmetic import add_interval
from windrow.plan.time_conversions import in_zone, wall_time, zone_literal
from windrow.plan.types import convert, is_null
from windrow.scalar_functions import Kind, ScalarFunction, Takes
from windrow.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DAY_TIME_INTERVAL,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    YEAR_MONTH_INTERVAL,
    ColumnType,
    decimal,
)
from windrow.times.civil import DAY_US

__all__ = ["DATE_FORMS", "argument", "constant_text", "unit_of"]

Form = Callable[[Scope, ScalarFunction, list[exp.Expr]], Expr]
_SECONDS = decimal(16, 6)

# Fields of EXTRACT and DATE_PART, and the functions that give them.
_FIELDS = {
    **dict.fromkeys(["YEAR", "Y", "YEARS", "YR", "YRS"], "year"),
    "YEAROFWEEK": "yearofweek",
    **dict.fromkeys(["QUARTER", "QTR"], "quarter"),
    **dict.fromkeys(["MONTH", "MON", "MONS", "MONTHS"], "month"),
    **dict.fromkeys(["WEEK", "W", "WEEKS"], "weekofyear"),
    **dict.fromkeys(["DAY", "D", "DAYS"], "day"),
    **dict.fromkeys(["DAYOFWEEK", "DOW"], "dayofweek"),
    **dict.fromkeys(["DAYOFWEEK_ISO", "DOW_ISO"], "dayofweek_iso"),
    "DOY": "dayofyear",
    **dict.fromkeys(["HOUR", "H", "HOURS", "HR", "HRS"], "hour"),
    **dict.fromkeys(["MINUTE", "M", "MIN", "MINS", "MINUTES"], "minute"),
    **dict.fromkeys(["SECOND", "S", "SEC", "SECONDS", "SECS"], "second_with_fraction"),
}
_FIELDS_OF_SPANS = {
    "day": "span_days",
    "hour": "span_hours",
    "minute": "span_minutes",
    "second_with_fraction": "span_seconds",
}
_FIELDS_OF_MONTHS = {"year": "months_years", "month": "months_months"}
_UNITS = {
    **dict.fromkeys(["YEAR", "YYYY", "YY"], "YEAR"),
    "QUARTER": "QUARTER",
    **dict.fromkeys(["MONTH", "MM", "MON"], "MONTH"),
    "WEEK": "WEEK",
}
_UNITS_OF_TIME = {
    **_UNITS,
    **dict.fromkeys(["DAY", "DD"], "DAY"),
    **{each: each for each in ("HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")},
}
_SPANS_US = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    **dict.fromkeys(["DAY", "DAYOFYEAR"], DAY_US),
    "WEEK": 7 * DAY_US,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def argument(
    scope: Scope, function: ScalarFunction, node: exp.Expr, kind: Kind, *, constant: bool = False
) -> Expr:
    """The node bound as an argument of that kind."""
    takes = Takes(kind, is_constant=constant)
    return convert_argument(scope, function.name, node, scope.bind(node), takes)


def constant_text(scope: Scope, function: ScalarFunction, node: exp.Expr) -> str | None:
    """A text that is written as a constant; None is NULL."""
    found = argument(scope, function, node, Kind.TEXT, constant=True)
    assert isinstance(found, Literal)
    return None if found.value is None else str(found.value)


def unit_of(
    scope: Scope, function: ScalarFunction, node: exp.Expr, units: Mapping[str, object]
) -> str:
    """A word of the units, in capitals, or an error that lists them."""
    word = (constant_text(scope, function, node) or "").upper()
    if word not in units:
        raise scope.wrong(
            "WB743",
            f"{function.name.upper()} has no unit {word!r}",
            node,
            hint=f"its units are {', '.join(units)}",
        )
    return word


def _date_part(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    field = _FIELDS[unit_of(scope, function, nodes[0], _FIELDS)]
    bound = scope.bind(nodes[1])
    of_lengths = {
        DAY_TIME_INTERVAL: _FIELDS_OF_SPANS,
        YEAR_MONTH_INTERVAL: _FIELDS_OF_MONTHS,
    }.get(bound.type)
    if of_lengths is not None:
        if field not in of_lengths:
            raise scope.wrong(
                "WB743",
                f"{bound.type} has no field {nodes[0].name}",
                nodes[0],
                hint=f"its fields are {_words(of_lengths)}",
            )
        time, field = bound, of_lengths[field]
    else:
        takes = Takes(Kind.WALL)
        time = convert_argument(scope, function.name, nodes[1], bound, takes)
    is_seconds = field in ("second_with_fraction", "span_seconds")
    return Call(field, (time,), decimal(8, 6) if is_seconds else INT)


def _words(fields: Mapping[str, str]) -> str:
    return ", ".join(each.upper().partition("_")[0] for each in fields)


def _date_trunc(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    time = argument(scope, function, nodes[1], Kind.TIMESTAMP)
    if function.name == "date_ceil":
        unit: str | None = _UNITS_OF_TIME[unit_of(scope, function, nodes[0], _UNITS_OF_TIME)]
    else:  # of a unit that there is not, Spark gives NULL
        word = constant_text(scope, function, nodes[0])
        unit = None if word is None else _UNITS_OF_TIME.get(word.upper())
    zone = () if scope.time_zone == DEFAULT_ZONE else (zone_literal(scope.time_zone),)
    return Call(function.name, (Literal(unit, STRING), time, *zone), TIMESTAMP)


def _trunc(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    day = argument(scope, function, nodes[0], Kind.DATE)
    word = constant_text(scope, function, nodes[1])
    unit = None if word is None else _UNITS.get(word.upper())
    return Call("trunc", (day, Literal(unit, STRING)), DATE)


def _months_between(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    found = bind_by_kinds(scope, function, nodes)
    assert isinstance(found, Call)
    rounded = found.arguments[2:] or (Literal(True, BOOLEAN),)
    return Call("months_between", (*found.arguments[:2], *rounded), found.type)


def _date_add(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    if len(nodes) == 3:
        return _timestampadd(scope, function, nodes)
    day = argument(scope, function, nodes[0], Kind.DATE)
    return Call("date_add", (day, argument(scope, function, nodes[1], Kind.INT)), DATE)


def _datediff(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    if len(nodes) == 3:
        return _timestampdiff(scope, function, nodes)
    days = tuple(argument(scope, function, node, Kind.DATE) for node in nodes)
    return Call("datediff", days, INT)


def _timestampadd(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    unit = unit_of(scope, function, nodes[0], {**_SPANS_US, **_MONTHS})
    count = argument(scope, function, nodes[1], Kind.BIGINT)
    time = _moment(scope, function, nodes[2])
    if unit in _MONTHS:
        interval = _times(count, _MONTHS[unit], YEAR_MONTH_INTERVAL)
    else:
        interval = _times(count, _SPANS_US[unit], DAY_TIME_INTERVAL)
    return add_interval(time, interval, scope.time_zone)


def _moment(scope: Scope, function: ScalarFunction, node: exp.Expr) -> Expr:
    """A time with or without a zone; a date and a text are instants."""
    bound = scope.bind(node)
    if bound.type == TIMESTAMP_NTZ and not is_null(bound):
        return bound
    return convert_argument(scope, function.name, node, bound, Takes(Kind.TIMESTAMP))


def _times(count: Expr, size: int, kind: ColumnType) -> Expr:
    half = 1 << (kind.arrow.bit_width - 1)
    value = count.value if isinstance(count, Literal) else None
    if isinstance(value, int) and -half <= value * size < half:
        return Literal(value * size, kind)
    return Call("times_interval", (Literal(size, kind), count), kind)


def _timestampdiff(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    unit = unit_of(scope, function, nodes[0], {**_SPANS_US, **_MONTHS})
    ends = tuple(
        wall_time(argument(scope, function, node, Kind.TIMESTAMP), scope.time_zone)
        for node in nodes[1:]
    )
    word = Literal("DAY" if unit == "DAYOFYEAR" else unit, STRING)
    return Call("timestampdiff", (word, *ends), BIGINT)


def _to_timestamp(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    return _read(scope, function, nodes, TIMESTAMP)


def _to_timestamp_ntz(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    return _read(scope, function, nodes, TIMESTAMP_NTZ)


def _to_date(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    if len(nodes) == 1:
        return _read(scope, function, nodes, DATE)
    return in_zone(_read(scope, function, nodes, TIMESTAMP), DATE, scope.time_zone)


def _read(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr], kind: ColumnType) -> Expr:
    """A text read by a pattern, or anything cast; the TRY_ form is NULL where that fails."""
    is_try = function.name.startswith("try_")
    if len(nodes) == 1:
        cast = exp.TryCast if is_try else exp.Cast
        target = exp.DataType.build(kind.spark, dialect="spark")
        node = cast(this=nodes[0], to=target)
        node.meta.update(nodes[0].meta)
        return scope.bind(node)
    bound = scope.bind(nodes[0])
    if bound.type in (DATE, TIMESTAMP, TIMESTAMP_NTZ) and not is_null(bound):
        return into(scope, nodes[0], bound, kind)  # a pattern has no say about times
    text = convert_argument(scope, function.name, nodes[0], bound, Takes(Kind.TEXT))
    pattern = pattern_of(scope, function, nodes[1], is_read=True)
    name = "try_read_by_pattern" if is_try else "read_by_pattern"
    return Call(name, (text, pattern, zone_literal(scope.time_zone)), kind)


def pattern_of(scope: Scope, function: ScalarFunction, node: exp.Expr, *, is_read: bool) -> Literal:
    """A date pattern that is a constant, checked."""
    return checked_pattern(scope, constant_text(scope, function, node), node, is_read=is_read)


def _date_format(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    time = argument(scope, function, nodes[0], Kind.WALL)
    pattern = pattern_of(scope, function, nodes[1], is_read=False)
    return _formatted(scope, nodes[0], time, pattern)


def _formatted(scope: Scope, node: exp.Expr, time: Expr, pattern: Literal) -> Expr:

    if writes_zone(pattern):
        instant = into(scope, node, _before_wall(time), TIMESTAMP)
        return Call("date_format", (instant, pattern, zone_literal(scope.time_zone)), STRING)
    return Call("date_format", (wall_time(time, scope.time_zone), pattern), STRING)


def _before_wall(time: Expr) -> Expr:
    is_wall = isinstance(time, Call) and time.function == "to_wall"
    return time.arguments[0] if is_wall and isinstance(time, Call) else time


_DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"


def _from_unixtime(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    count = argument(scope, function, nodes[0], Kind.NUMBER)
    time = Call("timestamp_seconds", (convert(count, BIGINT),), TIMESTAMP)
    written = nodes[1] if len(nodes) > 1 else exp.Literal.string(_DEFAULT_PATTERN)
    return _formatted(scope, nodes[0], time, pattern_of(scope, function, written, is_read=False))


def _unix_timestamp(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    bound = scope.bind(nodes[0])
    if bound.type == STRING:
        written = nodes[1] if len(nodes) > 1 else exp.Literal.string(_DEFAULT_PATTERN)
        time = _read(scope, function, [nodes[0], written], TIMESTAMP)
    elif bound.type == TIMESTAMP_NTZ:
        time = bound  # Spark reads it as UTC here
    else:
        time = convert_argument(scope, function.name, nodes[0], bound, Takes(Kind.TIMESTAMP))
    return Call("truncated_seconds", (time,), BIGINT)  # unix_seconds rounds down


def _make_timestamp(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    parts = [argument(scope, function, node, Kind.INT) for node in nodes[:5]]
    seconds = into(scope, nodes[5], scope.bind(nodes[5]), _SECONDS)
    is_try = function.name.startswith("try_")
    name = "try_make_wall_time" if is_try else "make_wall_time"
    wall = Call(name, (*parts, seconds), TIMESTAMP_NTZ)
    if function.name.endswith("_ntz"):
        return wall
    if len(nodes) == 7:
        zone = argument(scope, function, nodes[6], Kind.TEXT)
        return Call("instant_in", (wall, zone), TIMESTAMP)
    return in_zone(wall, TIMESTAMP, scope.time_zone)


def _convert_timezone(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    zones = [argument(scope, function, node, Kind.TEXT) for node in nodes[:-1]]
    if len(zones) == 1:
        zones.insert(0, zone_literal(scope.time_zone))
    wall = into(scope, nodes[-1], scope.bind(nodes[-1]), TIMESTAMP_NTZ)
    return Call("convert_timezone", (*zones, wall), TIMESTAMP_NTZ)


def _current_timezone(scope: Scope, _function: ScalarFunction, _nodes: list[exp.Expr]) -> Expr:
    return Literal(scope.time_zone, STRING)


def _make_dt_interval(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    parts: list[Expr] = [argument(scope, function, node, Kind.INT) for node in nodes[:3]]
    parts += [Literal(0, INT)] * (3 - len(parts))
    written = nodes[3] if len(nodes) > 3 else exp.Literal.number(0)
    seconds = into(scope, written, scope.bind(written), decimal(18, 6))
    return Call("make_dt_interval", (*parts, seconds), DAY_TIME_INTERVAL)


def _make_ym_interval(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    parts: list[Expr] = [argument(scope, function, node, Kind.INT) for node in nodes]
    parts += [Literal(0, INT)] * (2 - len(parts))
    return Call("make_ym_interval", tuple(parts), YEAR_MONTH_INTERVAL)


def _make_interval(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
    """Of constants, and of one kind: there is no interval of months and days together."""
    counts = []
    for node in nodes[:6]:
        bound = argument(scope, function, node, Kind.INT, constant=True)
        assert isinstance(bound, Literal)
        counts.append(int(str(bound.value)))
    years, months, weeks, days, hours, minutes = [*counts, *[0] * (6 - len(counts))]
    written = nodes[6] if len(nodes) > 6 else exp.Literal.number(0)
    seconds = into(scope, written, scope.bind(written), decimal(18, 6))
    value = seconds.value if isinstance(seconds, Literal) else None
    if not isinstance(value, Decimal) or ((years or months) and (any(counts[2:]) or value)):
        raise scope.refused(
            "WU740",
            "an interval of months and days together, of columns or of NULL,",
            nodes[0],
            hint="use MAKE_YM_INTERVAL(years, months) or MAKE_DT_INTERVAL(days, hours, ...)",
        )
    if years or months:
        return Literal(years * 12 + months, YEAR_MONTH_INTERVAL)
    total = ((weeks * 7 + days) * 24 + hours) * 60 + minutes
    return Literal(total * 60_000_000 + int(value * 1_000_000), DAY_TIME_INTERVAL)


def _of_interval(name: str) -> Form:
    """ABS and SIGN, of intervals too."""

    def bind(scope: Scope, function: ScalarFunction, nodes: list[exp.Expr]) -> Expr:
        bound = scope.bind(nodes[0])
        if bound.type.is_interval and not is_null(bound):
            kind = bound.type if name == "abs_interval" else ColumnType("DOUBLE")
            return Call(name, (bound,), kind)
        return bind_by_kinds(scope, function, nodes)

    return bind


DATE_FORMS: Mapping[str, Form] = {
    "abs": _of_interval("abs_interval"),
    "sign": _of_interval("sign_interval"),
    "date_part": _date_part,
    "date_trunc": _date_trunc,
    "date_ceil": _date_trunc,
    "trunc": _trunc,
    "months_between": _months_between,
    "date_add": _date_add,
    "datediff": _datediff,
    "timestampadd": _timestampadd,
    "timestampdiff": _timestampdiff,
    **dict.fromkeys(["to_timestamp", "try_to_timestamp"], _to_timestamp),
    "to_timestamp_ntz": _to_timestamp_ntz,
    **dict.fromkeys(["to_date", "try_to_date"], _to_date),
    "date_format": _date_format,
    "from_unixtime": _from_unixtime,
    "unix_timestamp": _unix_timestamp,
    **dict.fromkeys(["make_timestamp", "try_make_timestamp"], _make_timestamp),
    **dict.fromkeys(["make_timestamp_ntz", "try_make_timestamp_ntz"], _make_timestamp),
    "convert_timezone": _convert_timezone,
    "current_timezone": _current_timezone,
    "make_dt_interval": _make_dt_interval,
    "make_ym_interval": _make_ym_interval,
    "make_interval": _make_interval,
}
