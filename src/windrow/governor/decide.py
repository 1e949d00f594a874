"""The governor's one decision: how wide each window is, by the best level that fits the budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from windrow.governor.a_support import a_support
from windrow.governor.admission import Refused, refusal
from windrow.governor.b_support import b_support
from windrow.governor.c_support import Need, c_support, need_at_once, need_of
from windrow.governor.figures import WindowFigures, active_demands, figures_of
from windrow.governor.groups.solve import TIME_LIMIT_S
from windrow.governor.memory_taken import memory_taken, static_sum
from windrow.governor.tables import Decision, Demand, WidthGiven, WindowState

__all__ = ["case_of", "decide", "narrowest"]


def decide(
    windows: Sequence[WindowState],
    demands: Iterable[Demand],
    budget: float,
    fixed_bytes: float = 0.0,
    at_us: int = 0,
    time_limit_s: float = TIME_LIMIT_S,
    quick: bool = False,
    seed: int = 0,
) -> Decision | Refused:
    """The widths for the demands that are alive at an instant, or why there are none.

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
    need = need_of(figures, time_limit_s, quick, seed)
    if need.least_bytes > available:
        return refusal(windows, demands, budget, fixed_bytes, need)
    widths = c_support(figures, need, available, at_us)
    return _decision(case, widths, figures, need, need.grouping.solver)


def narrowest(
    windows: Sequence[WindowState], demands: Iterable[Demand], at_us: int = 0
) -> Decision:
    """Widths at which all is within its error, always, and no more: whether they fit or not.

    >>> rows = WindowState("s", row_bytes=10, rate=100)
    >>> minute = Demand("minute", "s", range_us=60_000_000, tolerance_us=20_000_000)
    >>> narrowest([rows], [minute]).of("s").width_us
    40000000
    """
    figures = figures_of(windows, active_demands(demands, at_us))
    widths = tuple(WidthGiven(each.window, each.least_us) for each in figures)
    return _decision("B", widths, figures, need_at_once(figures), "greedy")


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
) -> Decision:
    return Decision(
        case,
        widths,
        memory_taken(widths, {each.window: each.bytes_per_us for each in figures}),
        need.least_bytes,
        need.bound_bytes,
        solver,
    )
