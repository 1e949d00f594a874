"""Date patterns of a query, checked when it is bound: a letter that Spark refuses is an error."""

from __future__ import annotations

from sqlglot import exp

from windrow.plan.expressions import Literal
from windrow.plan.scope import Scope
from windrow.schema import STRING
from windrow.times.formatting import Moment, format_moment, reads_zone
from windrow.times.patterns import PatternError, read_pattern
from windrow.times.reading import reader_of
from windrow.times.zones import UTC_ZONE, zone_named

__all__ = ["checked_pattern", "writes_zone"]


def checked_pattern(scope: Scope, text: str | None, node: exp.Expr, *, is_read: bool) -> Literal:
    """The pattern as a constant argument."""
    if text is None:
        return Literal("", STRING)
    try:
        pattern = read_pattern(text, is_read=is_read)
        if is_read:
            reader_of(pattern)
        else:
            format_moment(pattern, Moment(0, 0, zone_named(scope.time_zone) or UTC_ZONE))
    except PatternError as error:
        raise scope.wrong(
            "WB745",
            f"{text!r} is not a date pattern: {error}",
            node,
            hint="such as 'yyyy-MM-dd HH:mm:ss'; other text stands in quotes: 'T'",
        ) from None
    return Literal(text, STRING)


def writes_zone(pattern: Literal) -> bool:
    """Whether something of the zone is written."""
    return reads_zone(read_pattern(str(pattern.value), is_read=False))
