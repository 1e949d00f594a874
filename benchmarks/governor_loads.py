"""Random tables of the governor, and its greedy as the paper tells it, in plain Python."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from windrow.governor.groups.turning import TurningWindows
from windrow.governor.tables import SECOND_US, Demand, WindowState

__all__ = ["Tables", "plain_a_support", "plain_b_support", "tables_of", "turning_of"]

Tables = tuple[list[WindowState], list[Demand]]


def tables_of(windows: int, queries: int, seed: int) -> Tables:
    """Queries of ten seconds to ten minutes, half of which tolerate an error, and some a delay."""
    generator = np.random.default_rng(seed)
    states = [
        WindowState(
            f"w{place}", float(generator.integers(16, 65)), float(generator.integers(1, 501))
        )
        for place in range(windows)
    ]
    demands = []
    for place in range(queries):
        range_us = int(generator.integers(10 * SECOND_US, 600 * SECOND_US))
        tolerance_us = int(range_us * generator.choice([0.0, 0.0, 0.02, 0.2]))
        delay_us = int(generator.choice([0, 5, 20])) * SECOND_US
        window = f"w{generator.integers(0, windows)}"
        demands.append(Demand(f"q{place}", window, range_us, tolerance_us, delay_us))
    return states, demands


def turning_of(size: int, seed: int) -> TurningWindows:
    """Windows that need turns: growth 1 to 20 s, period 10 to 100 s, exchange 1 to 1,000 bytes.

    Every second load has times that are no whole seconds.
    """
    generator = np.random.default_rng(seed)
    growth = generator.integers(1, 21, size) * SECOND_US
    period = generator.integers(10, 101, size) * SECOND_US
    exchange = np.sort(generator.integers(1, 1001, size).astype(np.float64))[::-1].copy()
    if seed % 2:
        growth -= generator.integers(0, SECOND_US, size)
        period += generator.integers(0, SECOND_US, size)
    names = tuple(f"w{place}" for place in range(size))
    return TurningWindows(names, growth, np.maximum(growth, period), exchange)


def plain_a_support(
    windows: Sequence[WindowState], demands: Sequence[Demand], budget: float
) -> dict[str, float]:
    """The widest ranges, and the rest in proportion."""
    widest = {
        each.window: max((d.range_us for d in demands if d.window == each.window), default=0)
        for each in windows
    }
    rest = budget - sum(widest[each.window] * each.bytes_per_us for each in windows)
    total = sum(widest.values())
    return {
        each.window: widest[each.window] + rest * widest[each.window] / total / each.bytes_per_us
        for each in windows
    }


def plain_b_support(
    windows: Sequence[WindowState], demands: Sequence[Demand], budget: float
) -> dict[str, float]:
    """Step by step: the window whose gain is highest grows up to its next step."""
    by_window = {each.window: [d for d in demands if d.window == each.window] for each in windows}
    width: dict[str, float] = {
        name: max((d.least_us for d in rows), default=0) for name, rows in by_window.items()
    }
    left = budget - sum(width[each.window] * each.bytes_per_us for each in windows)
    while left > 0:
        best, best_gain = None, 0.0
        for each in windows:
            wider = sum(d.range_us > width[each.window] for d in by_window[each.window])
            if wider / each.bytes_per_us > best_gain:
                best, best_gain = each, wider / each.bytes_per_us
        if best is None:
            break
        now = width[best.window]
        step = min(d.range_us for d in by_window[best.window] if d.range_us > now) - now
        step = min(step, left / best.bytes_per_us)
        width[best.window] += step
        left -= step * best.bytes_per_us
        if math.isclose(left, 0.0, abs_tol=1e-6):
            break
    return width
