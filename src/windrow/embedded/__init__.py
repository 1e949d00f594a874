"""Continuous queries in this process."""

from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.session import EmbeddedSession

__all__ = ["EmbeddedQuery", "EmbeddedSession"]
