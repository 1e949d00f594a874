"""The governor's one decision: how wide each window is, by the best level that fits the budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from windrow.governor.a_support import a_support
from windrow.governor.admission import Refused, refusal
from windrow.governor.b_support import b_support
from windrow.governor.c_support import (
    NO_WINDOWS,
    Need,
    c_support,
    need_at_once,
    need_of,
    need_with,
)
from windrow.governor.figures import WindowFigures, active_demands, figures_of
from windrow.governor.groups.solve import TIME_LIMIT_S
from windrow.governor.memory_taken import memory_taken, static_sum
from windrow.governor.running import Running
from windrow.governor.tables import Decision, Demand, WidthGiven, WindowState

__all__ = ["case_of", "decide", "narrowest"]

# Quick searches in addition, from other seeds, while turns run that a new decision would disturb.
OTHER_SEARCHES = 2
# Turns that save less than this are not worth it where memory is short by surprise.
WORTH_TURNS = 0.98


def decide(
    windows: Sequence[WindowState],
    demands: Iterable[Demand],
    budget: float,
    fixed_bytes: float = 0.0,
    at_us: int = 0,
    time_limit_s: float = TIME_LIMIT_S,
    quick: bool = False,
    seed: int = 0,
    running: Running = NO_WINDOWS,
    groups: Mapping[str, int] | None = None,
) -> Decision | Refused:
    """The widths for the demands that are alive at an instant, or why there are none.

    running: the windows as they are; their turns go on where they can, and among the ways to make
    all fit, one for which no query waits longer than its delay is taken. groups: that were found
    before, by window; they are tried first.

    budget: bytes, of which fixed_bytes cannot be governed; the figures of a decision are of the
    windows alone. Turns begin at the instant. quick: groups found within milliseconds, and the same
    on any machine, for a caller that decides again afterwards; they may be refused where better
    ones would fit, if the refusal is not proven.

    >>> rows = WindowState("s", row_bytes=10, rate=100)
    >>> minute = Demand("minute", "s", range_us=60_000_000, tolerance_us=20_000_000)
    >>> decide([rows], [minute], budget=50_000).of("s").level(minute)
    'B'
    >>> decide([rows], [minute], budget=30_000).least_bytes
    40000.0
    """
    demands = active_demands(demands, at_us)
    figures = figures_of(windows, demands)
    available = budget - fixed_bytes
    case = case_of(figures, available)
    if case != "C":
        widths_us = (a_support if case == "A" else b_support)(figures, available)
        widths = tuple(
            WidthGiven(each.window, width_us)
            for each, width_us in zip(figures, widths_us, strict=True)
        )
        solver = "proportional" if case == "A" else "greedy"
        return _decision(case, widths, figures, need_at_once(figures), solver)
    found, clocks_us = None, _clocks(windows)
    for need in _needs(figures, running, groups, (time_limit_s, quick, seed)):
        if need.least_bytes > available:
            continue
        calm = c_support(figures, need, available, at_us, demands, running, clocks_us)
        if found is None or calm.late_us < found.late_us:
            solver = need.grouping.solver
            found = _decision(case, calm.widths, figures, need, solver, calm.late_us)
        if not found.late_us:
            return found
    unchanged = _unchanged(figures, demands, running, available, need)
    return unchanged or found or refusal(windows, demands, budget, fixed_bytes, need)


def _clocks(windows: Sequence[WindowState]) -> dict[str, int]:
    return {each.window: each.clock_us for each in windows if each.clock_us is not None}


def _needs(
    figures: Sequence[WindowFigures],
    running: Running,
    groups: Mapping[str, int] | None,
    how: tuple[float, bool, int],
) -> Iterator[Need]:
    """Ways to group windows: as given, as they are, and by searches, the last the best one known.

    Another search is only made where what was found before did not fit, or makes a query wait.
    """
    if groups is not None:
        yield need_with(figures, groups)
    turning = {name: each.given.turn for name, each in running.items()}
    kept = {name: turn.group for name, turn in turning.items() if turn is not None}
    if kept:
        yield need_with(figures, kept)
    time_limit_s, quick, seed = how
    if kept and quick:
        for other in range(OTHER_SEARCHES):
            yield need_of(figures, time_limit_s, quick, seed + 1 + other)
    yield need_of(figures, time_limit_s, quick, seed)


def _unchanged(
    figures: Sequence[WindowFigures],
    demands: Sequence[Demand],
    running: Running,
    available_bytes: float,
    need: Need,
) -> Decision | None:
    """The widths as they are, if they serve all demands still, and fit."""
    if any(each.window not in running for each in figures):
        return None
    widths = tuple(running[each.window].given for each in figures)
    decision = _decision("C", widths, figures, need, "kept")
    is_served = all(running[each.window].given.level(each) != "none" for each in demands)
    return decision if is_served and decision.bytes <= available_bytes else None


def narrowest(
    windows: Sequence[WindowState],
    demands: Iterable[Demand],
    at_us: int = 0,
    running: Running = NO_WINDOWS,
    level: str = "C",
) -> Decision:
    """The least memory at which all is within its error: whether that fits or not.

    level: 'B', or 'C', where turns save any memory.

    >>> rows = WindowState("s", row_bytes=10, rate=100)
    >>> minute = Demand("minute", "s", range_us=60_000_000, tolerance_us=20_000_000)
    >>> narrowest([rows], [minute]).of("s").width_us
    40000000
    """
    demands = active_demands(demands, at_us)
    figures = figures_of(windows, demands)
    widths = tuple(WidthGiven(each.window, each.least_us) for each in figures)
    constant = found = _decision("B", widths, figures, need_at_once(figures), "greedy")
    for need in () if level == "B" else _needs(figures, running, None, (0.0, True, 0)):
        calm = c_support(figures, need, need.least_bytes, at_us, demands, running, _clocks(windows))
        case = "C" if any(each.turn is not None for each in calm.widths) else "B"
        if need.least_bytes > WORTH_TURNS * constant.bytes:
            continue
        if found is constant or (calm.late_us, need.least_bytes) < (
            found.late_us,
            found.least_bytes,
        ):
            solver = need.grouping.solver
            found = _decision(case, calm.widths, figures, need, solver, calm.late_us)
    return found


def case_of(figures: Sequence[WindowFigures], available_bytes: float) -> str:
    """The level that memory is enough for: 'A' or 'B', or else 'C', which may need more too."""
    if static_sum([each.range_us for each in figures], figures) <= available_bytes:
        return "A"
    if static_sum([each.least_us for each in figures], figures) <= available_bytes:
        return "B"
    return "C"


def _decision(
    case: str,
    widths: tuple[WidthGiven, ...],
    figures: Sequence[WindowFigures],
    need: Need,
    solver: str,
    late_us: int = 0,
) -> Decision:
    return Decision(
        case,
        widths,
        memory_taken(widths, {each.window: each.bytes_per_us for each in figures}),
        need.least_bytes,
        need.bound_bytes,
        solver,
        late_us,
    )
