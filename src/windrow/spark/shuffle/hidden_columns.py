"""Columns that come with the rows of a source and are no columns of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.connectors.contract import DAMAGE

__all__ = ["DAMAGE", "GivenRows", "given_rows"]


@dataclass(frozen=True)
class GivenRows:
    """The columns of the stream, and the text of rows that could not be read."""

    batch: pa.RecordBatch
    unread: tuple[str, ...] = ()


def given_rows(given: pa.RecordBatch) -> GivenRows:
    """A batch without its hidden column, and without rows that could not be read.

    >>> rows = given_rows(pa.record_batch({"x": [1, None], DAMAGE: [None, "oh"]}))
    >>> rows.batch.to_pydict(), rows.unread
    ({'x': [1]}, ('oh',))
    """
    if DAMAGE not in given.schema.names:
        return GivenRows(given)
    unread, texts = (), given.column(DAMAGE)
    if texts.null_count < len(texts):
        # The text of a row that is not UTF-8 either is shown as it stands.
        raw = texts.cast(pa.binary()).drop_null().to_pylist()
        unread = tuple(text.decode("utf-8", "backslashreplace") for text in raw)
        given = given.filter(texts.is_null())
    return GivenRows(given.select([name for name in given.schema.names if name != DAMAGE]), unread)
