"""Rows read from a file: those that fit, and those that were set aside, with their lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow
from windrow.schema import StreamSchema
from windrow.sources import FileSource

__all__ = ["FileRows", "refused"]


@dataclass(frozen=True)
class FileRows:
    """A batch of the stream's columns, and the rows among them that it cannot hold."""

    batch: pa.RecordBatch
    bad: tuple[BadRow, ...] = ()

    @property
    def num_rows(self) -> int:
        """Rows that were read, good and bad."""
        return int(self.batch.num_rows) + len(self.bad)

    def parts(self, rows: int) -> list[FileRows]:
        """Pieces of at most so many rows; the bad ones go with the first."""
        starts = range(0, max(1, self.batch.num_rows), rows)
        return [FileRows(self.batch.slice(at, rows), () if at else self.bad) for at in starts]


def refused(schema: StreamSchema, source: FileSource, file: Path, bad: BadRow) -> DataError:
    """The error of a file that has a bad row, which is named."""
    of_what = "row" if source.format == "parquet" else "line"
    where = f"{file}, {of_what} {bad.line}"
    if bad.column is not None:
        names = [column.name for column in schema.columns]
        where += f", column {names.index(bad.column) + 1} ({bad.column!r})"
    return DataError(
        "WD506",
        f"{where}: {bad.why}",
        hint=f"mend what is named, or declare stream {schema.name!r} with ON BAD ROW SET ASIDE; "
        "nothing of this file beyond the last good batch was taken",
        place=source.place,
    )
