"""Rows that several queries share, in a snapshot: once, with the keys that each query sees in them.

A query begins at a place of its own in the rows, and some of them take no part in it: these have
no key. Its values are words of the rows, in an order that depends on who came first; what it does
not hold as words stands beside its keys.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from windrow.durable.saved_parts import SavedParts, SavedReader
from windrow.embedded.query import EmbeddedQuery
from windrow.rows.prepared_names import TIME
from windrow.rows.prepared_rows import PreparedRows
from windrow.rows.shared_rows import RowPool, RowReader, SharedRows
from windrow.runtime.shard import Shard
from windrow.windows.codes import NO_CODE
from windrow.windows.column_words import value_columns
from windrow.windows.row_store import NO_MATRIX

__all__ = ["load_readers", "load_shared", "saved_readers", "saved_shared"]


def saved_shared(pool: RowPool, parts: SavedParts) -> list[int]:
    """The rows of all stores of a pool, in its order."""
    return [parts.add_table(_table_of(each)) for each in pool.all()]


def _table_of(shared: SharedRows) -> pa.Table:
    store = shared.store
    held = slice(store.head, store.end)
    columns = {TIME: store.times[held].copy()}
    columns |= {f"w{number}": row[held].copy() for number, row in enumerate(store.values)}
    columns |= {f"f{number}": row[held].copy() for number, row in enumerate(store.valid)}
    return pa.table(columns)


def saved_readers(query: EmbeddedQuery, pool: RowPool, parts: SavedParts) -> list[dict[str, Any]]:
    """Where each input of a query stands in rows that are shared, and its keys."""
    stores = [id(each) for each in pool.all()]
    return [
        _saved_reader(query, number, stores.index(id(reader.shared)), parts)
        for number, reader in enumerate(query.readers)
    ]


def _saved_reader(
    query: EmbeddedQuery, number: int, store: int, parts: SavedParts
) -> dict[str, Any]:
    reader, shard = query.readers[number], query.held_shard
    assert isinstance(shard, Shard)
    columns = query.windows[number].columns
    first = columns.store.head
    takes_part = columns.codes[columns.head : columns.end] != NO_CODE
    rows = shard.input_rows(shard.plan, number)
    own = [name for name in rows.schema.names if name not in (TIME, *reader.held_names)]
    return {
        "store": store,
        "start": columns.head - first,
        "strange": parts.add_numbers(np.flatnonzero(~takes_part)),
        "chosen": list(reader.chosen),
        "keys": parts.add_table(rows.select(own)) if own else None,
    }


def load_shared(
    pool: RowPool,
    saved: list[int],
    readers: list[tuple[RowReader, dict[str, Any]]],
    parts: SavedReader,
) -> None:
    """Rows into the stores that queries, registered again, have come to share; and their order."""
    stores: dict[int, SharedRows] = {told["store"]: reader.shared for reader, told in readers}
    for number, shared in stores.items():
        table = parts.table(saved[number])
        place = {
            new: old
            for reader, told in readers
            if told["store"] == number
            for new, old in zip(reader.chosen, told["chosen"], strict=True)
        }
        times = np.array(table.column(TIME).to_numpy(), np.int64)
        words = _matrix(table, "w", place, times.size, np.int64)
        has_flags = "f0" in table.column_names
        flags = _matrix(table, "f", place, times.size, np.uint8) if has_flags else NO_MATRIX
        shared.store.append(times, words, flags)
    pool.arrange([stores[number] for number in sorted(stores)])


def _matrix(table: pa.Table, letter: str, place: dict[int, int], size: int, kind: Any) -> Any:
    found = np.empty((len(place), size), kind)
    for new, old in place.items():
        found[new] = table.column(f"{letter}{old}").to_numpy()
    return found


def load_readers(
    query: EmbeddedQuery, saved: list[dict[str, Any]], clock: int, parts: SavedReader
) -> None:
    """The rows of its stores into a query that has seen none, and on to its clock."""
    shard = query.held_shard
    assert isinstance(shard, Shard)
    rows = {
        number: _rows_of(reader, told, parts)
        for number, (reader, told) in enumerate(zip(query.readers, saved, strict=True))
    }
    for reader, told in zip(query.readers, saved, strict=True):
        assert reader.window is not None
        reader.window.columns.cursor[:2] = told["start"]
    shard.refill(rows, clock)


def _rows_of(reader: RowReader, told: dict[str, Any], parts: SavedReader) -> PreparedRows:
    """All rows of the store, as the query has them: those that take no part have no key."""
    store, schema = reader.shared.store, reader.columns.schema
    takes_part = np.ones(store.end, np.bool_)
    takes_part[: told["start"]] = False
    takes_part[told["start"] + parts.numbers(told["strange"])] = False
    numbers = np.cumsum(takes_part) - 1
    places = pa.array(np.where(takes_part, numbers, 0), mask=~takes_part)
    chosen = list(reader.chosen)
    flags = store.valid[chosen, : store.end] if store.valid.size else NO_MATRIX
    words = (store.values[chosen, : store.end].copy(), flags)
    given = {TIME: pa.array(store.times[: store.end].copy())}
    types = [schema.field(name).type for name in reader.held_names]
    given |= dict(zip(reader.held_names, value_columns(*words, types), strict=True))
    if told["keys"] is not None:
        keys = parts.table(told["keys"]).take(places).combine_chunks()
        given |= {name: _whole(keys.column(name)) for name in keys.column_names}
    batch = pa.RecordBatch.from_arrays([given[name] for name in schema.names], schema=schema)
    return PreparedRows(
        batch, reader.columns, None if takes_part.all() else takes_part, words=words
    )


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return found.chunk(0) if isinstance(found, pa.ChunkedArray) else found
