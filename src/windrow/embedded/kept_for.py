"""The rows that streams keep, given to a query that begins: as if it had been there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from windrow.embedded.query import EmbeddedQuery
from windrow.embedded.stream_ingest import StreamIngest
from windrow.event_time import START_OF_TIME

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = ["fill", "keeps_for"]

Streams = Mapping[str, StreamIngest]


def keeps_for(streams: Streams, plan: RunnablePlan) -> bool:
    """Whether a stream of a query keeps rows for it."""
    return any(streams[name].kept is not None for name in plan.streams)


def fill(streams: Streams, query: EmbeddedQuery, clock: int) -> None:
    """Give the rows that are kept to a query that begins at the clock."""
    read = {name: streams[name] for name in query.plan.streams}
    kept = {name: each.kept for name, each in read.items() if each.kept is not None}
    if all(each.kept is not None or each.first_us is None for each in read.values()):
        dropped = [each.dropped_us for each in kept.values()]
        query.begun_us = max(dropped, default=START_OF_TIME)
    rows = {name: each.batch() for name, each in kept.items()}
    query.begin_full({name: each for name, each in rows.items() if each is not None}, clock)
