"""From a tolerated error to a span: how much narrower a window may be (f_q).

The span is the largest for which no width between range - span and range would give an error bound
above the tolerated one, for any group: now, until the horizon, and at earlier instants that the
profile still knows. What is to come until the horizon is not known, and is taken to be nothing;
rows that do come make the error of COUNT, MIN and MAX only smaller. For these the span keeps its
promise until the horizon, whatever comes; so it does for SUM as long as values have one sign, as
all have that the profile knows. Otherwise, for AVG and for variances, it is a forecast from what
was seen; the bound that is reported with every answer is certain for them too.

Groups: the worst counts. Where groups come and go, each is at some time known by rows in the
lacking part alone: the span is 0.
"""

from __future__ import annotations

import numpy as np

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.governor.error_bounds.arrival_profile import ArrivalProfile
from windrow.governor.error_bounds.narrowed import Panes, narrowed_bounds
from windrow.governor.error_bounds.pane_totals import PaneTotals

__all__ = ["EARLIER_INSTANTS", "FORECAST_SHARE", "HORIZON_PARTS", "tolerated_span_us"]

# The horizon, and the distance of earlier instants, as parts of the range.
HORIZON_PARTS = 8
EARLIER_INSTANTS = 8
# The share of the tolerated error that may be used up where rows to come can make it worse. With 1
# some answers in a thousand were off by more than is tolerated (benchmarks/error_bounds.py).
FORECAST_SHARE = 0.8
PROMISED = (Form.ROWS, Form.COUNT, Form.EXTREME)
# Before a whole range was seen, rows are taken to come evenly; other functions have no prior.
EVEN = (Form.ROWS, Form.COUNT, Form.SUM)
FIRST_SPANS = 8
SPANS_GROWTH = 4
CELLS_AT_ONCE = 1 << 16


def tolerated_span_us(
    profile: ArrivalProfile,
    function: str,
    measure: int | None,
    percent: float,
    clock_us: int,
    horizon_us: int | None = None,
    *,
    is_completed: bool = False,
) -> int:
    """Qe: a window of range - Qe, or wider, answers within the error; a whole number of panes.

    measure: None for COUNT(*). horizon_us: until when the span is to last: when it is asked for
    again; a part of the range if not given. The profile goes on to the clock. is_completed: answers
    are made of the rows held and of panes.
    """
    profile.advance(clock_us)
    if horizon_us is None:
        horizon_us = profile.range_us // HORIZON_PARTS
    # A row that comes from now on must stay in the window until the horizon, and so must its pane.
    panes = max(0, (profile.range_us - horizon_us) // profile.pane_us - 2)
    # Rows that are completed from panes need no guess of how many are to come, but some to go by.
    begun_us = clock_us - profile.range_us // HORIZON_PARTS
    is_begun = is_completed and (profile.earliest_us or clock_us) <= begun_us
    if not is_begun and not _is_range_seen(profile, clock_us):
        panes = min(panes, _prior_panes(profile, function, percent))
    windows = _windows(profile, clock_us, horizon_us)
    width = max(1, CELLS_AT_ONCE // profile.ring_panes)
    for first_group in range(0, profile.group_count, width):
        totals = profile.totals(measure, first_group, width)
        allowed = percent / 100 * (1.0 if _is_promised(function, totals) else FORECAST_SHARE)
        for oldest, newest in windows:
            panes = _most_panes(
                function, totals, oldest, newest, panes, allowed, is_completed=is_completed
            )
    return panes * profile.pane_us


def _is_promised(function: str, totals: PaneTotals) -> bool:
    """Whether rows to come, of the kind that came, can only make the error smaller."""
    form = AGGREGATE_FUNCTIONS[function].form
    if form is Form.SUM:
        return not (totals.positive.any() and totals.negative.any())
    return form in PROMISED


def _is_range_seen(profile: ArrivalProfile, clock_us: int) -> bool:
    if profile.earliest_us is None:
        return False
    return clock_us - profile.range_us >= max(profile.earliest_us, profile.known_from_us)


def _prior_panes(profile: ArrivalProfile, function: str, percent: float) -> int:
    """What is tolerated of a stream of which too little is known."""
    if AGGREGATE_FUNCTIONS[function].form not in EVEN:
        return 0
    return int(min(percent, 100) / 100 * profile.range_us) // profile.pane_us


def _windows(profile: ArrivalProfile, clock_us: int, horizon_us: int) -> list[tuple[Panes, int]]:
    """The windows to judge by: in which pane they begin, and in which they end.

    Those that end at the same instant are together. The first are of now alone: they mostly leave
    few spans to try with the others.
    """
    now = clock_us // profile.pane_us
    begin_us = clock_us - profile.range_us
    ahead = np.arange(
        begin_us // profile.pane_us, (begin_us + horizon_us) // profile.pane_us + 1, dtype=np.int64
    )
    windows = [(ahead[:1], now)]
    for part in range(1, EARLIER_INSTANTS + 1):
        earlier_us = clock_us - part * profile.range_us // EARLIER_INSTANTS
        oldest = (earlier_us - profile.range_us) // profile.pane_us
        if _is_range_seen(profile, earlier_us):
            windows.append((np.array([oldest]), earlier_us // profile.pane_us))
    windows.append((ahead[1:], now))
    known_from = profile.known_from_us
    known = [(oldest[oldest * profile.pane_us >= known_from], end) for oldest, end in windows]
    return [(oldest, end) for oldest, end in known if oldest.size]


def _most_panes(
    function: str,
    totals: PaneTotals,
    oldest: Panes,
    newest: int,
    limit: int,
    allowed: float,
    *,
    is_completed: bool,
) -> int:
    """The most panes, up to a limit, that all the windows may lack; so with any fewer."""
    spans = min(FIRST_SPANS, limit)
    while spans > 0:
        passed = spans
        cells = spans * totals.count.shape[1]
        for part in np.array_split(oldest, -(-oldest.size * cells // CELLS_AT_ONCE)):
            bounds = narrowed_bounds(
                function, totals, part, newest, spans, is_completed=is_completed
            )
            failed = (bounds > allowed).any(axis=(0, 2))
            passed = min(passed, int(failed.argmax()) if failed.any() else spans)
        if passed < spans or spans == limit:
            return passed
        spans = min(SPANS_GROWTH * spans, limit)
    return 0
