"""What connectors and those who run queries agree on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

__all__ = ["DAMAGE", "SinkCheckpoint", "Writer"]

# A column of a source on Spark: the text of a row that could not be read, else NULL.
DAMAGE = "__windrow_damage__"


class Writer(Protocol):
    """Takes the feeds that it asks for, batch by batch, perhaps one batch twice."""

    feeds: tuple[str, ...]  # of 'answers', 'changes' and 'result'

    def begin(self, last_batch: int, owner: str) -> None:  # noqa: ARG002 - most need neither
        """The query is about to start; last_batch: the newest that was begun, -1 before the first.

        owner: where the checkpoint of the query is.
        """
        return

    def write(self, tables: Mapping[str, pa.Table], batch_id: int) -> None:
        """Writes one batch; tables by feed."""

    def close(self) -> None:
        """The query has stopped: connections are let go, and made anew if it is started again."""
        return


class SinkCheckpoint(Protocol):
    """Of the checkpoint of a query what a sink must know of it."""

    query: str

    def identity(self) -> str:
        """A name that this checkpoint has from its beginning, and no other has."""

    def is_begun(self) -> bool:
        """Whether a batch of the query has been published."""
