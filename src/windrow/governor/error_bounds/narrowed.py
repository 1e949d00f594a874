"""What the error bounds of narrower windows would be, for many widths and instants at once.

A window that lacks `span` panes and whose range begins within pane `oldest` lacks a part of that
pane, the next span - 1, and a part of the pane that it is cut in:

    | oldest | whole panes ... | edge | held ... newest |

Where in the two panes the cuts are depends on the instant; the bounds hold for all of them, with
the part of the pane at the edge that would be held left out of account. An answer that is completed
from panes is uncertain in the two panes that are cut alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction, Form
from windrow.governor.error_bounds.bounds import (
    completed_bounds,
    completed_truths,
    relative_error_bounds,
)
from windrow.governor.error_bounds.intervals import Floats, Interval
from windrow.governor.error_bounds.pane_totals import PaneTotals
from windrow.governor.error_bounds.tail import HeldValues, Tail

__all__ = ["narrowed_bounds"]

Panes = NDArray[np.int64]


def narrowed_bounds(
    function: str,
    totals: PaneTotals,
    oldest: Panes,
    newest: int,
    spans: int,
    *,
    is_completed: bool = False,
) -> Floats:
    """Bounds[instant, span - 1, group] for spans of 1 to `spans` panes.

    oldest: the number of the pane in which the range begins, for each instant. newest: that of the
    last pane held, for all of them. is_completed: of answers from the rows held and the panes that
    are lacking; else from the rows held alone.
    """
    traits = AGGREGATE_FUNCTIONS[function]
    places = _Places(oldest - totals.first_pane, newest - totals.first_pane, spans)
    with np.errstate(all="ignore"):
        count = places.sums(totals.count)
        if traits.is_count:
            tail, value = _counted(count), count.held
        elif traits.form is Form.SUM:
            tail, value = _summed(count, places, totals)
        elif traits.form is Form.EXTREME:
            tail, value = _extreme(traits, count, places, totals)
        else:
            tail, value = _spread(traits, count, places, totals)
        held = HeldValues(count.held, value)
        if is_completed:
            return completed_bounds(completed_truths(function, tail, held))[1]
        return relative_error_bounds(function, tail, held)


@dataclass(frozen=True)
class _Parts:
    """A quantity in the parts of the windows: [instant, span, group]."""

    oldest: Floats
    whole: Floats
    edge: Floats
    held: Floats


@dataclass(frozen=True)
class _Places:
    """Where the parts of the windows are; panes after the newest count as empty."""

    oldest: Panes
    newest: int
    spans: int

    def sums(self, panes: Floats) -> _Parts:
        """A quantity that adds up."""
        padded = self._padded(panes, 0.0)
        within = np.cumsum(padded[self._edges()], axis=1)
        held = np.cumsum(padded[::-1], axis=0)[::-1]
        return self._parts(padded, within, held, 0.0)

    def lowest(self, panes: Floats) -> _Parts:
        """The smallest of each part."""
        padded = self._padded(panes, np.inf)
        within = np.minimum.accumulate(padded[self._edges()], axis=1)
        held = np.minimum.accumulate(padded[::-1], axis=0)[::-1]
        return self._parts(padded, within, held, np.inf)

    def _parts(self, padded: Floats, within: Floats, held: Floats, empty: float) -> _Parts:
        edges = self._edges()
        whole = np.full_like(within, empty)
        whole[:, 1:] = within[:, :-1]
        oldest = np.broadcast_to(padded[self.oldest][:, None], whole.shape)
        return _Parts(oldest, whole, padded[edges], held[edges + 1])

    def _edges(self) -> Panes:
        edges: Panes = self.oldest[:, None] + np.arange(1, self.spans + 1)
        return edges

    def _padded(self, panes: Floats, empty: float) -> Floats:
        beyond = np.full((self.spans + 2, panes.shape[1]), empty)
        return np.concatenate([panes[: self.newest + 1], beyond])


def _counted(count: _Parts) -> Tail:
    """A tail of which only the count is known."""
    nothing = np.zeros_like(count.whole)
    none = Interval(nothing, nothing)
    rows = Interval(count.whole, count.whole + count.oldest + count.edge)
    return Tail(rows, none, none, none, none, none, nothing)


def _summed(count: _Parts, places: _Places, totals: PaneTotals) -> tuple[Tail, Floats]:
    positive, negative = places.sums(totals.positive), places.sums(totals.negative)
    whole = positive.whole + negative.whole
    low = whole + negative.oldest + negative.edge
    high = whole + positive.oldest + positive.edge
    tail = Tail(**{**vars(_counted(count)), "sum": Interval(low, high)})
    return tail, positive.held + negative.held


def _extreme(
    function: AggregateFunction, count: _Parts, places: _Places, totals: PaneTotals
) -> tuple[Tail, Floats]:
    sign = -1 if function.is_greatest else 1
    parts = places.lowest(-totals.highest if function.is_greatest else totals.lowest)
    least = np.minimum(np.minimum(parts.oldest, parts.edge), parts.whole)
    if function.is_greatest:
        known = {"highest": Interval(-parts.whole, -least)}
    else:
        known = {"lowest": Interval(least, parts.whole)}
    return Tail(**{**vars(_counted(count)), **known}), sign * parts.held


def _spread(
    function: AggregateFunction, count: _Parts, places: _Places, totals: PaneTotals
) -> tuple[Tail, Floats]:
    """About the mean of what is held, as the distances from it of what is lacking are small."""
    deviation, squares = places.sums(totals.deviation), places.sums(totals.squares)
    mean = deviation.held / np.maximum(count.held, 1)
    center = totals.center + mean
    low = high = deviation.whole - count.whole * mean
    least = most = _about(mean, count.whole, deviation.whole, squares.whole)
    lowest, highest = places.lowest(totals.lowest), places.lowest(-totals.highest)
    for part in ("oldest", "edge"):
        number, distance, square, least_value, most_value = (
            getattr(each, part) for each in (count, deviation, squares, lowest, highest)
        )
        square = _about(mean, number, distance, square)
        distance = distance - number * mean
        reach = np.sqrt(number * square)
        low = low - _share(reach - distance, number, center - least_value)
        high = high + _share(reach + distance, number, -most_value - center)
        most = most + square
    known = {"deviation": Interval(low, high), "squares": Interval(least, most), "center": center}
    tail = Tail(**{**vars(_counted(count)), **known})
    if function.form is Form.MEAN:
        return tail, center
    held = _about(mean, count.held, deviation.held, squares.held)
    variance = held / np.maximum(count.held - function.rows_less, 1)
    return tail, np.sqrt(variance) if function.is_root else variance


def _share(twice: Floats, count: Floats, farthest: Floats) -> Floats:
    """How far some of the rows of a pane that is cut can move a sum of distances."""
    most: Floats = np.minimum(np.maximum(twice, 0) / 2, count * np.maximum(farthest, 0))
    return np.where(count > 0, most, 0.0)


def _about(mean: Floats, count: Floats, deviation: Floats, squares: Floats) -> Floats:
    """Squares about another centre."""
    moved: Floats = np.maximum(squares - 2 * mean * deviation + count * mean * mean, 0)
    return moved
