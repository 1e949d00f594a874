"""What was decided, when and why: the latest decisions, as rows of a table."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from windrow.event_time import START_OF_TIME
from windrow.governor.tables import Decision, WindowState

__all__ = [
    "DECISIONS_LIMIT",
    "LOG_SCHEMA",
    "DecisionLog",
    "DecisionRecord",
    "WidthChange",
    "record_of",
]

# Decisions that a log keeps; older ones are forgotten.
DECISIONS_LIMIT = 1_000

LOG_SCHEMA = pa.schema(
    [
        ("at", pa.timestamp("us", tz="UTC")),
        ("why", pa.string()),
        ("case", pa.string()),
        ("solver", pa.string()),
        ("bytes", pa.int64()),
        ("least", pa.int64()),
        ("bound", pa.int64()),
        ("gap", pa.float64()),
        ("window", pa.string()),
        ("width_before", pa.duration("us")),
        ("width_after", pa.duration("us")),
        ("turn_period", pa.duration("us")),
        ("turn_growth", pa.duration("us")),
    ]
)


@dataclass(frozen=True)
class WidthChange:
    """One window's width before and after a decision; period and growth of its turn, if any."""

    window: str
    before_us: int
    after_us: int
    period_us: int | None = None
    growth_us: int | None = None


@dataclass(frozen=True)
class DecisionRecord:
    """A decision, when it was made, and why. Bytes are whole."""

    at_us: int
    why: str
    case: str
    solver: str
    bytes: int
    least_bytes: int
    bound_bytes: int
    gap: float
    widths: tuple[WidthChange, ...]


def record_of(
    at_us: int, why: str, decision: Decision, windows: Sequence[WindowState]
) -> DecisionRecord:
    """The record of a decision; the windows are as they were before it.

    >>> from windrow.governor.tables import WidthGiven
    >>> decision = Decision("B", (WidthGiven("s", 40),), 80.0, 60.0, 60.0, "greedy")
    >>> record = record_of(7, "rate of s", decision, [WindowState("s", 2.0, 1e6, width_us=50)])
    >>> record.widths[0]
    WidthChange(window='s', before_us=50, after_us=40, period_us=None, growth_us=None)
    """
    before = {each.window: each.width_us for each in windows}
    changes = tuple(
        WidthChange(
            each.window,
            before.get(each.window, 0),
            each.width_us,
            None if each.turn is None else each.turn.period_us,
            None if each.turn is None else each.turn.growth_us,
        )
        for each in decision.widths
    )
    return DecisionRecord(
        at_us,
        why,
        decision.case,
        decision.solver,
        round(decision.bytes),
        round(decision.least_bytes),
        round(decision.bound_bytes),
        decision.gap,
        changes,
    )


class DecisionLog:
    """The latest decisions, in the order in which they were made.

    >>> log = DecisionLog(limit=1)
    >>> for at_us in (1, 2):
    ...     log.add(DecisionRecord(at_us, "a start", "A", "proportional", 9, 5, 5, 0.0, ()))
    >>> [each.at_us for each in log]
    [2]
    """

    def __init__(self, limit: int = DECISIONS_LIMIT) -> None:
        assert limit > 0, f"a log of {limit} decisions"
        self._records: deque[DecisionRecord] = deque(maxlen=limit)
        self.added = 0  # those that were forgotten count

    def add(self, record: DecisionRecord) -> None:
        """Keep a decision; the oldest goes when there are too many."""
        self._records.append(record)
        self.added += 1

    def since(self, number: int) -> list[dict[str, Any]]:
        """The records after the first `number` that were added, as JSON has them."""
        newer = min(len(self._records), self.added - number)
        return [asdict(each) for each in [*self._records][len(self._records) - newer :]]

    def load(self, records: Sequence[Mapping[str, Any]], added: int | None = None) -> None:
        """Add what since() gave; added: how many there were with them, so that none comes twice.

        A call of the governor within another one tells of its decisions, and so does the outer one.

        >>> log, other = DecisionLog(), DecisionLog()
        >>> log.add(DecisionRecord(1, "a start", "A", "proportional", 9, 5, 5, 0.0, ()))
        >>> for _ in range(2):
        ...     other.load(log.since(0), log.added)
        >>> len(other)
        1
        """
        known = 0 if added is None else max(0, len(records) - (added - self.added))
        for each in records[known:]:
            widths = tuple(WidthChange(**change) for change in each["widths"])
            self.add(DecisionRecord(**{**each, "widths": widths}))
        self.added = self.added if added is None else added

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[DecisionRecord]:
        return iter(self._records)

    def columns(self) -> dict[str, list[Any]]:
        """One row for each window of each decision, by the names of LOG_SCHEMA."""
        columns: dict[str, list[Any]] = {name: [] for name in LOG_SCHEMA.names}
        for record in self._records:
            for change in record.widths:
                for name, value in zip(LOG_SCHEMA.names, _row(record, change), strict=True):
                    columns[name].append(value)
        return columns

    def table(self) -> pa.Table:
        """The same as an Arrow table."""
        return pa.table(self.columns(), schema=LOG_SCHEMA)


def _row(record: DecisionRecord, change: WidthChange) -> tuple[Any, ...]:
    at_us = None if record.at_us <= START_OF_TIME else record.at_us  # before the first row
    return (
        at_us, record.why, record.case, record.solver, record.bytes, record.least_bytes,
        record.bound_bytes, record.gap, change.window, change.before_us, change.after_us,
        change.period_us, change.growth_us,
    )  # fmt: skip
