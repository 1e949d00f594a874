"""Groups by their prices, bounds and proofs, against all groups and all partitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.random_demands import random_turning, small_turning
from support.slow_partitions import all_groups, cost_of, least_cost
from windrow.governor.columns import kernels, proof
from windrow.governor.columns.generation import MARGIN, generate, scaled
from windrow.governor.groups.partitions import best_by_subsets, first_fit, ruin_recreate
from windrow.governor.groups.solve import solve, solve_at_once
from windrow.governor.groups.turning import Grouping, TurningWindows, shared_bytes
from windrow.governor.groups.volume_bound import volume_bound

MANY_STEPS = 1_000_000
FAR_S = 1e9  # an instant of the clock that no test comes to
units = st.sampled_from([1, 2, 3, 7, 100])


@st.composite
def priced(draw: st.DrawFn) -> tuple[TurningWindows, np.ndarray]:
    """Windows with prices, some of them 0, in quarters, whose sums are exact."""
    turning = draw(small_turning(7))
    size = turning.size
    quarters = draw(st.lists(st.integers(0, 80), min_size=size, max_size=size))
    return turning, np.array(quarters) / 4


def price(
    turning: TurningWindows, prices: np.ndarray, unit_us: int, steps: int = MANY_STEPS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size = turning.size
    groups, gain, ceiling = np.zeros((size, size), np.uint8), np.zeros(size), np.zeros(size)
    kernels.price_groups(
        turning.growth_us, turning.period_us, turning.exchange, prices, unit_us, MARGIN, steps,
        groups, gain, ceiling,
    )  # fmt: skip
    return groups, gain, ceiling


def proved(turning: TurningWindows, time_limit_s: float = 60.0) -> Grouping:
    """What is found and proven from first fit on."""
    known, columns = proof.bounded(turning, solve_at_once(turning), time_limit_s)
    assert known.bound_bytes >= solve_at_once(turning).bound_bytes
    return proof.prove(turning, known, columns, time_limit_s)


def best_gains(turning: TurningWindows, prices: np.ndarray) -> np.ndarray:
    """The most that a group of each leader gains, by looking at all."""
    gains = np.full(turning.size, -np.inf)
    for members in all_groups(turning):
        gain = prices[members].sum() - turning.exchange[members[0]]
        gains[members[0]] = max(gains[members[0]], gain)
    return gains


@given(priced(), units)
def test_the_best_group_of_each_leader_is_found(
    case: tuple[TurningWindows, np.ndarray], unit_us: int
) -> None:
    turning, prices = case
    groups, gain, ceiling = price(turning, prices, unit_us)
    best = best_gains(turning, prices)
    valid = [tuple(members) for members in all_groups(turning)]
    for leader in range(turning.size):
        assert gain[leader] == pytest.approx(max(0.0, best[leader]))
        assert ceiling[leader] == pytest.approx(max(0.0, best[leader]), abs=1e-6)
        members = np.flatnonzero(groups[leader])
        if gain[leader] == 0:
            assert members.size == 0
        else:
            assert tuple(members) in valid
            assert prices[members].sum() - turning.exchange[members[0]] == gain[leader]
            assert members[0] == leader


@given(priced(), units, st.integers(0, 30))
def test_no_group_gains_more_than_the_ceiling_when_steps_run_out(
    case: tuple[TurningWindows, np.ndarray], unit_us: int, steps: int
) -> None:
    turning, prices = case
    _, gain, ceiling = price(turning, prices, unit_us, steps)
    best = best_gains(turning, prices)
    assert (gain <= np.maximum(best, 0.0) + 1e-9).all()
    assert (best <= ceiling + 1e-9).all()


@given(priced(), units, st.integers(0, 200))
def test_all_groups_within_the_gap_are_listed(
    case: tuple[TurningWindows, np.ndarray], unit_us: int, gap: int
) -> None:
    """The gap may exceed what a leader costs, and then all its groups are within it."""
    turning, prices = case
    gap_cost = gap / 4 + 1 / 8
    rows = np.zeros((1 << turning.size, turning.size), np.uint8)
    count, is_all = kernels.enumerate_groups(
        turning.growth_us, turning.period_us, turning.exchange, prices, unit_us, gap_cost,
        MANY_STEPS, rows,
    )  # fmt: skip
    valid = {tuple(members) for members in all_groups(turning)}
    expected = {
        members
        for members in valid
        if turning.exchange[members[0]] - prices[list(members)].sum() <= gap_cost
        and not any(
            tuple(sorted({*members, more})) in valid
            for more in range(members[0] + 1, turning.size)
            if more not in members
        )
    }
    found = [tuple(np.flatnonzero(row)) for row in rows[:count]]
    assert is_all
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_listing_ends_at_its_limits() -> None:
    turning = random_turning(10, seed=1)
    prices = np.zeros(10)
    columns = (turning.growth_us, turning.period_us, turning.exchange, prices, 1000, 1e6)
    count, is_all = kernels.enumerate_groups(*columns, MANY_STEPS, np.zeros((1024, 10), np.uint8))
    assert is_all
    short = np.zeros((count - 1, 10), np.uint8)
    assert kernels.enumerate_groups(*columns, MANY_STEPS, short) == (count - 1, False)
    assert not kernels.enumerate_groups(*columns, 50, np.zeros((1024, 10), np.uint8))[1]


@given(small_turning(7))
def test_the_linear_program_bounds_all_partitions(turning: TurningWindows) -> None:
    windows = scaled(turning)
    found = generate(windows, first_fit(turning), FAR_S)
    best = least_cost(turning)
    assert found.bound * windows.bytes_per_cost <= best * (1 + 1e-9)
    # Of all groups that are known none gains, so that the bound is the program's own cost.
    gains = found.members @ found.prices - windows.cost[found.members.argmax(axis=1)]
    assert gains.max() <= 1e-6
    assert found.bound == pytest.approx(found.prices.sum(), abs=1e-3)


@pytest.mark.parametrize("is_ragged", [False, True])
@pytest.mark.parametrize("size", [1, 5, 9, 13])
def test_what_is_proven_is_the_best(size: int, is_ragged: bool) -> None:
    for seed in range(6):
        turning = random_turning(size, seed, is_ragged=is_ragged)
        best = shared_bytes(turning, best_by_subsets(turning))
        found = proved(turning)
        assert cost_of(turning, found.groups) == found.shared_bytes
        assert found.shared_bytes == pytest.approx(best, rel=1e-9)
        assert (found.bound_bytes, found.solver) == (found.shared_bytes, "exact")


def test_nothing_is_proven_when_not_all_groups_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The integer program is then over some groups only, and its best may not be the best."""
    monkeypatch.setattr(proof, "LISTED_LIMIT", 0)
    were_missed = 0
    for seed in range(12):
        turning = random_turning(13, seed)
        best = shared_bytes(turning, best_by_subsets(turning))
        found = proved(turning)
        assert found.bound_bytes <= best + 1e-9
        assert best <= cost_of(turning, found.groups) == found.shared_bytes
        were_missed += found.shared_bytes > best
    assert were_missed > 0


