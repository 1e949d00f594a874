"""Every structure that rows expire from, against a sorted list."""

from __future__ import annotations

import bisect
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.rivals.fifo_queue import FifoQueue
from windrow.operators.expiry.binary_heap import BinaryHeap
from windrow.operators.expiry.calendar_queue import CalendarQueue
from windrow.operators.expiry.expiry_queue import EXPIRY_LIMIT, ExpiryQueue
from windrow.operators.expiry.ladder.ladder_queue import BranchLadderQueue, LadderQueue
from windrow.operators.expiry.wheel.timing_wheel import TimingWheel

ANY_ORDER: dict[str, Callable[[], ExpiryQueue]] = {
    "branch ladder": BranchLadderQueue,
    "branch ladder, threshold 50": lambda: BranchLadderQueue(threshold=50),
    "branch ladder, threshold 2": lambda: BranchLadderQueue(threshold=2),
    "branch ladder, step 1000": lambda: BranchLadderQueue(step=1000),
    "ladder": LadderQueue,
    "ladder, threshold 3": lambda: LadderQueue(threshold=3),
    "calendar": CalendarQueue,
    "heap": BinaryHeap,
    "wheel": TimingWheel,
}
QUEUES = {**ANY_ORDER, "fifo": FifoQueue}

each_queue = pytest.mark.parametrize("make", QUEUES.values(), ids=QUEUES)
each_of_any_order = pytest.mark.parametrize("make", ANY_ORDER.values(), ids=ANY_ORDER)

# What any structure may hold: some arrays of a fixed size, and a chunk for each row at worst.
FIXED_BYTES = 256 * 1024
BYTES_A_ROW = 600

# A batch of expiries, or the instant of a dequeue, alone or with the most rows that may leave.
Step = list[int] | int | tuple[int, int]


