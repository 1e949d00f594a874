"""Continuous queries in this process."""

from windrow.embedded.history_query import EmbeddedHistoryQuery
from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession

__all__ = ["EmbeddedHistoryQuery", "EmbeddedQuery", "EmbeddedSession"]
