"""Times in several zones against the values that Spark gave: gaps, overlaps, years, patterns."""

from __future__ import annotations

import pytest

from support.spark_zone_values import zone_values
from windrow.errors import WindrowError
from windrow.plan.scalars import scope_of
from windrow.plan.session_zone import within_zone
from windrow.plan.time_conversions import in_zone
from windrow.rows.evaluate import evaluate
from windrow.schema import STRING
from windrow.sql import parse_query
from windrow.sql.statements import Select
from windrow.times.interval_texts import read_day_time, read_year_month

ZONES = zone_values()
# Each with the reason; functions.md lists them for users.
LONG_NAME = "names of zones in full are only known of UTC"
ISO = "literals of times may have forms of ISO 8601 that Spark does not read"
MIXED = "there is no interval of months and days together"
OLD_NAME = "short names of zones before there were zones"
ONE_FIELD = "an interval is not one of single fields, and so no number"
DIFFERENT = {
    "cast('2020-01-05 07:08Z' as timestamp)": ISO,
    "cast('2020-01-05 07:08:09+18:30' as timestamp)": ISO,
    "make_interval(1,2,3,4,5,6,7.008)": MIXED,
    "make_interval(0,0,0,4,5,6,7.008)": MIXED,
    "cast(interval '100' minute as int)": ONE_FIELD,
    "date_format(timestamp'2020-03-05 17:08:09.123456', 'zzzz')": LONG_NAME,
    "date_format(timestamp'1890-01-01 00:00:00', 'xxxxx VV z O')": OLD_NAME,
}


@pytest.mark.parametrize("zone", ZONES)
def test_times_are_what_spark_says_in_the_zone(zone: str) -> None:
    wrong = [
        (text, spark, found)
        for text, spark in ZONES[zone].items()
        if text not in DIFFERENT and not same(found := ours(text, zone), spark)
    ]
    assert wrong == []


def ours(text: str, zone: str) -> list[str | None]:
    query = f"SELECT {text} AS v FROM s [1 SECOND]"
    try:
        parsed = parse_query(query)
        assert isinstance(parsed, Select)
        with within_zone(zone):
            bound = scope_of(query, lambda _: None).bind(parsed.items[0].expression)
            kind = bound.type
            if kind.name in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ") or kind.is_interval:
                bound = in_zone(bound, STRING, zone)
            value = evaluate(bound, lambda _: None, 1)[0].as_py()
    except WindrowError:
        return ["error", None]
    return [kind.spark, str(value)]


def same(found: list[str | None], spark: list[str | None]) -> bool:
    kind, wanted = found[0] or "", spark[0] or ""
    if "interval" in wanted or "INTERVAL" in str(spark[1]):
        # Spark has a type for each span of fields, and shows these alone.
        read = read_year_month if "year" in wanted or "month" in wanted else read_day_time
        return read(str(found[1])) == read(str(spark[1])) is not None
    return found[1] == spark[1] and (kind == wanted or {kind, wanted} == {"int", "tinyint"})
