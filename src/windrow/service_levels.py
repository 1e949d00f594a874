"""How well an answer or a query is served, as people read it."""

from __future__ import annotations

__all__ = ["INCOMPLETE", "LEVELS", "UNMET"]

# A query that the last decision does not serve as its clauses say, as they are read now: what its
# answers lack is still bounded, and said with each of them.
UNMET = "unmet"
# Rows were refused that would count: nothing is certain.
INCOMPLETE = "incomplete"
# From the best to the worst: exact, within the error, within the error in turns.
LEVELS = ("A", "B", "C", UNMET, INCOMPLETE)
