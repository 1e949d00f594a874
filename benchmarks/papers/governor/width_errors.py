"""Figures 2 and 3: accumulated errors of widths that take the same memory.

The budget lies at random between what level B needs and what level A needs. The paper shows errors
before and after adjusting, with windows as they are before drawn at random; so do we. As random
widths are easy to be better than, two other ways to share the budget stand beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from papers.governor.accumulated_error import accumulated_error_us
from papers.governor.draws import drawn_tables, drawn_widths_us
from papers.governor.soundness import NotSoundError
from windrow.governor.b_support import b_support
from windrow.governor.figures import WindowFigures, figures_of
from windrow.governor.memory_taken import static_sum
from windrow.governor.tables import SECOND_US, Demand

__all__ = ["AFTER", "EQUAL", "PROPORTIONAL", "RANDOM", "width_errors"]

RANDOM = "before: widths at random"
EQUAL = "equal widths"
PROPORTIONAL = "in proportion to ranges"
AFTER = "after: B-Support"
# Sums of memory are in floating point.
TOLERANCE = 1e-9


def width_errors(
    queries: int,
) -> Callable[[int, np.random.Generator], dict[str, dict[str, float]]]:
    """An instance of so many queries: errors in seconds, and queries beyond their own error."""

    def run(windows: int, generator: np.random.Generator) -> dict[str, dict[str, float]]:
        drawn = drawn_tables(windows, queries, generator)
        figures = figures_of(drawn.windows, drawn.demands)
        least = static_sum([each.least_us for each in figures], figures)
        most = static_sum([each.range_us for each in figures], figures)
        budget = float(generator.uniform(least, most))
        found = {}
        for name, widths_us in _contenders(figures, budget, generator).items():
            if static_sum(widths_us, figures) > budget * (1 + TOLERANCE):
                raise NotSoundError(f"{name} takes more than the budget")
            found[name] = _measures(widths_us, figures, drawn.demands)
        if found[AFTER]["unserved_percent"] > 0:
            raise NotSoundError("B-Support leaves queries beyond their error")
        return found

    return run


def _contenders(
    figures: Sequence[WindowFigures], budget: float, generator: np.random.Generator
) -> dict[str, Sequence[int]]:
    ranges_us = [each.range_us for each in figures]
    per_us = [each.bytes_per_us for each in figures]
    share = budget / static_sum(ranges_us, figures)
    return {
        RANDOM: drawn_widths_us(ranges_us, per_us, budget, generator),
        EQUAL: [int(budget / sum(per_us))] * len(figures),
        PROPORTIONAL: [int(range_us * share) for range_us in ranges_us],
        AFTER: b_support(figures, budget),
    }


def _measures(
    widths_us: Sequence[int], figures: Sequence[WindowFigures], demands: Sequence[Demand]
) -> dict[str, float]:
    width_of = {each.window: width for each, width in zip(figures, widths_us, strict=True)}
    unserved = sum(width_of[each.window] < each.least_us for each in demands)
    return {
        "error_s": accumulated_error_us(widths_us, figures) / SECOND_US,
        "unserved_percent": 100 * unserved / len(demands),
    }
