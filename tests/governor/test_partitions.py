"""Partitions into groups: fast ones against all partitions, and bounds against what is best."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import random_turning, small_turning, turning_of
from support.slow_partitions import cost_of, is_valid, least_cost
from windrow.governor.groups import kernels
from windrow.governor.groups.partitions import (
    SUBSETS_LIMIT,
    best_by_subsets,
    first_fit,
    ruin_recreate,
)
from windrow.governor.groups.solve import solve, solve_at_once, solve_quickly
from windrow.governor.groups.turning import TurningWindows, is_partition, shared_bytes
from windrow.governor.groups.volume_bound import volume_bound


@given(small_turning(7))
def test_subsets_find_the_best_of_all_partitions(turning: TurningWindows) -> None:
    groups = best_by_subsets(turning)
    assert cost_of(turning, groups) == least_cost(turning)


@given(small_turning(9))
def test_first_fit_takes_the_first_group_that_stays_valid(turning: TurningWindows) -> None:
    parts: list[list[int]] = []
    for window in range(turning.size):
        for part in parts:
            both = [*part, window]
            if turning.growth_us[both].sum() <= turning.period_us[both].min():
                part.append(window)
                break
        else:
            parts.append([window])
    expected = [next(n for n, part in enumerate(parts) if w in part) for w in range(turning.size)]
    assert first_fit(turning).tolist() == expected


@given(small_turning(8), st.data())
def test_windows_are_put_where_the_shares_grow_least(
    turning: TurningWindows, data: st.DataObject
) -> None:
    groups = best_by_subsets(turning)
    groups[data.draw(st.lists(st.integers(0, turning.size - 1), min_size=1, max_size=4))] = -1
    if (groups >= 0).any():
        groups[groups >= 0] = np.unique(groups[groups >= 0], return_inverse=True)[1]
    parts = [np.flatnonzero(groups == number).tolist() for number in range(groups.max() + 1)]
    for window in np.flatnonzero(groups < 0).tolist():
        room = [part for part in parts if is_valid(turning, [*part, window])]
        exchange = turning.exchange
        dearer = [max(0.0, exchange[window] - exchange[part].max()) for part in room]
        if room:
            room[dearer.index(min(dearer))].append(window)
        else:
            parts.append([window])
    count = kernels.place_rest(turning.growth_us, turning.period_us, turning.exchange, groups)
    assert count == len(parts)
    assert [np.flatnonzero(groups == number).tolist() for number in range(count)] == [
        sorted(part) for part in parts
    ]


def test_a_dear_window_goes_to_a_dear_group() -> None:
    turning = turning_of([(1, 10, 9), (1, 10, 8), (1, 10, 1)])
    groups = np.array([-1, 1, 0])
    kernels.place_rest(turning.growth_us, turning.period_us, turning.exchange, groups)
    assert groups.tolist() == [1, 1, 0]


@given(small_turning(7), st.integers(0, 5))
def test_ruin_and_recreate_finds_the_best_of_few(turning: TurningWindows, seed: int) -> None:
    groups = ruin_recreate(turning, first_fit(turning), iterations=1000, seed=seed)
    assert cost_of(turning, groups) == least_cost(turning)


@pytest.mark.parametrize("is_ragged", [False, True])
@pytest.mark.parametrize("size", [1, 2, 12, 50, 130])
def test_ruin_and_recreate_is_valid_no_dearer_and_repeats(size: int, is_ragged: bool) -> None:
    turning = random_turning(size, seed=size, is_ragged=is_ragged)
    start = first_fit(turning)
    before = start.copy()
    groups = ruin_recreate(turning, start, iterations=3000, seed=3)
    assert (start == before).all()
    assert cost_of(turning, groups) <= cost_of(turning, start)
    assert (groups == ruin_recreate(turning, start, iterations=3000, seed=3)).all()
    if size >= 50:
        assert cost_of(turning, groups) < cost_of(turning, start)


@pytest.mark.parametrize("seed", range(5))
def test_however_hot_it_is_the_best_seen_is_kept(seed: int) -> None:
    turning = random_turning(12, seed)
    best = best_by_subsets(turning)
    groups = ruin_recreate(turning, best, iterations=500, seed=seed, heat=(1e9, 1e9))
    assert cost_of(turning, groups) == cost_of(turning, best)


@pytest.mark.parametrize("seed", range(8))
def test_ruin_and_recreate_is_as_good_as_subsets(seed: int) -> None:
    turning = random_turning(13, seed, is_ragged=bool(seed % 2))
    groups = ruin_recreate(turning, first_fit(turning), iterations=8000, seed=1)
    assert cost_of(turning, groups) == cost_of(turning, best_by_subsets(turning))


@given(small_turning(7))
def test_the_volume_bound_is_one(turning: TurningWindows) -> None:
    assert volume_bound(turning) <= least_cost(turning) + 1e-9


def test_the_volume_bound_counts_groups_that_are_needed() -> None:
    apart = turning_of([(5, 8, 9), (5, 8, 7), (5, 8, 4)])
    assert volume_bound(apart) == 9 + 7
    assert least_cost(apart) == 9 + 7 + 4


@given(small_turning(7))
def test_each_solver_says_what_it_found_and_proves_it(turning: TurningWindows) -> None:
    best = least_cost(turning)
    for found in (solve(turning), solve_quickly(turning), solve_at_once(turning)):
        assert found.bound_bytes <= best + 1e-9
        assert best - 1e-9 <= found.shared_bytes == cost_of(turning, found.groups)
    assert (solve(turning).shared_bytes, solve(turning).bound_bytes) == (best, best)


def test_what_first_fit_has_found_already_is_said_to_be_its_own() -> None:
    easy = turning_of([(1, 100, exchange) for exchange in range(1, 31)])
    for found in (solve_at_once(easy), solve_quickly(easy), solve(easy)):
        assert (found.solver, found.shared_bytes, found.bound_bytes) == ("ap", 30.0, 30.0)


def test_times_add_up_without_overflow() -> None:
    """Growths of years: sums are exact, and one microsecond too many is too many."""
    year_us = 365 * 86_400_000_000
    for period_us, groups in ((300 * year_us, 1), (300 * year_us - 1, 2)):
        windows = turning_of([(100 * year_us, period_us, 3)] * 3)
        assert cost_of(windows, best_by_subsets(windows)) == 3 * groups
        assert cost_of(windows, first_fit(windows)) == 3 * groups


def test_more_windows_than_subsets_are_possible_for_are_refused() -> None:
    with pytest.raises(AssertionError, match="18 windows"):
        best_by_subsets(random_turning(SUBSETS_LIMIT + 1, seed=0))


def test_no_windows_make_no_groups() -> None:
    nothing = turning_of([])
    for found in (solve(nothing), solve_quickly(nothing), solve_at_once(nothing)):
        assert (found.groups.size, found.shared_bytes, found.bound_bytes) == (0, 0.0, 0.0)
    assert is_partition(nothing, np.empty(0, np.int64))


def test_what_is_no_partition_is_known() -> None:
    turning = turning_of([(3, 6, 9), (3, 6, 5), (1, 9, 2)])
    assert is_partition(turning, np.array([0, 0, 1]))
    assert shared_bytes(turning, np.array([0, 0, 1])) == 9 + 2
    for wrong in ([0, 0, 0], [1, 1, 2], [0, 0, 2], [-1, 0, 1], [0, 1]):
        assert not is_partition(turning, np.array(wrong))
