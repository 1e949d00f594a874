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

DIFFERENCES: dict[str, Difference] = {
    "abs(i)": Difference(WIDE, 2),
    "transform(array(m, 3, i), (z, n) -> z * n)": Difference(WIDE, 5),
    "ceil(x)": Difference(BEYOND_64, 9),
    "floor(x)": Difference(BEYOND_64, 9),
    "ceiling(p)": Difference(WHOLE, 0),
    "floor(q)": Difference(WHOLE, 0),
}
