"""Bad rows written to Parquet files, one for each push or batch of a file that has some."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from windrow.connectors.parquet.whole_files import write_whole
from windrow.errors import DataError
from windrow.rows.bad_rows import BadRow, bad_rows_table

__all__ = ["BadRowsFolder"]


class BadRowsFolder:
    """A folder to which bad rows of one stream are added; what is there stays."""

    def __init__(self, stream: str, path: str) -> None:
        self._stream, self._path = stream, Path(path)
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            self._next = 1 + max(
                (int(each.stem.removeprefix("bad-")) for each in self._path.glob("bad-*.parquet")),
                default=-1,
            )
        except (OSError, ValueError) as problem:
            raise self._failed(problem) from None

    def add(self, rows: Sequence[BadRow]) -> None:
        """Writes these rows to a file of their own."""
        if not rows:
            return
        try:
            write_whole(bad_rows_table(rows), self._path / f"bad-{self._next:012d}.parquet")
        except OSError as problem:
            raise self._failed(problem) from None
        self._next += 1

    def _failed(self, problem: Exception) -> DataError:
        return DataError(
            "WD514",
            f"bad rows of stream {self._stream!r} cannot be written to {self._path}: {problem}",
            hint="name a writable folder, on a disk with free space",
        )
