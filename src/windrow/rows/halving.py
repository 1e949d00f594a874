"""Finds what fails among many: halves are tried until single ones are left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

__all__ = ["halved"]

Result = TypeVar("Result")


def halved(
    attempt: Callable[[int, int], Result], count: int, failures: tuple[type[Exception], ...]
) -> Iterator[tuple[int, Result | Exception]]:
    """What an attempt yields for ranges of places, in order; for a single one, its failure.

    Each comes with the place where it begins; together they cover all places.

    >>> tried = halved(lambda a, b: [6 // x for x in (1, 0, 2)[a:b]], 3, (ZeroDivisionError,))
    >>> [(place, given) for place, given in tried if isinstance(given, list)]
    [(0, [6]), (2, [3])]
    """
    waiting = [(0, count)]
    while waiting:
        first, end = waiting.pop()
        if first == end:
            continue
        try:
            given: Result | Exception = attempt(first, end)
        except failures as problem:
            if end - first > 1:
                middle = (first + end) // 2
                waiting += [(middle, end), (first, middle)]
                continue
            given = problem
        yield first, given
