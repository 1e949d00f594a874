"""The loops that one would write by hand in Python: dicts by key, no pair looked at where possible.

Each maker gives `change(sign, stream, k, y, g, x)`, called with 1 when a row enters and -1 when it
leaves, and `answer()`. All streams have windows of one length, so one queue serves them all.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from algorithm_data import Event

__all__ = ["LOOPS", "Answer", "run_loop"]

Answer = Any  # a tuple, or for groups a dict of tuples
Change = Callable[[int, int, int, int, int, int], None]
Maker = Callable[[], tuple[Change, Callable[[], Answer]]]


def run_loop(
    make: Maker, events: list[Event], window_ms: int, ticks_ms: Iterable[int] = ()
) -> dict[int, Answer]:
    """Run it over all rows; its answers at the ticks, which come in order."""
    change, answer = make()
    held: deque[Event] = deque()
    answers: dict[int, Answer] = {}
    ticks = deque(ticks_ms)
    for event in events:
        now = event[0]
        while ticks and ticks[0] < now:
            tick = ticks.popleft()
            while held and held[0][0] < tick - window_ms:
                change(-1, *held.popleft()[1:])
            answers[tick] = answer()
        limit = now - window_ms
        while held and held[0][0] < limit:
            change(-1, *held.popleft()[1:])
        held.append(event)
        change(1, *event[1:])
    return answers


def count_and_sum() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*), SUM(A.x)."""
    left, right, sums = defaultdict(int), defaultdict(int), defaultdict(int)
    count = total = 0

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        nonlocal count, total
        if stream == 0:
            count += sign * right[k]
            total += sign * x * right[k]
            left[k] += sign
            sums[k] += sign * x
        else:
            count += sign * left[k]
            total += sign * sums[k]
            right[k] += sign

    return change, lambda: (count, total if count else None)


def greatest() -> tuple[Change, Callable[[], Answer]]:
    """MAX(A.x): a monotone queue for each key, and a heap of candidates that are checked late."""
    queues: dict[int, deque[int]] = defaultdict(deque)
    right = defaultdict(int)
    heap: list[tuple[int, int]] = []

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        queue = queues[k]
        if stream == 1:
            right[k] += sign
        elif sign > 0:
            while queue and queue[-1] < x:
                queue.pop()
            queue.append(x)
        elif queue[0] == x:
            queue.popleft()
        if queue and right[k]:
            heappush(heap, (-queue[0], k))
        top()  # an exact answer at every row looks at the heap for every row

    def top() -> int | None:
        while heap and not _is_greatest(heap[0], queues, right):
            heappop(heap)
        return -heap[0][0] if heap else None

    return change, lambda: (top(),)


def _is_greatest(
    candidate: tuple[int, int], queues: dict[int, deque[int]], right: dict[int, int]
) -> bool:
    queue = queues[candidate[1]]
    return bool(queue) and right[candidate[1]] > 0 and queue[0] == -candidate[0]


def distinct() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(DISTINCT A.x): for each value under how many joining keys it stands."""
    values: dict[int, Counter[int]] = defaultdict(Counter)
    right, support = defaultdict(int), defaultdict(int)
    count = 0

    def move(x: int, sign: int) -> None:
        nonlocal count
        support[x] += sign
        if support[x] == (1 if sign > 0 else 0):
            count += sign

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        own = values[k]
        if stream == 0:
            own[x] += sign
            if own[x] == (1 if sign > 0 else 0) and right[k]:
                move(x, sign)
            if not own[x]:
                del own[x]
        else:
            right[k] += sign
            if right[k] == (1 if sign > 0 else 0):
                for each in own:
                    move(each, sign)

    return change, lambda: (count,)


def by_key() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*), SUM(A.x) GROUP BY the key."""
    left, right, sums = defaultdict(int), defaultdict(int), defaultdict(int)
    groups: dict[int, tuple[int, int]] = {}

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        if stream == 0:
            left[k] += sign
            sums[k] += sign * x
        else:
            right[k] += sign
        count = left[k] * right[k]
        if count:
            groups[k] = (count, sums[k] * right[k])
        else:
            groups.pop(k, None)

    return change, lambda: dict(groups)


