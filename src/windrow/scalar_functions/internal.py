"""Functions that plans have and no text names: what arithmetic and casts of times are bound as."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["INTERNAL", "INTERNAL_TOTAL", "SIGNS"]

# Those that have a value wherever their arguments have one; where they have none is a fault.
INTERNAL_TOTAL = frozenset(
    [
        *("plus_span", "plus_span_in_zone", "plus_months", "plus_months_in_zone"),
        *("minus_times", "dates_apart", "plus_intervals", "negate_interval", "abs_interval"),
        *("times_interval", "divide_interval", "make_wall_time"),
        *("text_to_instant", "read_by_pattern", "instant_in"),
    ]
)
INTERNAL = INTERNAL_TOTAL | frozenset(
    [
        *("to_wall", "to_instant", "try_make_wall_time"),
        *("try_text_to_instant", "try_read_by_pattern"),
        *("sign_interval", "span_days", "span_hours", "span_minutes", "span_seconds"),
        *("months_years", "months_months", "months_to_text"),
        *("truncated_seconds", "dayofweek_iso", "yearofweek", "second_with_fraction"),
    ]
)
# How they are shown: the sign between their first two arguments.
SIGNS: Mapping[str, str] = {
    **dict.fromkeys(
        ["plus_span", "plus_span_in_zone", "plus_months", "plus_months_in_zone", "plus_intervals"],
        "+",
    ),
    **dict.fromkeys(["minus_times", "dates_apart"], "-"),
    "times_interval": "*",
    "divide_interval": "/",
}
