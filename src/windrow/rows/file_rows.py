"""Rows read from a file: those that fit, and those that were set aside, with their lines."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from windrow.rows.bad_rows import BadRow

__all__ = ["FileRows"]


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
        """Pieces of at most this many rows; the bad ones go with the first."""
        starts = range(0, max(1, self.batch.num_rows), rows)
        return [FileRows(self.batch.slice(at, rows), () if at else self.bad) for at in starts]
