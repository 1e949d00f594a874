"""How long the recent batches of a run took, and how old their answers were at the sink.

Times are those of the driver's clock. A row came to its source at an unknown time: what is known is
when Spark had last looked for rows before it found it, and from then on its latency is counted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from windrow.event_time import END_OF_TIME, START_OF_TIME

__all__ = ["QUANTILES", "RECENT_BATCHES", "BatchTime", "BatchTimes"]

RECENT_BATCHES = 100
QUANTILES = (0.5, 0.95)

# Without a trigger Spark looks for new rows a hundred times a second.
_LOOK_US = 10_000
# For so long after the sink has a batch Spark may still be at it, and does not look.
_COMMIT_US = 500_000
_MS = 1_000


@dataclass(frozen=True)
class BatchTime:
    """One batch: when it began, when the sink had it, and through when it has answered.

    came_us: the earliest time at which its rows can have come; None where nobody knows. start: the
    number of the start since which it ran.
    """

    began_us: int
    written_us: int
    clock_us: int | None
    came_us: int | None
    start: int

    @property
    def took_us(self) -> int:
        """From its begin until the sink had it."""
        return max(0, self.written_us - self.began_us)

    @property
    def event_us(self) -> int | None:
        """How old its newest answer was at the sink, by event time."""
        known = self.clock_us is not None and START_OF_TIME < self.clock_us < END_OF_TIME
        return self.written_us - self.clock_us if known and self.clock_us is not None else None

    @property
    def arrival_us(self) -> int | None:
        """How long ago its first row had come when the sink had the answer, at most."""
        return None if self.came_us is None else max(0, self.written_us - self.came_us)


class BatchTimes:
    """The latest batches of one run, at most RECENT_BATCHES; read from any thread.

    >>> times = BatchTimes()
    >>> times.launched(1_000_000, now_us=0)
    >>> times.add(0, 400_000, None)
    >>> times.add(1_000_000, 1_200_000, None)
    >>> shown = times.shown()
    >>> shown["batch_ms"], shown["arrival_ms"], shown["busy"], shown["over_trigger"]
    ({'p50': 200.0, 'p95': 400.0}, {'p50': 1200.0, 'p95': 1200.0}, 0.4, 0.0)
    """

    def __init__(self) -> None:
        self._recent: tuple[BatchTime, ...] = ()
        self._trigger_us: int | None = None
        self._launched_us = self._starts = 0
        self.over_trigger = 0  # batches so far that took longer than the trigger

    def launched(self, trigger_us: int | None, now_us: int | None = None) -> None:
        """The run begins, or goes on; trigger_us: 0 for always, None to take what is there."""
        self._trigger_us = trigger_us
        self._launched_us = time.time_ns() // 1_000 if now_us is None else now_us
        self._starts += 1

    def add(self, began_us: int | None, written_us: int, clock_us: int | None) -> None:
        """A batch is at the sink; began_us: as Spark has recorded, which a repeated batch keeps."""
        is_repeated = began_us is None or began_us < self._launched_us
        began = self._launched_us if began_us is None or is_repeated else began_us
        came_us = None if is_repeated else self._came_us(began)
        batch = BatchTime(began, written_us, clock_us, came_us, self._starts)
        if self._trigger_us and batch.took_us > self._trigger_us:
            self.over_trigger += 1
        # Exchanged as a whole: whoever reads in another thread has one state or the other.
        self._recent = (*self._recent[1 - RECENT_BATCHES :], batch)

    def _came_us(self, began_us: int) -> int | None:
        """When Spark last looked for rows before this batch."""
        since_start = self._since_start
        if self._trigger_us is None or not since_start:
            return None
        before = since_start[-1]
        looked_us = began_us - max(self._trigger_us, _LOOK_US)
        has_looked = looked_us >= before.written_us + _COMMIT_US
        return looked_us if has_looked else before.began_us

    @property
    def _since_start(self) -> list[BatchTime]:
        """Those of the recent batches that came since it was started last."""
        return [each for each in self._recent if each.start == self._starts]

    def quantiles(self) -> dict[str, dict[float, float]]:
        """Of batch, event and arrival latencies, in microseconds; those that are known."""
        recent = self._recent
        found: dict[str, list[int | None]] = {
            "batch": [each.took_us for each in recent],
            "event": [each.event_us for each in recent],
            "arrival": [each.arrival_us for each in recent],
        }
        known = {name: [each for each in us if each is not None] for name, us in found.items()}
        return {
            name: {quantile: _quantile(us, quantile) for quantile in QUANTILES}
            for name, us in known.items()
            if us
        }

    @property
    def busy(self) -> float | None:
        """The part of the time of the recent batches, since the start, in which one was at work."""
        recent = self._since_start
        if len(recent) < 2:
            return None
        # The time from the last begin on is not over: the batches before it are compared.
        span_us = recent[-1].began_us - recent[0].began_us
        return min(1.0, sum(each.took_us for each in recent[:-1]) / max(1, span_us))

    @property
    def over_trigger_share(self) -> float | None:
        """The part of the recent batches that took longer than the trigger; None without one."""
        if not self._trigger_us or not self._recent:
            return None
        over = sum(each.took_us > self._trigger_us for each in self._recent)
        return over / len(self._recent)

    def shown(self) -> dict[str, Any]:
        """The same for people, in milliseconds."""
        quantiles = self.quantiles()
        latencies = {
            f"{name}_ms": {
                f"p{round(100 * quantile)}": round(us / _MS, 1) for quantile, us in each.items()
            }
            for name in ("batch", "event", "arrival")
            for each in [quantiles.get(name, {})]
        }
        rounded = {
            name: None if value is None else round(value, 4)
            for name, value in (("busy", self.busy), ("over_trigger", self.over_trigger_share))
        }
        return {"batches": len(self._recent), **latencies, **rounded}


def _quantile(values: Sequence[int], quantile: float) -> float:
    """The least value that so many of them do not exceed."""
    return float(sorted(values)[max(0, math.ceil(quantile * len(values)) - 1)])
