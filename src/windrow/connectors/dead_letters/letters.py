"""A bad row as one JSON object: why it is bad, where it stood, and its bytes as they came."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol

from windrow.rows.bad_rows import RAW_BYTES, BadRow

__all__ = ["DeadLetters", "letter_of"]


class DeadLetters(Protocol):
    """Takes the bad rows of one stream."""

    def add(self, rows: Sequence[BadRow]) -> None:
        """They are where they shall be when it returns."""


def letter_of(stream: str, row: BadRow) -> bytes:
    """The object, on one line.

    raw: in base64; of a longer one the beginning, with is_cut true. Rows that were pushed have no
    bytes: row shows them.
    """
    told = {
        "at": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="milliseconds"),
        "stream": stream,
        "why": row.why,
        "column": row.column,
        "place": row.file,
        "number": row.line,
        "row": row.row,
        "raw": base64.b64encode(row.raw).decode() if row.raw else None,
        "is_cut": len(row.raw) >= RAW_BYTES,
    }
    return json.dumps(told).encode()
