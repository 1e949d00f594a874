"""Columns that come with the rows of a source and are no columns of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.connectors.contract import DAMAGE

__all__ = ["DAMAGE", "NOW", "GivenRows", "given_rows"]

NOW = "__windrow_now__"  # microseconds of the clock on the wall when the batch began


@dataclass(frozen=True)
class GivenRows:
    """The columns of the stream, and those that came with them."""

    batch: pa.RecordBatch
    now_us: int | None
    unread: tuple[str, ...] = ()  # the text of rows that could not be read


def given_rows(given: pa.RecordBatch) -> GivenRows:
    """A batch without its hidden columns, and without rows that could not be read.

    >>> given = pa.record_batch({"x": [1, None], DAMAGE: [None, "oh"], NOW: [5, 5]})
    >>> rows = given_rows(given)
    >>> rows.batch.to_pydict(), rows.now_us, rows.unread
    ({'x': [1]}, 5, ('oh',))
    """
    names = [name for name in given.schema.names if name not in (DAMAGE, NOW)]
    now_us, unread = None, ()
    if NOW in given.schema.names and given.num_rows:
        now_us = given.column(NOW)[0].as_py()
    if DAMAGE in given.schema.names:
        texts = given.column(DAMAGE)
        if texts.null_count < len(texts):
            # The text of a row that is not UTF-8 either is shown as it stands.
            raw = texts.cast(pa.binary()).drop_null().to_pylist()
            unread = tuple(text.decode("utf-8", "backslashreplace") for text in raw)
            given = given.filter(texts.is_null())
    return GivenRows(given.select(names), now_us, unread)
