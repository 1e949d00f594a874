"""A batch cut into steps of the clock that the publisher can take one after the other.

What a large batch updates may be more than the publisher keeps for its readers at a time. Cuts fall
between instants, so they do not show in any answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windrow.operators.partial import Partial
from windrow.spark.worker.pieces import pieces_of
from windrow.spark.worker.shard_output import ShardOutput

__all__ = ["STEP_UPDATES", "clock_steps"]

STEP_UPDATES = 500_000

Instants = NDArray[np.int64]
Step = tuple[list[tuple[int, Partial]], Instants, int]


def clock_steps(
    outputs: Sequence[ShardOutput], next_stop: Callable[[int], int] | None = None
) -> Iterator[Step]:
    """Partial results by bucket, instants and the clock, for each step of the batch.

    next_stop: how far a step that would go to an instant may go, asked before each step.
    """
    buckets = [Bucket(each) for each in outputs]
    instants = np.unique(np.concatenate([each.instants for each in outputs]))
    last_us = outputs[0].clock_us
    ends = {piece.until_us for bucket in buckets for piece in bucket.pieces}
    after_us = None
    for end_us in sorted({end for end in ends if end < last_us} | {last_us}):
        partials = [(bucket.number, bucket.partial(end_us)) for bucket in buckets]
        # What came before was given with the piece that ends there.
        partials = [(number, _between(each, after_us, end_us)) for number, each in partials]
        stops = [*_cuts([partial.at for _, partial in partials], end_us), end_us]
        while stops:
            until_us = stops[0]
            if next_stop is not None:
                until_us = next_stop(until_us)
            if until_us == stops[0]:
                del stops[0]
            chosen = [(number, _between(each, after_us, until_us)) for number, each in partials]
            due = instants <= until_us
            if after_us is not None:
                due &= instants > after_us
            yield chosen, instants[due], until_us
            after_us = until_us


class Bucket:
    """The pieces of one bucket; one at a time is unpacked."""

    def __init__(self, output: ShardOutput) -> None:
        self.number = output.bucket
        self.pieces = pieces_of(output.partial)
        self._place = 0
        self._partial = self.pieces[0].partial()

    def partial(self, end_us: int) -> Partial:
        """The updates up to this instant, and perhaps others before and after; it only grows."""
        while self.pieces[self._place].until_us < end_us and self._place + 1 < len(self.pieces):
            self._place += 1
            self._partial = self.pieces[self._place].partial()
        return self._partial


def _cuts(times: list[Instants], last_us: int) -> list[int]:
    """Instants before the last one that leave about STEP_UPDATES updates between them."""
    total = sum(each.size for each in times)
    if total <= STEP_UPDATES:
        return []
    ordered = np.sort(np.concatenate(times))
    return [int(cut) for cut in np.unique(ordered[STEP_UPDATES::STEP_UPDATES]) if cut < last_us]


def _between(partial: Partial, after_us: int | None, until_us: int) -> Partial:
    first = 0 if after_us is None else int(np.searchsorted(partial.at, after_us, side="right"))
    end = int(np.searchsorted(partial.at, until_us, side="right"))
    complete_at = partial.complete_at
    if complete_at is not None:
        is_told = after_us is not None and complete_at <= after_us
        complete_at = None if is_told or complete_at > until_us else complete_at
    if first == 0 and end == partial.at.size and complete_at == partial.complete_at:
        return partial
    return replace(
        partial,
        at=partial.at[first:end],
        group=partial.group[first:end],
        count=partial.count[first:end],
        lanes=partial.lanes[first:end],
        extras=partial.extras[first:end],
        complete_at=complete_at,
    )
