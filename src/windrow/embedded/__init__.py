"""Continuous queries in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from windrow.deferred import deferred
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession

if TYPE_CHECKING:
    from windrow.embedded.history_query import EmbeddedHistoryQuery
else:
    EmbeddedHistoryQuery = deferred("windrow.embedded.history_query", "EmbeddedHistoryQuery")

__all__ = ["EmbeddedHistoryQuery", "EmbeddedQuery", "EmbeddedSession"]
