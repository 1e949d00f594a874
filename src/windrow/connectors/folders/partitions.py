"""Rows by the folders that they go to, named as those of Hive: room=hall/date=2026-01-01."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from windrow.errors import BindingError, DataError

__all__ = ["PARTITIONS_LIMIT", "check_partitions", "partitions_of"]

# Each is a file of its own in every batch.
PARTITIONS_LIMIT = 1_000
# The folder of rows whose value is NULL.
NULL_FOLDER = "__HIVE_DEFAULT_PARTITION__"
# Parts of the column `at` that may stand for columns.
_OF_TIME = {"date": "%Y-%m-%d", "hour": "%Y-%m-%dT%H"}


def check_partitions(schema: pa.Schema, names: Sequence[str]) -> None:
    """Refuses a column that is not there, or whose values are no names of folders."""
    for name in names:
        if name in schema.names:
            kind = schema.field(name).type
            if pa.types.is_nested(kind) or pa.types.is_floating(kind) or pa.types.is_binary(kind):
                raise BindingError(
                    "WB833",
                    f"column {name!r} cannot name folders: it is {kind}",
                    hint="partition by texts, whole numbers, dates, times or booleans",
                )
        elif name not in _OF_TIME:
            raise BindingError(
                "WB833",
                f"there is no column {name!r} to partition by",
                hint=f"its columns are: {', '.join(schema.names)}; 'date' and 'hour' are parts of "
                "the column 'at'",
            )
    if names and set(names) >= set(schema.names):
        raise BindingError(
            "WB833", "no column would be left in the files", hint="partition by fewer columns"
        )


def partitions_of(rows: pa.Table, names: Sequence[str]) -> Iterator[tuple[str, pa.Table]]:
    """Folders, and the rows that go there in their order, without the columns that name folders."""
    if not names:
        yield "", rows
        return
    texts = pa.table(
        [_texts(rows, name) for name in names], names=[f"c{i}" for i in range(len(names))]
    )
    places = texts.append_column("place", pa.array(range(rows.num_rows), pa.int64()))
    groups = places.group_by(texts.schema.names, use_threads=False).aggregate([("place", "list")])
    if groups.num_rows > PARTITIONS_LIMIT:
        raise DataError(
            "WD831",
            f"a batch would go to {groups.num_rows} folders: {PARTITIONS_LIMIT} are possible",
            hint="partition by columns with fewer values, such as 'date'",
        )
    rest = rows.drop_columns([name for name in names if name in rows.schema.names])
    for row in groups.to_pylist():
        values = [row[column] for column in texts.schema.names]
        folder = "/".join(map(_folder, names, values))
        yield folder, rest.take(pa.array(row["place_list"], pa.int64()))


def _texts(rows: pa.Table, name: str) -> pa.ChunkedArray:
    if name in rows.schema.names:
        column = rows.column(name)
        if pa.types.is_timestamp(column.type):
            column = column.cast(pa.timestamp("us"))
        return column.cast(pa.string())
    at = rows.column("at").cast(pa.timestamp("s"), safe=False)
    return pc.strftime(at, _OF_TIME[name])


def _folder(name: str, value: str | None) -> str:
    shown = NULL_FOLDER if value is None else quote(value, safe=" +-_.,:@")
    return f"{quote(name, safe=' ')}={shown}"
