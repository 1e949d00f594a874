"""A whole session as a snapshot: what was declared, again, and then the state of each part.

Where a part cannot be saved as it is, there is no snapshot, and the log stays: a replay of all of
it gives the session in any case.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from windrow.durable.progress import Progress
from windrow.durable.records import Record
from windrow.durable.saved_alerts import load_alert, saved_alert
from windrow.durable.saved_histories import load_history, saved_history
from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.durable.saved_queries import load_query, saved_query, why_not_saved
from windrow.durable.saved_questions import (
    load_past_query,
    saved_past_query,
    why_past_not_saved,
)
from windrow.durable.saved_shared import load_shared, saved_shared
from windrow.durable.saved_streams import load_stream, saved_stream
from windrow.durable.saved_views import load_views, plan_views, read_views, saved_views
from windrow.durable.snapshots import Snapshot
from windrow.plan.serialise import plan_to_json
from windrow.runtime.tables.table_store import TableStore

if TYPE_CHECKING:
    from windrow.durable.session import DurableSession

__all__ = ["load_session", "load_tables", "records_of", "saved_session", "why_no_snapshot"]

# A snapshot is made in memory: there must be room for what it is made of.
ROOM_PARTS = 2


def why_no_snapshot(session: DurableSession) -> str | None:
    """Why the session cannot be saved now; None where it can."""
    ingest = session.ingest
    if any(each.has_waiting or each._suspects for each in ingest.streams.values()):
        return "rows wait"
    if ingest.staged:
        return "rows of sources are not applied yet"
    operators = session.past.operators.values()
    if not all(each.history.is_whole for each in operators):
        return "a history has failed"
    queries = session.running_queries()
    runs = [*read_views(session.running_views(), queries), *queries]
    held = sum(run.state_bytes for run in runs) + ingest.pool.nbytes
    if held > session.memory // ROOM_PARTS:
        return "there may be no room for it"
    asked: list[Any] = session.past.running()
    reasons = (*map(why_not_saved, runs), *map(why_past_not_saved, asked))
    return next(filter(None, reasons), None)


def saved_session(session: DurableSession) -> tuple[dict[str, Any], SavedParts]:
    """Header and sections of a session that can be saved."""
    parts, ingest = SavedParts(), session.ingest
    tables, queries = ingest.tables, session.running_queries()
    asked: list[Any] = session.past.running()
    header = {
        "settings": session.settings.told(),
        "declared": session.declared,
        "tables": {name: parts.add(each.snapshot()) for name, each in tables.stores.items()},
        "reached": [tables.reached, tables.is_finished],
        "queries": [
            {
                **session.told_of(query),
                "plan": plan_to_json(query.plan),
                "state": saved_query(query, ingest.pool, parts),
            }
            for query in queries
        ],
        "views": saved_views(session, read_views(session.running_views(), queries), parts),
        "past": [
            {**session.told_of(query), "state": saved_past_query(query, parts)} for query in asked
        ],
        "shared": saved_shared(ingest.pool, parts),
        "governor": session.ingest.governing.state(),
        "streams": {name: saved_stream(each, parts) for name, each in ingest.streams.items()},
        "histories": {
            name: saved_history(each, parts) for name, each in session.past.operators.items()
        },
        "idle": [ingest._idle._last_us, [list(each) for each in ingest._idle._heartbeats]],
        "held": ingest._idle.held,
        "positions": ingest.positions,
        "steps": ingest.steps,
        "unnamed": session.unnamed,
        "progress": asdict(session.job_progress),
        "alerts": {
            name: saved_alert(each, parts)
            for name, each in session.alert_runs.items()
            if each.query.is_running
        },
    }
    return header, parts


def records_of(snapshot: Snapshot) -> Iterator[Record]:
    """A snapshot as what would have been written by a session that began with it."""
    sequence, saved, sections = snapshot
    for told in saved["declared"]:
        yield Record(sequence, told, [], 0)
    state = {"kind": "tables", "wall": 0, "saved": saved}
    yield Record(sequence, state, sections, 0)
    for told in (*saved["queries"], *saved.get("past", ())):
        yield Record(sequence, {**told, "kind": "query", "wall": 0}, [], 0)
    yield Record(sequence, {**state, "kind": "state"}, sections, 0)


def load_tables(session: DurableSession, record: Record) -> None:
    """Tables as they were: queries that read them are registered after it."""
    saved, parts, tables = (
        record.header["saved"],
        SavedReader(record.sections),
        session.ingest.tables,
    )
    for name, number in saved["tables"].items():
        tables.stores[name] = TableStore.restore(tables.stores[name].schema, parts.data(number))
    tables.reached, tables.is_finished = saved["reached"]
    plan_views(session, saved.get("views", ()))


def load_session(session: DurableSession, record: Record) -> None:
    """Everything else as it was, once all is declared and registered."""
    saved, parts, ingest = record.header["saved"], SavedReader(record.sections), session.ingest
    for name, state in saved["streams"].items():
        load_stream(ingest.streams[name], state, parts)
    for name, state in saved["histories"].items():
        load_history(session.past.operators[name], state, parts)
    load_views(session, saved.get("views", ()), parts)
    _load_queries(session, saved, parts)
    _load_questions(session, saved.get("past", ()), parts)
    for name, told in saved.get("alerts", {}).items():  # states of before there were any lack it
        load_alert(session, name, told, parts)
    last_us, heartbeats = saved["idle"]
    ingest._idle._last_us.update(last_us)
    ingest._idle._heartbeats.extend(tuple(each) for each in heartbeats)
    ingest._idle.held.update(saved.get("held", {}))  # states of before there were sources lack it
    ingest.positions.update(saved.get("positions", {}))
    ingest.steps, session.unnamed = saved["steps"], saved["unnamed"]
    session.ingest.progress = Progress(**saved["progress"])
    if "governor" in saved:
        ingest.governing.restore(saved["governor"])


def _load_queries(session: DurableSession, saved: dict[str, Any], parts: SavedReader) -> None:
    states = [(session[told["name"]], told["state"]) for told in saved["queries"]]
    for query, state in states:
        if state["shard"] is not None:  # it had its own rows, and had them always or came to
            for reader in query.readers:
                reader.close()
    readers = [
        (reader, told)
        for query, state in states
        for reader, told in zip(query.readers, state.get("shared", ()), strict=False)
    ]
    load_shared(session.ingest.pool, saved.get("shared", []), readers, parts)
    operators = session.past.operators
    for query, state in states:
        load_query(query, state, parts)
        # What completes answers has begun with a history that was not loaded yet.
        operator = operators.get(query.plan.streams[0])
        if query._bounded is not None and operator is not None:
            query._bounded.read_from(operator.history)


def _load_questions(
    session: DurableSession, saved: Sequence[dict[str, Any]], parts: SavedReader
) -> None:
    for told in saved:
        query: Any = session[told["name"]]
        load_past_query(query, told["state"], parts)