def test_a_window_that_is_covered_twice_stays_in_the_dearer_group() -> None:
    cover = np.array([[0, 1, 1], [1, 1, 0]], np.uint8)
    assert proof._partition(cover).tolist() == [0, 0, 1]


@pytest.mark.parametrize("time_limit_s", [0.0, 1e-4, 1e-3, 1e-2])
def test_without_time_the_bound_is_lower_and_true(time_limit_s: float) -> None:
    turning = random_turning(14, seed=3, is_ragged=True)
    best = shared_bytes(turning, best_by_subsets(turning))
    start = solve_at_once(turning)
    found = proved(turning, time_limit_s)
    assert start.bound_bytes <= found.bound_bytes <= best + 1e-9
    assert best <= cost_of(turning, found.groups) <= start.shared_bytes


@pytest.mark.parametrize("size", [20, 24])
def test_more_windows_than_subsets_are_possible_for_are_proven(size: int) -> None:
    turning = random_turning(size, size, is_ragged=True)
    at_once = solve_at_once(turning)
    found = proved(turning)
    assert at_once.bound_bytes < found.bound_bytes == found.shared_bytes < at_once.shared_bytes
    assert cost_of(turning, found.groups) == pytest.approx(found.shared_bytes)


def test_many_windows_are_bounded_within_some_percent() -> None:
    turning = random_turning(70, seed=2, is_ragged=True)
    windows = scaled(turning)
    groups = ruin_recreate(turning, first_fit(turning), iterations=20_000, seed=0)
    bound = generate(windows, groups, FAR_S).bound * windows.bytes_per_cost
    assert bound <= cost_of(turning, groups) < 1.06 * bound < cost_of(turning, first_fit(turning))


@pytest.mark.parametrize("size", [18, 60])
@pytest.mark.parametrize("time_limit_s", [0.0, 0.01, 0.1])
def test_whatever_the_time_groups_are_valid_and_the_bound_is_no_higher(
    size: int, time_limit_s: float
) -> None:
    turning = random_turning(size, seed=4, is_ragged=True)
    found = solve(turning, time_limit_s)
    assert cost_of(turning, found.groups) == pytest.approx(found.shared_bytes)
    assert found.shared_bytes <= solve_at_once(turning).shared_bytes
    assert volume_bound(turning) <= found.bound_bytes <= found.shared_bytes


def test_costs_of_very_different_size_keep_the_bound_true() -> None:
    turning = random_turning(12, seed=5)
    steep = TurningWindows(
        turning.windows, turning.growth_us, turning.period_us, 10.0 ** np.linspace(12, -3, 12)
    )
    best = shared_bytes(steep, best_by_subsets(steep))
    found = proved(steep)
    assert found.bound_bytes <= best * (1 + 1e-6)
    assert found.shared_bytes == pytest.approx(best, rel=1e-6)
