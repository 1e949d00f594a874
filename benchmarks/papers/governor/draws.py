"""Random windows and queries; the paper says that they are random, and not how.

Sizes are about those of the paper's own example tables: rows of 80 and 100 bytes at 2 and 4 rows/s,
ranges of 80 and 110 s that tolerate 8 and 5 s less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.governor.groups.turning import TurningWindows
from windrow.governor.tables import SECOND_US, Demand, WindowState

__all__ = ["Drawn", "drawn_tables", "drawn_turning", "drawn_widths_us"]

# Each is drawn evenly between the two, both included.
ROW_BYTES = (50, 150)
ROWS_PER_S = (1, 10)
RANGE_S = (10, 200)
ERROR_SHARE = (0.0, 0.2)  # of the range
DELAY_S = (1, 60)
# Of windows that are drawn without queries, in whole seconds and bytes.
GROWTH_S = (1, 20)
PERIOD_S = (10, 100)
EXCHANGE_BYTES = (1, 1000)
# Widths at random, as a share of the widest range, before they are fitted to the budget.
WIDTH_SHARE = (0.5, 1.5)


@dataclass(frozen=True)
class Drawn:
    """One instance: the two tables of the governor."""

    windows: tuple[WindowState, ...]
    demands: tuple[Demand, ...]


def drawn_tables(windows: int, queries: int, generator: np.random.Generator) -> Drawn:
    """Windows, and queries each of which reads one; every window is read by one at least."""
    assert queries >= windows, f"{queries} queries leave some of {windows} windows unread"
    row_bytes = generator.integers(*ROW_BYTES, windows, endpoint=True).tolist()
    rates = generator.integers(*ROWS_PER_S, windows, endpoint=True).tolist()
    read = np.concatenate([np.arange(windows), generator.integers(0, windows, queries - windows)])
    range_us = _span_us(RANGE_S, queries, generator)
    tolerance_us = (range_us * generator.uniform(*ERROR_SHARE, queries)).astype(np.int64)
    delay_us = _span_us(DELAY_S, queries, generator)
    columns = (read.tolist(), range_us.tolist(), tolerance_us.tolist(), delay_us.tolist())
    return Drawn(
        tuple(
            WindowState(f"w{place}", float(size), float(rate))
            for place, (size, rate) in enumerate(zip(row_bytes, rates, strict=True))
        ),
        tuple(
            Demand(f"q{number}", f"w{place}", *spans)
            for number, (place, *spans) in enumerate(zip(*columns, strict=True))
        ),
    )


def drawn_turning(windows: int, generator: np.random.Generator) -> TurningWindows:
    """Windows that need turns, without queries behind them."""
    growth_us = generator.integers(*GROWTH_S, windows, endpoint=True) * SECOND_US
    period_us = generator.integers(*PERIOD_S, windows, endpoint=True) * SECOND_US
    exchange = np.sort(generator.integers(*EXCHANGE_BYTES, windows, endpoint=True))[::-1]
    return TurningWindows(
        tuple(f"w{place}" for place in range(windows)),
        growth_us,
        np.maximum(growth_us, period_us),
        exchange.astype(np.float64),
    )


def drawn_widths_us(
    ranges_us: list[int], bytes_per_us: list[float], budget: float, generator: np.random.Generator
) -> list[int]:
    """Widths that take the budget: a random share of the widest range, all by the same factor."""
    widths_us = np.array(ranges_us) * generator.uniform(*WIDTH_SHARE, len(ranges_us))
    factor = budget / float(widths_us @ np.array(bytes_per_us))
    return [int(each) for each in widths_us * factor]


def _span_us(
    seconds: tuple[int, int], count: int, generator: np.random.Generator
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    low, high = seconds
    return generator.integers(low * SECOND_US, high * SECOND_US, count, endpoint=True)
