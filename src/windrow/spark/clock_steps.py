"""A batch cut into steps of the clock that the publisher can take one after the other.

What a large batch touches may be more than the publisher keeps for its readers at a time. Cuts fall
between instants, so they do not show in any answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windrow.engine.partial import Partial
from windrow.spark.shard_output import ShardOutput

__all__ = ["STEP_TOUCHES", "clock_steps"]

STEP_TOUCHES = 500_000

Instants = NDArray[np.int64]
Step = tuple[list[tuple[int, Partial]], Instants, int]


def clock_steps(outputs: Sequence[ShardOutput]) -> Iterator[Step]:
    """Partial results by bucket, instants and the clock, for each step of the batch."""
    partials = [(each.bucket, Partial.from_bytes(bytes(each.partial))) for each in outputs]
    instants = np.concatenate([each.instants for each in outputs])
    last_us = outputs[0].clock_us
    after_us = None
    for until_us in [*_cuts([partial.at for _, partial in partials], last_us), last_us]:
        chosen = [(bucket, _between(partial, after_us, until_us)) for bucket, partial in partials]
        due = (
            instants <= until_us
            if after_us is None
            else ((instants > after_us) & (instants <= until_us))
        )
        yield chosen, instants[due], until_us
        after_us = until_us


def _cuts(times: list[Instants], last_us: int) -> list[int]:
    """Instants before the last one that leave about STEP_TOUCHES touches between them."""
    total = sum(each.size for each in times)
    if total <= STEP_TOUCHES:
        return []
    ordered = np.sort(np.concatenate(times))
    return [int(cut) for cut in np.unique(ordered[STEP_TOUCHES::STEP_TOUCHES]) if cut < last_us]


def _between(partial: Partial, after_us: int | None, until_us: int) -> Partial:
    first = 0 if after_us is None else int(np.searchsorted(partial.at, after_us, side="right"))
    end = int(np.searchsorted(partial.at, until_us, side="right"))
    complete_at = partial.complete_at
    if complete_at is not None and not (after_us or complete_at - 1) < complete_at <= until_us:
        complete_at = None
    if first == 0 and end == partial.at.size and complete_at == partial.complete_at:
        return partial
    return replace(
        partial,
        at=partial.at[first:end],
        entity=partial.entity[first:end],
        count=partial.count[first:end],
        lanes=partial.lanes[first:end],
        extras=partial.extras[first:end],
        complete_at=complete_at,
    )
