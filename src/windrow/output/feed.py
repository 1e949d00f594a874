"""What a publisher asks of a feed: the answers, changes and the result of one query.

Three kinds of results have a feed each: one row (whole_feed), a row for each group (group_feed) and
rows of a select (selects/select_feed).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.output.state_log import States
from windrow.output.unread_limit import UNREAD_BYTES, BoundedFeed

__all__ = ["Feed", "StateFeed"]

Vector = NDArray[np.int64]


class Feed(BoundedFeed):
    """What was recorded, until it is read.

    has_told: whether changes were ever read. changes_netted: how many were put together with others
    because nobody read them. instants_lost: answers that were due and were dropped. starts_over:
    whether the next changes are all rows of the result.
    """

    starts_over: bool
    has_told: bool
    changes_netted: int
    instants_lost: int

    # ---- a step

    @property
    @abstractmethod
    def parts(self) -> tuple[object, ...]:
        """All objects with attributes that a step changes."""

    @abstractmethod
    def begin_step(self) -> None:
        """Note what is written over in place from now on."""

    @abstractmethod
    def undo_step(self) -> None:
        """Write back what was written over since begin_step()."""

    @abstractmethod
    def derive(self) -> None:
        """Work out again what follows from the rest, after a step was undone."""

    @abstractmethod
    def ask(self, instants: Vector) -> None:
        """An answer is due at each of these instants, all later than those before."""

    @abstractmethod
    def trim(self, limit_bytes: int = UNREAD_BYTES) -> None:
        """Stay within the limits, after a step was recorded."""

    # ---- readers

    @abstractmethod
    def answers(self) -> pa.Table:
        """The answers at all instants due since the last call."""

    @abstractmethod
    def drop_answers(self) -> None:
        """Nobody will read the answers that are due."""

    @abstractmethod
    def changes(self) -> pa.Table:
        """Rows that came and went since the last call."""

    @abstractmethod
    def unread_changes(self) -> Iterator[Vector]:
        """The times of what changes() has not read, in parts."""

    @abstractmethod
    def first_changes(self, count: int) -> pa.Table:
        """Rows that came and went by the first `count` of these."""

    @abstractmethod
    def drop_changes(self) -> None:
        """Nobody will read the changes so far."""

    @abstractmethod
    def begin_over(self, at_us: int) -> None:
        """The next changes are all rows of the result."""

    @abstractmethod
    def result(self) -> pa.Table:
        """The rows now."""

    # ---- groups and memory

    @abstractmethod
    def groups_shown(self) -> NDArray[np.bool_]:
        """Which groups have a row now."""

    @abstractmethod
    def groups_in_use(self) -> NDArray[np.bool_]:
        """Which groups something here refers to."""

    @abstractmethod
    def growth_bytes(self, groups: int) -> int:
        """Bytes that tables of this many groups may need, for a moment too."""

    @abstractmethod
    def tables(self) -> dict[str, pa.Table]:
        """Everything that it holds, for saving."""

    @abstractmethod
    def load(self, tables: Mapping[str, pa.Table], new_code: NDArray[np.int32]) -> None:
        """Back from tables(); groups have the codes new_code[old code] now."""


class StateFeed(Feed):
    """A feed of states: each shows one row, or none."""

    @abstractmethod
    def record(
        self, at: Vector, group: NDArray[np.int32], many: Vector, rows: pa.Table | States
    ) -> None:
        """States in time order; row i of `rows` is what state i shows, unless many[i] is 0."""

    @abstractmethod
    def due_instants(self) -> Vector:
        """The instants at which answers are due."""
