"""One step of a session: rows on their way, and what it takes to undo it or to go on with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from windrow.embedded.query import EmbeddedQuery
from windrow.errors import WindrowError
from windrow.plan.tables_read import tables_of
from windrow.rows.shared_rows import SharedRows, Shares, StreamRows
from windrow.windows.marks import Mark
from windrow.windows.row_store import StoreMark

if TYPE_CHECKING:
    from windrow.runtime.tables.table_store import TableChange

__all__ = ["Step"]


@dataclass
class Step:
    """Rows on their way to everything that reads their stream; no stream: time alone moves.

    Until it is decided, nothing has happened: the marks say how to get back to that. From then on
    it happens: whatever breaks it off, it goes on where it was, before anything else is done.
    missed: the times of rows that were refused. changes: those of tables, instead of rows.
    """

    number: int
    stream: str | None
    moves_all: bool  # whether time moves in all streams
    undo: Mark
    shared: list[SharedRows]  # rows of the stream that queries share
    marks: list[StoreMark]  # how these were before the step
    rows: StreamRows | None = None
    shares: Shares = field(default_factory=dict)
    missed: NDArray[np.int64] | None = None
    changes: list[TableChange] = field(default_factory=list)
    is_decided: bool = False
    is_granted: bool = False
    is_last: bool = False
    queries: list[EmbeddedQuery] = field(default_factory=list)  # that ran when it was decided
    is_resumed: bool = False
    problem: WindrowError | None = None

    def is_for(self, query: EmbeddedQuery) -> bool:
        """Whether it brings anything to a query: one over tables alone goes with all streams."""
        plan = query.plan
        if not self.changes and (self.moves_all or self.stream in plan.inputs_of):
            return True
        return bool(tables_of(plan)) and (bool(self.changes) or not plan.streams)
