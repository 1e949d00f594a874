"""Ranges over thousands of nodes: blocks, series that move, late rows, all against plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from papers.rivals.full_precomputation import FullPrecomputation
from windrow.history.adaptive_tree import AdaptiveTree
from windrow.history.aggregates import Aggregate
from windrow.history.history import History
from windrow.history.spec import HistorySpec, levels_of
from windrow.schema import BIGINT, DOUBLE, Column

MEASURE = (Column("v", DOUBLE),)
KEY = (Column("k", BIGINT),)
SPECIAL = [math.nan, math.inf, -math.inf, 1e300, -1e300, 1e16]


def expect(history: History, rows: np.ndarray, since: int, until: int, keys: list[int]) -> None:
    """rows: time, key, value."""
    answer = history.snapshot(since, until, keys=pa.table({"k": pa.array(keys, pa.int64())}))
    assert answer.is_exact
    names = ["count", "sum", "min", "max", "stddev_samp"]
    shown = {name: column(answer, name) for name in names}
    inside = rows[(rows[:, 0] >= since) & (rows[:, 0] < until)]
    for place, key in enumerate(keys):
        values = inside[inside[:, 1] == key, 2]
        assert shown["count"][place] == values.size
        if values.size == 0:
            assert shown["sum"][place] is None
            continue
        has_nan = bool(np.isnan(values).any())
        high = math.nan if has_nan else float(values.max())
        low = math.nan if np.isnan(values).all() else float(np.nanmin(values))
        assert same(shown["max"][place], high)
        assert same(shown["min"][place], low)
        if np.isfinite(values).all():
            size = float(np.abs(values).sum())
            total = math.fsum(values.tolist())
            assert math.isclose(shown["sum"][place], total, rel_tol=1e-15, abs_tol=1e-28 * size)
            if values.size > 1 and size < 1e10:
                deviation = float(np.std(values, ddof=1))
                assert math.isclose(shown["stddev_samp"][place], deviation, rel_tol=1e-9)
        else:
            with np.errstate(invalid="ignore"):
                assert same(shown["sum"][place], float(values[~np.isfinite(values)].sum()))


def column(answer: Any, name: str) -> list[Any]:
    measure = None if name == "count" else "v"
    values: list[Any] = answer.columns(Aggregate(name, measure))[0].to_pylist()
    return values


def same(left: float, right: float) -> bool:
    return left == right or (math.isnan(left) and math.isnan(right))


@pytest.mark.parametrize("storage", [AdaptiveTree, FullPrecomputation], ids=["adaptive", "full"])
@pytest.mark.parametrize("seed", range(3))
def test_ranges_stay_right_while_rows_come(storage: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    spec = HistorySpec(levels_of([(10, None), (60, None)]), MEASURE, KEY, split_above=2)
    history = History(spec, storage)
    rows = np.empty((0, 3))
    now = 0
    for step in range(12):
        size, span = int(random.integers(1, 1_500)), int(random.integers(1, 12_000))
        times = random.integers(max(now - 3_000, 0), now + span, size)
        keys = random.integers(0, 4, size) ** 2
        values = np.round(random.normal(0, 100, size), 3)
        if step % 3 == 2:
            places = random.integers(0, size, 2)
            values[places] = random.choice(SPECIAL, 2)
        history.insert(times, {"v": pa.array(values), "k": pa.array(keys)})
        rows = np.concatenate([rows, np.stack([times, keys, values], axis=1)])
        now += span
        for _ in range(4):
            since, until = np.sort(random.integers(-5, now // 10 + 5, 2)) * 10
            expect(history, rows, int(since), int(until), [0, 1, 4, 9, 77])
    assert history.storage.nbytes > 0


@pytest.mark.parametrize("seed", range(3))
def test_ranges_stay_right_while_the_past_gets_coarser(seed: int) -> None:
    random = np.random.default_rng(seed)
    spec = HistorySpec(
        levels_of([(10, 2_000), (60, 9_000), (600, None)]), MEASURE, KEY, split_above=4
    )
    history = History(spec)
    rows = np.empty((0, 3))
    now = 0
    for _ in range(15):
        size, span = int(random.integers(1, 1_500)), int(random.integers(1, 6_000))
        times = random.integers(now + 1, now + span + 1, size)
        keys, values = random.integers(0, 3, size), random.normal(0, 100, size)
        history.insert(times, {"v": pa.array(values), "k": pa.array(keys)})
        rows = np.concatenate([rows, np.stack([times, keys, values], axis=1)])
        now += span
        history.advance(now - int(random.integers(0, span)))
        now = max(now, history.now_us)
        for step, kept in ((10, 2_000), (60, 9_000), (600, now + 600)):
            first = max(history.now_us - kept, 0) // step + 1
            since, until = np.sort(random.integers(first, now // step + 2 + first, 2)) * step
            expect(history, rows, int(since), int(until), [0, 1, 2])


def test_late_rows_are_found_in_blocks_that_were_read_before() -> None:
    history = History(HistorySpec(levels_of([(1, None)]), MEASURE))
    times = np.arange(5_000)
    history.insert(times, {"v": pa.array(np.ones(times.size))})
    assert history.snapshot(0, 5_000).bounds("sum", "v").value == 5_000
    history.insert(np.array([2_345]), {"v": pa.array([1000.0])})
    assert history.snapshot(0, 5_000).bounds("sum", "v").value == 6_000
    assert history.snapshot(0, 5_000).bounds("max", "v").value == 1000
    assert history.snapshot(2_346, 5_000).bounds("max", "v").value == 1


def test_a_leaf_that_a_horizon_cuts_goes_on_with_its_later_rows() -> None:
    spec = HistorySpec(levels_of([(1, 10), (4, 40), (64, None)]), MEASURE, KEY, split_above=8)
    history = History(spec)
    rows = np.empty((0, 3))
    for times, now in (([2, 9, 21, 30], 25), ([31, 33, 40], 45), ([50, 51, 60, 61, 62], 70)):
        batch = np.array([[time, 0, time / 4] for time in times])
        columns = {"v": pa.array(batch[:, 2]), "k": pa.array(np.zeros(len(times), np.int64))}
        history.insert(batch[:, 0].astype(np.int64), columns)
        rows = np.concatenate([rows, batch])
        history.advance(now)
        for since, until in ((0, 64), (0, 128), (4, 64), (28, 36), (24, 60)):
            if since % 4 == 0 or since >= history.storage.regions.horizons_us[0]:
                expect(history, rows, since, until, [0])
