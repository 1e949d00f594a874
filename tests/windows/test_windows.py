"""Windows of every kind against a list of rows; times, completeness and their loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.resident import resident_bytes
from windrow.event_time import END_OF_TIME
from windrow.windows.buffer import ColumnWindow
from windrow.windows.completeness import Completeness, clock_of
from windrow.windows.eviction import LastRows, LastRowsByPartition
from windrow.windows.instants import WaitingInstants, merged
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import EventColumns, Window

Batch = list[tuple[int, int]]  # distance of the time from the clock, partition
Event = tuple[int, int, int]
batches = st.lists(
    st.tuples(
        st.lists(st.tuples(st.integers(1, 12), st.integers(0, 3)), max_size=30), st.integers(0, 9)
    ),
    max_size=12,
)
LIFETIMES = [Lifetime.closed(0), Lifetime.closed(5), Lifetime.sliding(6, 3), Lifetime.unbounded()]


class Driver:
    """A window beside all rows that it was ever given, as (time, arrival, partition)."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.rows: list[tuple[int, int, int]] = []
        self.clock = -20

    def step(self, batch: Batch, ahead: int) -> list[Event]:
        fresh = [
            (self.clock + distance, len(self.rows) + i, partition)
            for i, (distance, partition) in enumerate(batch)
        ]
        self.rows += fresh
        partitions = None
        if self.window.columns.partitions.size:
            partitions = np.array([row[2] for row in fresh], np.int32)
        self.window.append(
            np.array([row[0] for row in fresh], np.int64),
            np.array([row[1] for row in fresh], np.int32),
            np.array([[row[1] for row in fresh]], np.int64),
            partitions=partitions,
        )
        self.clock += ahead
        return self._events()

    def held(self) -> list[int]:
        columns = self.window.columns
        return columns.codes[self.window.held()].tolist()

    def _events(self) -> list[Event]:
        window, found, limit = self.window, [], 4
        window.open(self.clock)
        while True:
            events = EventColumns(limit)
            size = window.fill(events, 0, limit, self.clock, 1)
            codes = window.columns.codes[events.row[:size]]
            assert (window.columns.values[0, events.row[:size]] == codes).all()
            found += zip(
                events.at[:size].tolist(), codes.tolist(), events.sign[:size].tolist(), strict=True
            )
            if size < limit:
                break
        gone = window.close()
        left = {code for _, code, sign in found if sign < 0}
        if gone is None:
            assert not left
        else:
            assert set(window.columns.codes[gone].tolist()) == left
            window.reclaim(gone)
        assert [at for at, *_ in found] == sorted(at for at, *_ in found)
        return found


