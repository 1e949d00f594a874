"""Conversions between instants, times on the wall, dates and texts, in the zone of the session.

In UTC they are plain casts, which treat an instant as what a clock in UTC shows.
"""

from __future__ import annotations

from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.session_zone import DEFAULT_ZONE
from windrow.plan.types import convert
from windrow.schema import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ, ColumnType
from windrow.times.civil import DAY_US
from windrow.times.zones import UTC_ZONE, zone_named

__all__ = ["in_zone", "wall_time", "zone_literal"]


def zone_literal(zone: str) -> Literal:
    """The zone as a constant argument."""
    return Literal(zone, STRING)


def wall_time(bound: Expr, zone: str) -> Expr:
    """What clocks of the zone show at an instant; dates and times without zone are as they are."""
    if bound.type != TIMESTAMP or zone == DEFAULT_ZONE:
        return bound
    return Call("to_wall", (bound, zone_literal(zone)), TIMESTAMP_NTZ)


def in_zone(bound: Expr, kind: ColumnType, zone: str) -> Expr:
    """The bound expression in another type, by the clocks of the zone."""
    if zone == DEFAULT_ZONE or bound.type == kind:
        return convert(bound, kind)
    if bound.type == TIMESTAMP and kind in (DATE, TIMESTAMP_NTZ, STRING):
        return convert(wall_time(bound, zone), kind)
    if kind == TIMESTAMP and bound.type in (DATE, TIMESTAMP_NTZ):
        if isinstance(bound, Literal) and isinstance(bound.value, int):
            return Literal(_instant(bound.value, bound.type, zone), TIMESTAMP)
        wall = convert(bound, TIMESTAMP_NTZ)
        return Call("to_instant", (wall, zone_literal(zone)), TIMESTAMP)
    if kind == TIMESTAMP and bound.type == STRING:
        return Call("text_to_instant", (bound, zone_literal(zone)), TIMESTAMP)
    return convert(bound, kind)


def _instant(value: int, kind: ColumnType, zone: str) -> int:
    wall_us = value * DAY_US if kind == DATE else value
    return int((zone_named(zone) or UTC_ZONE).instant([wall_us])[0])
