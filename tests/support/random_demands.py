"""Random tables of the governor, and random windows that need turns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from windrow.governor.c_support import need_of
from windrow.governor.figures import figures_of
from windrow.governor.groups.turning import TurningWindows
from windrow.governor.memory_taken import static_sum
from windrow.governor.tables import SECOND_US, Demand, WindowState

# Instances of the paper's experiments: growth and period in seconds, exchange in bytes.
GROWTH = (1, 20)
PERIOD = (10, 100)
EXCHANGE = (1, 1000)


@dataclass(frozen=True)
class Tables:
    windows: tuple[WindowState, ...]
    demands: tuple[Demand, ...]


def random_turning(size: int, seed: int, *, is_ragged: bool = False) -> TurningWindows:
    """Windows by falling exchange; ragged: times are no whole seconds."""
    generator = np.random.default_rng(seed)
    growth = generator.integers(*GROWTH, size, endpoint=True) * SECOND_US
    period = generator.integers(*PERIOD, size, endpoint=True) * SECOND_US
    exchange = np.sort(generator.integers(*EXCHANGE, size, endpoint=True).astype(np.float64))[::-1]
    if is_ragged:
        growth -= generator.integers(0, SECOND_US, size)
        period += generator.integers(0, SECOND_US, size)
    return TurningWindows(
        tuple(f"w{place}" for place in range(size)),
        growth,
        np.maximum(period, growth),
        np.ascontiguousarray(exchange),
    )


def turning_of(rows: list[tuple[int, int, int]]) -> TurningWindows:
    """Windows of rows (growth, period, exchange), in any order."""
    rows = sorted(rows, key=lambda row: -row[2])
    return TurningWindows(
        tuple(f"w{place}" for place in range(len(rows))),
        np.array([row[0] for row in rows], np.int64),
        np.array([max(row[0], row[1]) for row in rows], np.int64),
        np.array([row[2] for row in rows], np.float64),
    )


def small_turning(most: int) -> st.SearchStrategy[TurningWindows]:
    """Few windows with small whole numbers, so that ties and exact fits are common."""
    row = st.tuples(st.integers(1, 9), st.integers(1, 24), st.integers(1, 30))
    return st.lists(row, min_size=1, max_size=most).map(turning_of)


@st.composite
def tables(
    draw: st.DrawFn, most_windows: int = 5, most_demands: int = 12, longest_us: int = 40
) -> Tables:
    """Windows and demands of a few microseconds, in which all cases are common."""
    count = draw(st.integers(1, most_windows))
    rates = draw(st.lists(st.sampled_from([0, 1, 2, 3, 7, 0.5]), min_size=count, max_size=count))
    windows = tuple(
        WindowState(f"w{place}", row_bytes=1.0, rate=rate * SECOND_US)
        for place, rate in enumerate(rates)
    )
    demands = draw(st.lists(demand_rows(count, longest_us), max_size=most_demands))
    named = (Demand(f"q{place}", *row) for place, row in enumerate(demands))
    return Tables(windows, tuple(named))


def demand_rows(windows: int, longest_us: int) -> st.SearchStrategy[tuple[str, int, int, int]]:
    """Window, range, tolerance and delay."""
    return st.tuples(
        st.integers(0, windows - 1).map(lambda place: f"w{place}"),
        st.integers(1, longest_us),
        st.integers(0, longest_us),
        st.sampled_from([0, 0, 1, 2, 3, 5, 8, 13, 21, 34]),
    ).map(lambda row: (row[0], row[1], min(row[1], row[2] // 2), row[3]))


def budget_of(given_tables: Tables, share: float) -> float:
    """A budget between what is needed at the least and a little more than level A takes."""
    figures = figures_of(given_tables.windows, given_tables.demands)
    low = need_of(figures, time_limit_s=1).least_bytes
    high = static_sum([each.range_us for each in figures], figures)
    return low + share * (1.2 * high - low) + 1e-6


def crowded_tables(windows: int, demands: int, seed: int) -> Tables:
    """Many demands, of minutes and some seconds more, on windows with different rates.

    Those on one window are alike, so that turns are short beside the delays that queries tolerate.
    """
    generator = np.random.default_rng(seed)
    states = tuple(
        WindowState(
            f"w{place}", float(generator.integers(16, 64)), float(generator.integers(1, 500))
        )
        for place in range(windows)
    )
    minutes = generator.integers(1, 10, windows)
    rows = []
    for number in range(demands):
        place = int(generator.integers(0, windows))
        range_us = int(minutes[place]) * 60 * SECOND_US + int(generator.integers(0, 12 * SECOND_US))
        tolerance_us = int(range_us * generator.choice([0, 0, 0.01, 0.02]))
        delay_us = int(generator.choice([0, 5, 20, 60])) * SECOND_US
        rows.append(Demand(f"q{number}", f"w{place}", range_us, tolerance_us, delay_us))
    return Tables(states, tuple(rows))
