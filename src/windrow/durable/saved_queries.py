"""Queries in a snapshot: the rows of their windows, their results, and what nobody has read."""

from __future__ import annotations

from typing import Any

from windrow.durable.queries import DurableQuery
from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.durable.saved_shared import load_readers, saved_readers
from windrow.embedded.query import EmbeddedQuery
from windrow.governor.bounded.answers import BoundedAnswers
from windrow.governor.bounded.joined_answers import JoinedAnswers
from windrow.governor.bounded.missed_rows import MissedRows
from windrow.output.publish import Publisher
from windrow.plan.model import QueryPlan
from windrow.plan.relations.tree_plan import TreePlan
from windrow.rows.set_aside import AsideRow
from windrow.rows.shared_rows import RowPool
from windrow.runtime.shard import Shard
from windrow.runtime.trees.tree_shard import TreeShard
from windrow.windows.lifetime import lifetimes_from_json, lifetimes_to_json

__all__ = ["load_query", "saved_query", "why_not_saved"]

_OWN = ("_first_clock", "_taken", "begun_us", "_kept_rows", "_told_lost", "_told_netted")


def why_not_saved(query: EmbeddedQuery) -> str | None:
    """Why a query, or a view, cannot be in a snapshot now; None where it can."""
    if not query.is_whole or query._failure is not None:
        return "it has failed"
    if isinstance(query, DurableQuery) and query.written.is_behind:
        return "what was read of it is in no record"
    if isinstance(query._bounded, JoinedAnswers):
        return "it has ERROR over a join"
    if not query._followed._own.is_empty:
        return "its answers wait for several readers"
    return None


def saved_query(query: EmbeddedQuery, pool: RowPool, parts: SavedParts) -> dict[str, Any]:
    """A query that can be saved."""
    shared = saved_readers(query, pool, parts)
    ledger = query._ledger
    span = query.reading.span
    bounded, missed = query._bounded, query._missed
    assert not isinstance(bounded, JoinedAnswers), "why_not_saved() says that it is not"
    return {
        **{name: getattr(query, name) for name in _OWN},
        "clock": query.clock,
        "shared": shared,
        "lifetimes": _lifetimes_of(query) if shared else [],
        "shard": None if shared else parts.add(query.held_shard.snapshot()),
        "publisher": parts.add(query._publisher.snapshot()),
        "entries": [parts.add_numbers(each.listed()) for each in query._entries],
        "rows_in": ledger.rows_in,
        "set_aside": ledger.set_aside,
        "aside": [list(row) for row in ledger.rows],
        "life": None if query.life is None else list(query.life),
        "span": list(span),
        "read_until": [each.until for each in query._view_instants],
        "bounded": None if bounded is None else [parts.add(each) for each in bounded.snapshot()],
        "missed": None if missed is None else missed.saved(),
    }


def load_query(query: EmbeddedQuery, saved: dict[str, Any], parts: SavedReader) -> None:
    """Back into a query that was registered again."""
    for name in _OWN:
        setattr(query, name, saved[name])
    if saved["shard"] is None:
        # States of before windows that are narrowed could be saved lack it.
        query.held_shard.change_lifetimes(lifetimes_from_json(saved.get("lifetimes", [])))
        load_readers(query, saved["shared"], saved["clock"], parts)
    else:
        query._shard.close()
        query._readers = ()
        query._shard = _shard_of(query, parts.data(saved["shard"]))
    old = query._publisher
    query._publisher = type(old).restore(_published(query), parts.data(saved["publisher"]))
    query._publisher.unread_limit = old.unread_limit
    if isinstance(query._bounded, BoundedAnswers):
        assert isinstance(query._publisher, Publisher)
        saved_parts = [parts.data(number) for number in saved["bounded"]]
        query._bounded = query._bounded.restored(query._publisher, saved_parts)
    # States of before these could be saved lack it.
    if saved.get("missed") is not None:
        query._missed = MissedRows.of(query.plan, saved["missed"])
    for entries, number in zip(query._entries, saved["entries"], strict=True):
        entries.add(parts.numbers(number))
    query._ledger.rows_in.update(saved["rows_in"])
    query._ledger.set_aside.update(saved["set_aside"])
    query._ledger.rows.extend(AsideRow(*row) for row in saved["aside"])
    query._life = None if saved["life"] is None else tuple(saved["life"])
    query.reading.span = tuple(saved["span"])
    for read, until in zip(query._view_instants, saved["read_until"], strict=True):
        read.until = until


def _lifetimes_of(query: EmbeddedQuery) -> list[list[int]]:
    shard = query.held_shard
    assert isinstance(shard, Shard)
    return lifetimes_to_json(shard._lifetimes)


def _published(query: EmbeddedQuery) -> QueryPlan:
    """The plan whose answers are published."""
    if isinstance(query.plan, TreePlan):
        return query.plan.published
    bounded = query._bounded
    return bounded.plan if isinstance(bounded, BoundedAnswers) else query.plan


def _shard_of(query: EmbeddedQuery, data: bytes) -> Shard | TreeShard:
    held = query.held_shard
    if isinstance(held, Shard):
        return Shard.restore(held.plan, data)
    tables = {table.name: table for table in query.tables}
    return type(held).restore(held.plan, data, tables, {view.name: view for view in query.views})