class SortedRows:
    """The slow twin: rows in one sorted list."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int, int]] = []
        self.arrivals = 0

    def enqueue(self, expiries: list[int], items: list[int]) -> None:
        for expiry, item in zip(expiries, items, strict=True):
            bisect.insort(self.rows, (expiry, self.arrivals, item))
            self.arrivals += 1

    def dequeue(self, until: int, limit: int | None = None) -> list[tuple[int, int]]:
        count = bisect.bisect_left(self.rows, (until + 1, -1, -1))
        count = count if limit is None else min(count, limit)
        expired, self.rows = self.rows[:count], self.rows[count:]
        return [(expiry, item) for expiry, _, item in expired]


def run_beside_twin(make: Callable[[], ExpiryQueue], steps: list[Step]) -> None:
    queue, twin = make(), SortedRows()
    next_item = 0
    for step in [*steps, EXPIRY_LIMIT]:
        if not isinstance(step, list):
            until, limit = step if isinstance(step, tuple) else (step, None)
            expiries, items = queue.dequeue(until, limit)
            rows = list(zip(expiries.tolist(), items.tolist(), strict=True))
            assert rows == twin.dequeue(until, limit)
        else:
            items = np.arange(next_item, next_item + len(step))
            next_item += len(step)
            queue.enqueue(np.array(step, np.int64), items)
            twin.enqueue(step, items.tolist())
        assert queue.size == len(twin.rows)
        assert queue.nbytes == array_bytes(queue)
    assert queue.size == 0


def array_bytes(holder: object) -> int:
    """Bytes of all arrays that an object holds, and of those of its parts."""
    total = 0
    for value in holder if isinstance(holder, tuple) else vars(holder).values():
        if isinstance(value, np.ndarray):
            assert value.base is None, "a view would hold more than it shows"
            total += value.nbytes
        elif isinstance(value, tuple) or (
            hasattr(value, "nbytes") and not isinstance(value, np.generic)
        ):
            total += array_bytes(value)
    return total


def steps_of(
    expiries: st.SearchStrategy[int], instants: st.SearchStrategy[int]
) -> st.SearchStrategy[list[Step]]:
    batch = st.lists(expiries, max_size=40)
    limited = st.tuples(instants, st.integers(1, 20))
    return st.lists(st.one_of(batch, instants, limited), max_size=30)


near = st.integers(-60, 60)
far = st.integers(1 - EXPIRY_LIMIT, EXPIRY_LIMIT - 1)
# Powers of two and their neighbours: borders of digits and of buckets.
jumps = st.builds(
    lambda sign, power, offset: sign * 2**power + offset,
    st.sampled_from([-1, 1]), st.integers(0, 60), st.integers(-2, 2),
).filter(lambda value: abs(value) < EXPIRY_LIMIT)  # fmt: skip
FAMILIES = {
    "near": steps_of(near, near),
    "far": steps_of(far, far),
    "jumps": steps_of(jumps, jumps),
    "mixed": steps_of(st.one_of(near, jumps), st.one_of(near, jumps)),
    "equal": steps_of(st.just(7), st.integers(5, 8)),
    "two values": steps_of(st.sampled_from([3, 10**9]), st.sampled_from([2, 3, 10**9])),
}


@pytest.mark.parametrize("family", FAMILIES)
@each_of_any_order
@given(data=st.data())
def test_any_steps(make: Callable[[], ExpiryQueue], family: str, data: st.DataObject) -> None:
    run_beside_twin(make, data.draw(FAMILIES[family]))


@each_queue
@given(
    st.lists(st.tuples(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 80))),
    st.integers(-(10**6), 10**6),
)
def test_equal_spans(
    make: Callable[[], ExpiryQueue], batches: list[tuple[list[int], int]], now: int
) -> None:
    steps: list[Step] = []
    for gaps, silence in batches:
        times = [now := now + gap for gap in gaps]
        steps += [[time + 100 for time in times], now]
        now += silence
    run_beside_twin(make, steps)


def uniform(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + 1 + random.integers(0, 5_000, rows)).tolist()


def skewed(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + 1 + (random.random(rows) ** 4 * 100_000).astype(np.int64)).tolist()


def tied(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return ((now // 500 + 1 + random.integers(0, 10, rows)) * 500).tolist()


def pareto(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + 1 + np.minimum(random.pareto(0.5, rows) * 50, 1e15).astype(np.int64)).tolist()


def two_spans(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + np.where(random.random(rows) < 0.5, 50, 100_000)).tolist()


def descending(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + int(random.integers(10, 10**9)) - np.arange(rows)).tolist()


def overdue(random: np.random.Generator, now: int, rows: int) -> list[int]:
    return (now + random.integers(-3_000, 1_000, rows)).tolist()


@pytest.mark.parametrize(
    "expiries", [uniform, skewed, tied, pareto, two_spans, descending, overdue]
)
@pytest.mark.parametrize("start", [-(10**7), -1_000, 10**15])
@each_of_any_order
def test_long_runs(
    make: Callable[[], ExpiryQueue],
    start: int,
    expiries: Callable[[np.random.Generator, int, int], list[int]],
) -> None:
    random = np.random.default_rng(start % 97)
    steps: list[Step] = []
    now = start
    for _ in range(60):
        now += int(random.choice([0, 1, 7, 100, 3_000]))
        steps += [expiries(random, now, int(random.choice([0, 1, 10, 150]))), now]
    run_beside_twin(make, steps)


@each_of_any_order
@pytest.mark.parametrize("spread", [1, 3, 40_000])
def test_small_dequeues_between_arrivals(make: Callable[[], ExpiryQueue], spread: int) -> None:
    random = np.random.default_rng(spread)
    steps: list[Step] = [[10**6, 10**12]]
    for now in range(0, 400):
        steps += [(now + 1 + random.integers(0, spread, 9)).tolist(), now]
    run_beside_twin(make, steps)


@each_of_any_order
@pytest.mark.parametrize("expiries", [uniform, tied, pareto, overdue])
def test_bounded_dequeues_between_arrivals(
    make: Callable[[], ExpiryQueue],
    expiries: Callable[[np.random.Generator, int, int], list[int]],
) -> None:
    random = np.random.default_rng(11)
    steps: list[Step] = []
    for now in range(0, 30_000, 500):
        steps.append(expiries(random, now, 120))
        steps += [(now, int(limit)) for limit in random.choice([1, 6, 7, 40, 300], 3)]
    run_beside_twin(make, steps)


BURSTS = {
    "even": lambda rows: np.arange(rows) * 7,
    "tied": lambda rows: np.full(rows, 10**6),
    "few values": lambda rows: np.arange(rows) // 1_000,
}


@each_queue
@pytest.mark.parametrize("burst", BURSTS)
@pytest.mark.parametrize("limit", [900, None])
def test_memory_of_a_burst_goes_back(
    make: Callable[[], ExpiryQueue], burst: str, limit: int | None
) -> None:
    queue = make()
    rows, later = 100_000, 500
    most_bytes = FIXED_BYTES + BYTES_A_ROW * later
    expiries = np.sort(BURSTS[burst](rows))
    queue.enqueue(expiries, np.arange(rows))
    queue.enqueue(np.array([10**12, 10**12 + 5]), np.array([-1, -2]))
    assert queue.nbytes > most_bytes
    seen = []
    while queue.size > 2:
        gone = queue.dequeue(10**9, limit)[1]
        assert 0 < gone.size <= (limit or rows)
        seen += gone.tolist()
    assert seen == list(range(rows))
    # Now and then a row, as before the burst: what is held need not go back at once.
    for now in range(2 * 10**9, 2 * 10**9 + later):
        queue.enqueue(np.array([10**12 + 5]), np.array([now]))
        if not isinstance(queue, FifoQueue):
            queue.enqueue(np.array([now]), np.array([now]))
            assert queue.dequeue(now, limit)[1].tolist() == [now]
    for taken in (queue.dequeue(10**12 + 4, limit)[1], queue.dequeue(10**12 + 5, 1)[1]):
        assert taken.size == 1
    assert queue.size == later
    assert queue.nbytes == array_bytes(queue) <= most_bytes


@each_queue
@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_lets_nothing_leave_is_refused(
    make: Callable[[], ExpiryQueue], limit: int
) -> None:
    with pytest.raises(AssertionError, match="limit"):
        make().dequeue(5, limit)


@each_queue
@pytest.mark.parametrize("span", [1, 400, 10**9])
def test_steady_state_does_not_grow(make: Callable[[], ExpiryQueue], span: int) -> None:
    queue = make()
    random = np.random.default_rng(span)
    sizes = []
    for now in range(0, 600_000, 100):
        times = np.sort(now + random.integers(0, 100, 50))
        spans = span if isinstance(queue, FifoQueue) else random.integers(1, span + 1, 50)
        queue.enqueue(times + spans * 1_000, np.arange(50))
        queue.dequeue(now)
        sizes.append(queue.nbytes)
        if queue.size > 100_000:
            break
    if queue.size <= 100_000:
        assert sizes[-1] == sizes[len(sizes) * 3 // 4]


@each_queue
def test_nothing_is_expired_from_nothing(make: Callable[[], ExpiryQueue]) -> None:
    queue = make()
    queue.enqueue(np.empty(0, np.int64), np.empty(0, np.int32))
    assert [array.size for array in queue.dequeue(10)] == [0, 0]
    assert queue.size == 0


@each_queue
def test_items_of_32_bits(make: Callable[[], ExpiryQueue]) -> None:
    queue = make()
    queue.enqueue(np.array([4, 4]), np.array([-1, 2**31 - 1], np.int32))
    expiries, items = queue.dequeue(4)
    assert (expiries.tolist(), items.tolist()) == ([4, 4], [-1, 2**31 - 1])


@each_queue
@pytest.mark.parametrize("expiry", [EXPIRY_LIMIT, -EXPIRY_LIMIT])
def test_an_expiry_out_of_bounds_is_refused(make: Callable[[], ExpiryQueue], expiry: int) -> None:
    with pytest.raises(AssertionError, match=str(expiry)):
        make().enqueue(np.array([expiry]), np.array([0]))


@each_queue
def test_batches_of_unequal_lengths_are_refused(make: Callable[[], ExpiryQueue]) -> None:
    with pytest.raises(AssertionError, match="expiries"):
        make().enqueue(np.array([1, 2]), np.array([0]))


@pytest.mark.parametrize("batch", [[6, 5], [4]])
def test_fifo_refuses_what_is_out_of_order(batch: list[int]) -> None:
    queue = FifoQueue()
    queue.enqueue(np.array([5]), np.array([0]))
    with pytest.raises(AssertionError, match="in order of expiry"):
        queue.enqueue(np.array(batch), np.zeros(len(batch), np.int64))
