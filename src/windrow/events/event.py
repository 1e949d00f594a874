"""What happens to the answer of a query at one instant, and who is still to be told of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from windrow.events.answer import Answer

if TYPE_CHECKING:
    from windrow.events.subscriptions import Subscription

__all__ = ["Event", "Row", "Shown"]

Row = dict[str, Any]
# A row and how many times it is in the answer; None: it is not.
Shown = tuple[Row, int] | None


class Event:
    """Rows that came and went at an instant, and the answer, if one is due.

    rows: all rows of the answer from then on, where whoever noted it knows them. shown: what keys
    show from then on, where a run noted it. deliveries: who is to be called with what; None: that
    is open, and falls to whoever has subscribed by then.
    """

    __slots__ = ("answer", "at_us", "changes", "deliveries", "rows", "shown")

    def __init__(
        self,
        at_us: int,
        changes: list[tuple[int, Row]],
        answer: Answer | None = None,
        *,
        rows: list[Row] | None = None,
        shown: Mapping[Any, Shown] | None = None,
    ) -> None:
        self.at_us, self.changes, self.answer = at_us, changes, answer
        self.rows, self.shown = rows, shown
        self.deliveries: deque[tuple[Subscription, Any]] | None = None
