"""Continuous queries: an interval that has no end yet, and what each moment adds to it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.history.answers.answer import Answer
from windrow.history.answers.merge import merge_answers
from windrow.history.history import History

__all__ = ["Change", "ContinuousQuery"]


@dataclass(frozen=True)
class Change:
    """What was added, U(t) - U(t - 1), and the whole, U(t); both end at edge_us, not included."""

    edge_us: int
    added: Answer
    whole: Answer


class ContinuousQuery:
    """All from since_us on, as time goes on, in steps of the finest level.

    The edge is the last border of that level through which the history is complete. Only what lies
    between two edges is looked at, and the whole stays exact when its nodes have become coarser.
    """

    def __init__(
        self, history: History, since_us: int, *, keys: pa.Table | None = None, total: bool = False
    ) -> None:
        self._history = history
        self._keys = keys
        self._total = total
        self._step_us = history.spec.granularities_us[0]
        self.edge_us = max(since_us, self._complete_edge_us())
        self.whole = self._answer(since_us, self.edge_us)

    def advance(self) -> Change | None:
        """What was added since the last call; None while the edge has not moved."""
        edge_us = self._complete_edge_us()
        if edge_us <= self.edge_us:
            return None
        added = self._answer(self.edge_us, edge_us)
        self.whole = merge_answers([self.whole, added])
        self.edge_us = edge_us
        return Change(edge_us, added, self.whole)

    def _complete_edge_us(self) -> int:
        return (self._history.now_us + 1) // self._step_us * self._step_us

    def _answer(self, since_us: int, until_us: int) -> Answer:
        return self._history.snapshot(since_us, until_us, keys=self._keys, total=self._total)
