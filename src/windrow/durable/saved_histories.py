"""Histories in a snapshot, with the rows that wait for them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.history.operator import HistoryOperator, spec_of
from windrow.history.saved_state import SavedHistory, restore_history, save_history

__all__ = ["load_history", "saved_history"]

_OWN = ("known_from_us", "rows", "_is_finished", "_step", "step_made")


def saved_history(operator: HistoryOperator, parts: SavedParts) -> dict[str, Any]:
    """A history that is whole."""
    saved = save_history(operator.history)
    waiting = operator._waiting
    return {
        **{name: getattr(operator, name) for name in _OWN},
        "history": saved.header,
        "tables": {name: parts.add_table(table) for name, table in saved.tables.items()},
        "waiting": [parts.add_table(batch) for batch in waiting],
        "missed": operator.missed.listed(),
    }


def load_history(operator: HistoryOperator, saved: dict[str, Any], parts: SavedReader) -> None:
    """Back into a history that was declared again."""
    for name in _OWN:
        setattr(operator, name, saved[name])
    tables = {name: parts.table(number) for name, number in saved["tables"].items()}
    spec = spec_of(operator.schema)
    operator.history = restore_history(spec, SavedHistory(saved["history"], tables))
    # In states of before it was saved no row was missed.
    for span in saved.get("missed", ()):
        operator.missed.add(*span)
    operator._waiting = [
        batch for number in saved["waiting"] for batch in _batches(parts.table(number))
    ]


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    found: list[pa.RecordBatch] = table.combine_chunks().to_batches()
    return found
