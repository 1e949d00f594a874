"""What a history of a stream keeps, as it was declared: names looked up, spans in microseconds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from windrow.errors import BindingError
from windrow.event_time import span_of
from windrow.plan.names import column_named
from windrow.plan.nearest import nearest
from windrow.schema import Column, StreamSchema

__all__ = ["FOREVER", "HistorySchema", "LevelSpans", "declared_history"]

FOREVER = "forever"
Span = str | int | float | timedelta
LevelSpans = Sequence[Sequence[Span | None]]


@dataclass(frozen=True)
class HistorySchema:
    """Measures to query, keys to group by, and levels from fine to coarse.

    levels: pairs of granularity and retention in microseconds; None: for ever. quantiles:
    measures with a sketch of their distribution; distincts: columns with one of their different
    values. split_above: rows that a leaf of the tree may have; None: as many as serves best.
    """

    stream: StreamSchema
    measures: tuple[Column, ...]
    keys: tuple[Column, ...]
    levels: tuple[tuple[int, int | None], ...]
    quantiles: tuple[str, ...] = ()
    distincts: tuple[Column, ...] = ()
    split_above: int | None = None

    @property
    def granularities_us(self) -> tuple[int, ...]:
        """Of all levels."""
        return tuple(granularity_us for granularity_us, _ in self.levels)

    def declared(self) -> dict[str, Any]:
        """What history() of a session takes in addition to the name of the stream."""
        return {
            "measures": [column.name for column in self.measures],
            "by": [column.name for column in self.keys],
            "levels": [(_delta(grain_us), _delta(kept_us)) for grain_us, kept_us in self.levels],
            "quantiles": list(self.quantiles),
            "distincts": [column.name for column in self.distincts],
            "split_above": self.split_above,
        }


def _delta(span_us: int | None) -> timedelta | None:
    return None if span_us is None else timedelta(microseconds=span_us)


def declared_history(
    stream: StreamSchema,
    measures: Iterable[str],
    by: Iterable[str],
    levels: LevelSpans,
    quantiles: Iterable[str] = (),
    distincts: Iterable[str] = (),
    split_above: int | None = None,
) -> HistorySchema:
    """The history of a stream from names and spans; levels are checked where they are used."""
    if split_above is not None and (not isinstance(split_above, int) or split_above < 0):
        raise BindingError(
            "WB323",
            f"split_above={split_above!r} is not a number of rows",
            hint="omit it, or give an integer of at least 0",
        )
    return HistorySchema(
        stream,
        _columns(stream, "measures", measures),
        _columns(stream, "by", by),
        _levels(levels),
        tuple(column.name for column in _columns(stream, "quantiles", quantiles)),
        _columns(stream, "distincts", distincts),
        split_above,
    )


def _columns(stream: StreamSchema, what: str, names: Iterable[str]) -> tuple[Column, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise BindingError(
            "WB321",
            f"{what}={names!r} is not a list of columns",
            hint=f"write {what}=[{names!r}]" if isinstance(names, str) else "give a list of names",
        )
    return tuple(_column(stream, what, name) for name in names)


def _column(stream: StreamSchema, what: str, name: str) -> Column:
    found = column_named(stream, name) if isinstance(name, str) else None
    if found is None:
        known = [column.name for column in stream.columns]
        guess = nearest(str(name), known)
        listed = f"the columns are {', '.join(known)}"
        raise BindingError(
            "WB322",
            f"{what} names {name!r}, but stream {stream.name!r} has no such column",
            hint=f"did you mean {guess}? {listed}" if guess else listed,
        )
    return found


def _levels(levels: object) -> tuple[tuple[int, int | None], ...]:
    found = []
    for level in _listed(levels):
        pair = _listed(level)
        if len(pair) != 2:
            raise _not_levels(level)
        granularity, retention = pair
        is_endless = isinstance(retention, str) and retention.strip().lower() == FOREVER
        kept = None if retention is None or is_endless else _span(retention)
        found.append((_span(granularity), kept))
    return tuple(found)


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise _not_levels(value)
    return value


def _span(value: object) -> int:
    if not isinstance(value, (str, int, float, timedelta)):
        raise _not_levels(value)
    return span_of(value)


def _not_levels(given: object) -> BindingError:
    return BindingError(
        "WB324",
        f"{given!r} is not a list of granularities with their retention times",
        hint="give pairs from fine to coarse, such as [('1 second', '10 minutes'), "
        "('1 minute', '1 day'), ('1 hour', 'forever')]",
    )
