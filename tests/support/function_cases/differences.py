"""Cases that differ from Spark, or are beyond what it says of itself: the reason for each.

`rows` is how many of the rows may differ; with 0 only the type does.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Why a case differs, and in how many rows at most."""

    reason: str
    rows: int


BEYOND_64 = "NaN and numbers beyond 64 bits are errors; Spark gives 0 and the nearest BIGINT"
WHOLE = "BIGINT, where Spark gives a decimal without places"
WIDE = "integers are BIGINT: what is beyond 32 bits is no error"
MAPS = "as Python has maps, without an order and without names that come twice"
OLD_DATES = "texts of times are read as CAST reads them, and never as a number of days"
DAYS = "an interval is always one of days to seconds"

DIGITS = "the digits of decimals: see the operators"

PAIRS = "an empty pattern does not part the two halves of a character, which Spark does"

JAVA_DIGITS = "the least double is shown as 5e-324, by Java 17 as 4.9E-324"
HEXADECIMAL = "a negative INT is shown as the BIGINT that it is"

# What the page says of all functions, or of operators.
GENERAL = (WIDE, DIGITS)

DIFFERENCES: dict[str, Difference] = {
    "format_string('%.2f|%8.1f|%e', x, x, x)": Difference(JAVA_DIGITS, 2),
    "format_string('%x %o', m, 8)": Difference(HEXADECIMAL, 16),
    "regexp_replace(t, '', '<>')": Difference(PAIRS, 2),
    "regexp_count(t, '')": Difference(PAIRS, 2),
    **dict.fromkeys(["try_divide(p, q)", "try_add(p, q)"], Difference(DIGITS, 44)),
    "abs(i)": Difference(WIDE, 2),
    "transform(array(m, 3, i), (z, n) -> z * n)": Difference(WIDE, 5),
    "day - date'2024-02-29'": Difference(DAYS, 0),
    "from_json(js, 'MAP<STRING, STRING>')": Difference(MAPS, 4),
    "to_json(from_json(js, 'b TIMESTAMP, a DATE'))": Difference(OLD_DATES, 2),
    "ceil(x)": Difference(BEYOND_64, 9),
    "floor(x)": Difference(BEYOND_64, 9),
    "ceiling(p)": Difference(WHOLE, 0),
    "floor(q)": Difference(WHOLE, 0),
}
