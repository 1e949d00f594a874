"""What the run of a query asks of its shard: one block (Shard) and a tree (TreeShard) have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from windrow.operators.partial import Partial
from windrow.rows.prepared_rows import PreparedRows
from windrow.runtime.trees.closing_tree import ClosedSessions
from windrow.windows.lifetime import Lifetime
from windrow.windows.window import Window

__all__ = ["RunShard"]


class RunShard(Protocol):
    """Rows in, updates of the result out; time is an argument."""

    clock: int
    algorithm: str
    most_changes: int  # a step with more of them than this may raise StepTooLargeError

    @property
    def fixes_lifetimes(self) -> bool:
        """Whether lifetimes cannot change without another algorithm."""

    @property
    def step_changes(self) -> int:
        """The most changes that any part of the last step had, next to what it gave."""

    @property
    def entered(self) -> NDArray[np.int64]:
        """The instants of the last step at which rows entered that came from no stream."""

    @property
    def closed(self) -> ClosedSessions | None:
        """What the last step tells of sessions that closed, where the query has any."""

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all inputs."""

    @property
    def nbytes(self) -> int:
        """Bytes of windows, codes and sums."""

    def append(self, changes: Mapping[int, PreparedRows]) -> None:
        """Prepared rows, all later than the clock, wait for it."""

    def advance(self, changes: Mapping[int, PreparedRows], until: int) -> Partial:
        """Take prepared rows and run to `until`, inclusive."""

    def next_stop(self, until: int, events: int) -> int:
        """How far the clock may go, at most to `until`, for about so many events of a window."""

    def event_count(self) -> int:
        """A number that has grown by about one for each event of a window meanwhile."""

    # A mark is known to its own shard only.

    def mark(self, taking: Iterable[int] = ()) -> Any:
        """How it is now; taking: the inputs whose rows are about to come."""

    def keep(self, mark: Any) -> None:
        """The step since the mark is whole."""

    def rewind(self, mark: Any) -> None:
        """Roll back to the mark."""

    def change_lifetimes(self, lifetimes: Mapping[int, Lifetime]) -> None:
        """Windows of these inputs let rows go by other lifetimes, from their floor on."""

    def lifetime(self, input_index: int) -> Lifetime:
        """How long rows of an input stay now."""

    def close(self) -> None:
        """Nothing is run any more."""

    def window_statistics(self) -> list[tuple[int, int, int]]:
        """Per input: its number, rows held, bytes."""

    def growth_bytes(self, rows: int) -> int:
        """Peak bytes, in addition to the windows, that this many rows may need."""
