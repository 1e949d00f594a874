"""Rows of a batch as records for Kafka, in this process: the same bytes that Spark writes.

So records of one key go to one partition, and follow each other in a compacted topic, whoever
writes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from windrow.connectors.kafka.record_headers import BATCH_HEADER, ROW_HEADER
from windrow.rows.json_texts import json_texts

__all__ = ["Record", "records_of"]


class Record(NamedTuple):
    """What the client is given."""

    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


def records_of(
    rows: pa.Table, removed: pa.Table | None, key: Sequence[str] | None, batch: str
) -> Iterator[Record]:
    """A record for each row, and one without a value for each that is removed.

    >>> rows = pa.table({"k": ["a"], "n": [1]})
    >>> next(records_of(rows, None, ["k"], "q-0"))[:2]
    (b'{"k":"a"}', b'{"k":"a","n":1}')
    """
    values: list[bytes | None] = [*_objects(rows)]
    keys = _keys(rows, key)
    if removed is not None:
        values += [None] * removed.num_rows
        keys += _keys(removed, key)
    for number, (own, value) in enumerate(zip(keys, values, strict=True)):
        headers = [(BATCH_HEADER, batch.encode()), (ROW_HEADER, str(number).encode())]
        yield Record(own, value, headers)


def _keys(rows: pa.Table, key: Sequence[str] | None) -> list[bytes | None]:
    return [None] * rows.num_rows if key is None else [*_objects(rows.select(list(key)))]


def _objects(rows: pa.Table) -> Iterator[bytes]:
    """A JSON object for each row; NULL is written as null."""
    if not rows.num_columns:
        return iter([b"{}"] * rows.num_rows)
    names = rows.column_names
    columns = [_with_own_digits(column) for column in rows.columns]
    structs = pa.StructArray.from_arrays([each.combine_chunks() for each in columns], names=names)
    return (text.encode() for text in json_texts(structs, is_compact=True) if text is not None)


def _with_own_digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A FLOAT has the digits that tell it from other FLOATs, not those of the nearest DOUBLE."""
    if not pa.types.is_float32(column.type):
        return column
    return pc.cast(pc.cast(column, pa.string()), pa.float64())
