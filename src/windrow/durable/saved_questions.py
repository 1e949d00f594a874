"""Continuous questions about the past in a snapshot."""

from __future__ import annotations

from typing import Any

from windrow.durable.queries import DurableHistoryQuery
from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.history.questions.saved_question import load_question, save_question

__all__ = ["load_past_query", "saved_past_query", "why_past_not_saved"]

_OWN = ("_told_lost", "_told_netted")


def why_past_not_saved(query: DurableHistoryQuery) -> str | None:
    """Why a question cannot be in a snapshot now; None where it can."""
    if query.failure is not None:
        return "a question has failed"
    return "what was read of it is in no record" if query.written.is_behind else None


def saved_past_query(query: DurableHistoryQuery, parts: SavedParts) -> dict[str, Any]:
    """A question that can be saved; its history is saved beside it."""
    query.recover()
    header, tables = save_question(query.question)
    return {
        **{name: getattr(query, name) for name in _OWN},
        "question": header,
        "tables": {name: parts.add_table(table) for name, table in tables.items()},
    }


def load_past_query(query: DurableHistoryQuery, saved: dict[str, Any], parts: SavedReader) -> None:
    """Back into a question that was registered again, once its history is loaded."""
    for name in _OWN:
        setattr(query, name, saved[name])
    tables = {name: parts.table(number) for name, number in saved["tables"].items()}
    load_question(query.question, saved["question"], tables)