@pytest.mark.parametrize("lifetime", LIFETIMES, ids=str)
@given(steps=batches)
def test_timed_windows(lifetime: Lifetime, steps: list[tuple[Batch, int]]) -> None:
    driver, before = Driver(Window(1, lifetime=lifetime)), -20
    for batch, ahead in steps:
        found = driver.step(batch, ahead)
        enters = {a: -(-t // lifetime.slide_us) * lifetime.slide_us for t, a, _ in driver.rows}
        wanted = [(at, a, 1) for a, at in enters.items() if before < at <= driver.clock]
        wanted += [
            (at + lifetime.hold_us, a, -1)
            for a, at in enters.items()
            if before < at + lifetime.hold_us <= driver.clock
        ]
        assert sorted(found) == sorted(wanted)
        held = [
            a
            for t, a, _ in sorted(driver.rows)
            if enters[a] <= driver.clock < enters[a] + lifetime.hold_us
        ]
        assert driver.held() == held
        assert driver.window.row_count == len(held)
        before = driver.clock


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("by_partition", [False, True])
@given(steps=batches)
def test_windows_of_the_last_rows(
    count: int, by_partition: bool, steps: list[tuple[Batch, int]]
) -> None:
    eviction = LastRowsByPartition(count) if by_partition else LastRows(count)
    driver = Driver(Window(1, eviction=eviction))
    present: list[int] = []
    for batch, ahead in steps:
        for at, code, sign in driver.step(batch, ahead):
            if sign > 0:
                present.append(code)
                assert driver.rows[code][0] == at
            else:
                present.remove(code)
        passed = [row for row in sorted(driver.rows) if row[0] <= driver.clock]
        parts = {row[2] for row in passed} if by_partition else {None}
        last = [
            [row for row in passed if part is None or row[2] == part][-count:] for part in parts
        ]
        wanted = sorted(row for rows in last for row in rows)
        assert sorted(present) == sorted(row[1] for row in wanted)
        assert driver.held() == [row[1] for row in wanted]


@given(batches, st.booleans())
def test_rows_wait_in_order_of_time_and_arrival(
    steps: list[tuple[Batch, int]], nulls: bool
) -> None:
    window, rows = ColumnWindow(2), []
    for batch, _ in steps:
        fresh = [(time, len(rows) + i) for i, (time, _) in enumerate(batch)]
        rows += fresh
        valid = np.ones((2, len(fresh)), np.uint8)
        valid[1] = [arrival % 3 != 0 for _, arrival in fresh]
        arrivals = np.array([arrival for _, arrival in fresh], np.int64)
        window.append(
            np.array([time for time, _ in fresh], np.int64),
            arrivals.astype(np.int32),
            np.stack([arrivals, -arrivals]),
            *([valid] if nulls and len(rows) > 20 else []),
        )
    wanted = [arrival for _, arrival in sorted(rows)]
    places = slice(window.tail, window.end)
    assert window.codes[places].tolist() == wanted
    assert window.values[1, places].tolist() == [-arrival for arrival in wanted]
    assert window.times[window.end] == END_OF_TIME
    if window.valid.size:
        assert window.valid[0, places].all()
        flags = dict(zip(wanted, window.valid[1, places].tolist(), strict=True))
        assert all(flags[arrival] == (arrival % 3 != 0) for arrival in flags if not flags[arrival])


def test_bytes_are_counted_exactly_and_stay_within_the_figure() -> None:
    window = Window(1, lifetime=Lifetime.closed(100_000))
    for first in range(0, 300_000, 1_000):
        times = np.arange(first, first + 1_000)
        window.append(times, times.astype(np.int32), times[None, :])
        window.open(first + 999)
        events = EventColumns(4_000)
        window.fill(events, 0, 4_000, first + 999, 1)
        gone = window.close()
        if gone is not None:
            window.reclaim(gone)
    held = [*vars(window.columns).values(), *vars(window.columns.store).values()]
    arrays = [each for each in held if isinstance(each, np.ndarray)]
    assert window.nbytes == sum(map(resident_bytes, arrays))
    assert window.row_count == 100_001
    assert window.nbytes / window.row_count <= 21  # 20 of the row, the rest are whole pages


@given(st.integers(-100, 100), st.integers(1, 9), st.integers(1, 5), st.integers(-200, 200))
def test_lifetimes_are_the_definitions(time: int, slide: int, slides: int, t: int) -> None:
    times = np.array([time], np.int64)
    closed = Lifetime.closed(slide)
    assert (closed.enter(times)[0] <= t < closed.leave(times)[0]) == (t - slide <= time <= t)
    length = slide * slides
    sliding = Lifetime.sliding(length, slide)
    step = t // slide * slide
    assert (sliding.enter(times)[0] <= t < sliding.leave(times)[0]) == (
        step - length < time <= step
    )
    assert Lifetime.unbounded().is_endless
    assert Lifetime.unbounded().leave(times)[0] > END_OF_TIME


@given(st.lists(st.integers(-9, 9)), st.lists(st.integers(-9, 9)))
def test_merged_instants_are_a_sorted_set(left: list[int], right: list[int]) -> None:
    one, other = (np.array(sorted(each), np.int64) for each in (left, right))
    assert merged(one, other).tolist() == sorted({*left, *right})


@given(
    st.lists(st.tuples(st.lists(st.integers(0, 40), max_size=5), st.integers(0, 9)), max_size=40)
)
def test_waiting_instants_are_a_bag(steps: list[tuple[list[int], int]]) -> None:
    waiting, bag, clock = WaitingInstants(), [], -1
    for distances, ahead in steps:
        fresh = [clock + 1 + distance for distance in distances]
        bag += fresh
        waiting.add(np.array(fresh, np.int64))
        clock += ahead
        assert waiting.release(clock).tolist() == sorted(t for t in bag if t <= clock)
        bag = [t for t in bag if t > clock]
        assert waiting.count == len(bag)


def test_the_clock_is_the_least_completeness_until_all_have_ended() -> None:
    left, right = Completeness(10), Completeness(0)
    left.judge(np.array([100], np.int64))
    assert clock_of([left, right]) == right.through
    right.judge(np.array([50], np.int64))
    assert clock_of([left, right]) == 49
    right.advance(95)
    assert clock_of([left, right]) == 89
    left.finish()
    assert left.is_finished
    assert clock_of([left, right]) == 95
    right.finish()
    assert clock_of([left, right]) == 100
