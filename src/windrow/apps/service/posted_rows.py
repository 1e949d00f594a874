"""Bodies of requests as rows of a stream, offered to its source."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass

import pyarrow as pa

from windrow.connectors.http.connector import HttpSource
from windrow.connectors.line_rows import LineRows
from windrow.errors import DataError
from windrow.rows.conversion import batch_of
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema

__all__ = ["PostedRows", "TakenRows"]

# As bad rows name where they were.
PLACE = "the body"


@dataclass(frozen=True)
class TakenRows:
    """Rows of a request on their way; kept: done when they are in the state, and on its disk."""

    rows: int
    set_aside: int
    kept: Future[None]
    is_repeated: bool


class PostedRows:
    """Takes bodies for one stream, in any thread."""

    def __init__(self, schema: StreamSchema, source: HttpSource) -> None:
        self._schema, self._inbox = schema, source.inbox
        self._inbox.is_served = True
        self._lines = LineRows(schema, source, "jsonl")

    @property
    def nbytes(self) -> int:
        """Bytes of rows that wait until they are kept."""
        return self._inbox.nbytes

    def close(self) -> None:
        """Take nothing more: those who wait hear that nobody knows what became of their rows."""
        self._inbox.close()

    def __call__(self, body: bytes, form: str, producer: str | None, sequence: int) -> TakenRows:
        """All rows of a body, or an error and none."""
        rows = self._lines.of(body, PLACE, 1) if form == "jsonl" else self._of_arrow(body)
        nbytes = rows.batch.nbytes + sum(each.nbytes for each in rows.bad)
        kept, is_repeated = self._inbox.offer(rows, nbytes, producer, sequence)
        return TakenRows(rows.num_rows, len(rows.bad), kept, is_repeated)

    def _of_arrow(self, body: bytes) -> FileRows:
        try:
            table = pa.ipc.open_stream(body).read_all()
        except (pa.ArrowException, OSError, ValueError) as problem:
            raise DataError(
                "WD540",
                f"the body is no stream of Arrow IPC: {problem}",
                hint="write it with pyarrow.ipc.new_stream, whole",
            ) from None
        converted = batch_of(self._schema, table)
        return FileRows(converted.batch, tuple(converted.bad.values()))