def by_column() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*) GROUP BY A.g."""
    left: dict[int, Counter[int]] = defaultdict(Counter)
    right = defaultdict(int)
    groups: Counter[int] = Counter()

    def change(sign: int, stream: int, k: int, _y: int, g: int, _x: int) -> None:
        own = left[k]
        if stream == 0:
            own[g] += sign
            if not own[g]:
                del own[g]
            groups[g] += sign * right[k]
        else:
            right[k] += sign
            for each, rows in own.items():
                groups[each] += sign * rows

    return change, lambda: {g: (n,) for g, n in groups.items() if n}


def star() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*), SUM(A.x) over three streams of one key."""
    counts = [defaultdict(int) for _ in range(3)]
    sums = defaultdict(int)
    count = total = 0

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        nonlocal count, total
        first, second, third = counts[0][k], counts[1][k], counts[2][k]
        if stream == 0:
            count += sign * second * third
            total += sign * x * second * third
            sums[k] += sign * x
        else:
            other = third if stream == 1 else second
            count += sign * first * other
            total += sign * sums[k] * other
        counts[stream][k] += sign

    return change, lambda: (count, total if count else None)


def chain() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*) where A.k = B.k AND B.y = C.y: the middle costs O(1), an end its degree."""
    left, right = defaultdict(int), defaultdict(int)
    from_left: dict[int, Counter[int]] = defaultdict(Counter)
    from_right: dict[int, Counter[int]] = defaultdict(Counter)
    count = 0

    def change(sign: int, stream: int, k: int, y: int, _g: int, _x: int) -> None:
        nonlocal count
        if stream == 0:
            count += sign * sum(n * right[each] for each, n in from_left[k].items())
            left[k] += sign
        elif stream == 2:
            count += sign * sum(n * left[each] for each, n in from_right[y].items())
            right[y] += sign
        else:
            count += sign * left[k] * right[y]
            for own, other in ((from_left[k], y), (from_right[y], k)):
                own[other] += sign
                if not own[other]:
                    del own[other]

    return change, lambda: (count,)


def products() -> tuple[Change, Callable[[], Answer]]:
    """SUM(A.x * B.x)."""
    sums = defaultdict(int), defaultdict(int)
    counts = defaultdict(int), defaultdict(int)
    total = count = 0

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        nonlocal total, count
        total += sign * x * sums[1 - stream][k]
        count += sign * counts[1 - stream][k]
        sums[stream][k] += sign * x
        counts[stream][k] += sign

    return change, lambda: (total if count else None,)


def deviation() -> tuple[Change, Callable[[], Answer]]:
    """STDDEV(A.x), from whole numbers, so that nothing is lost."""
    left, right = defaultdict(int), defaultdict(int)
    sums, squares = defaultdict(int), defaultdict(int)
    count = total = square = 0

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        nonlocal count, total, square
        if stream == 0:
            partners = sign * right[k]
            count += partners
            total += partners * x
            square += partners * x * x
            left[k] += sign
            sums[k] += sign * x
            squares[k] += sign * x * x
        else:
            count += sign * left[k]
            total += sign * sums[k]
            square += sign * squares[k]
            right[k] += sign

    def answer() -> Answer:
        if count < 2:
            return (None,)
        return (math.sqrt((square - total * total / count) / (count - 1)),)

    return change, answer


def greater_pairs() -> tuple[Change, Callable[[], Answer]]:
    """COUNT(*) where A.k = B.k AND A.x > B.x: every pair is looked at, on entry and on leaving."""
    sides: tuple[dict[int, deque[int]], ...] = (defaultdict(deque), defaultdict(deque))
    count = 0

    def change(sign: int, stream: int, k: int, _y: int, _g: int, x: int) -> None:
        nonlocal count
        if stream == 0:
            found = sum(x > each for each in sides[1][k])
        else:
            found = sum(each > x for each in sides[0][k])
        count += sign * found
        if sign > 0:
            sides[stream][k].append(x)
        else:
            sides[stream][k].popleft()

    return change, lambda: (count,)


LOOPS: dict[str, Maker] = {
    "COUNT + SUM": count_and_sum,
    "MAX": greatest,
    "COUNT DISTINCT": distinct,
    "GROUP BY key": by_key,
    "GROUP BY a column": by_column,
    "star of 3": star,
    "chain of 3": chain,
    "SUM(a * b)": products,
    "STDDEV": deviation,
    "a.x > b.x": greater_pairs,
}
