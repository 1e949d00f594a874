"""The table windrow_batches: which batch of which query was the last to reach which table.

It is changed in the transaction that writes a batch's rows, so that both happen or neither. Where
several may write at once its row is locked there, so that of two drivers, one of which should be
dead, only one writes a batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from windrow.connectors.process_run import NO_STATE
from windrow.errors import CheckpointError

__all__ = ["BatchRecord", "Statements"]

NOTHING_WRITTEN = -1
TABLE = "windrow_batches"

_CREATION = (
    "CREATE TABLE IF NOT EXISTS {} (table_name text, query text, checkpoint text NOT NULL, "
    "feed text NOT NULL, batch_id bigint NOT NULL, written_at timestamp with time zone NOT NULL, "
    "PRIMARY KEY (table_name, query))"
)
_RECORDED = "SELECT checkpoint, batch_id FROM {} WHERE table_name = ? AND query = ?"
_BEGUN = "INSERT INTO {} VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP)"
_TAKEN_OVER = (
    "UPDATE {} SET checkpoint = ?, feed = ?, batch_id = ? WHERE table_name = ? AND query = ?"
)
_MOVED_ON = (
    "UPDATE {} SET batch_id = ?, written_at = CURRENT_TIMESTAMP WHERE table_name = ? AND query = ?"
)
_OTHERS = "SELECT query FROM {} WHERE table_name = ? AND query <> ? LIMIT 1"


class Statements(Protocol):
    """What runs statements within a transaction; for_update: what locks the rows of a SELECT."""

    for_update: str

    def one(
        self, statement: str, name: tuple[str, ...], values: Sequence[object] = ()
    ) -> tuple[object, ...] | None:
        """The first row of a statement, with the name, quoted, for {} and values for each ?."""


@dataclass(frozen=True)
class BatchRecord:
    """The row of one query and table; it stands in the schema of that table."""

    table: tuple[str, ...]  # its name, behind that of its schema
    query: str
    checkpoint: str
    feed: str

    def claim(self, statements: Statements, *, is_begun: bool) -> None:
        """Begins the row, or checks that it is of this checkpoint; rows of others are refused.

        is_begun: whether the query has given rows already, perhaps to somewhere else. Where no
        state is kept each run begins: what is to equal a result is emptied for it.
        """
        statements.one(_CREATION, self._batches)
        recorded = self._recorded(statements)
        if recorded == (self.checkpoint, NOTHING_WRITTEN):
            return
        if recorded is None:
            self._check_unclaimed(statements)
            self._check_whole(is_begun)
            values = (*self._row, self.checkpoint, self.feed, NOTHING_WRITTEN)
            statements.one(_BEGUN, self._batches, values)
        elif recorded[1] == NOTHING_WRITTEN:
            self._check_whole(is_begun)
            self._take_over(statements)
        elif recorded[0] == self.checkpoint == NO_STATE:
            if self.feed == "upserts":
                statements.one("DELETE FROM {}", self.table)
            self._take_over(statements)
        else:
            self._check_own(recorded[0])

    def _take_over(self, statements: Statements) -> None:
        taken = (self.checkpoint, self.feed, NOTHING_WRITTEN, *self._row)
        statements.one(_TAKEN_OVER, self._batches, taken)

    def is_written(self, statements: Statements, batch_id: int) -> bool:
        """Whether the batch has arrived already; until the transaction ends, no one else writes."""
        recorded = self._recorded(statements)
        if recorded is None:
            raise CheckpointError(
                "WC251",
                f"the row of query {self.query!r} and table {self._shown} is gone from {TABLE}",
                hint="stop the query and start over, with an empty table and a new checkpoint",
            )
        checkpoint, last = recorded
        self._check_own(checkpoint)
        # Spark gives the last batch again, never an earlier one.
        if batch_id < last:
            raise CheckpointError(
                "WC252",
                f"table {self._shown} already has batch {last} of query {self.query!r}, "
                f"later than batch {batch_id}",
                hint=(
                    "another driver runs this query, or its checkpoint is an old copy: stop "
                    "the other, or start over with an empty table and a new checkpoint"
                ),
            )
        return batch_id == last

    def move_on(self, statements: Statements, batch_id: int) -> None:
        """Records the batch as the last that has arrived."""
        statements.one(_MOVED_ON, self._batches, (batch_id, *self._row))

    def _recorded(self, statements: Statements) -> tuple[str, int] | None:
        row = statements.one(_RECORDED + statements.for_update, self._batches, self._row)
        return None if row is None else (str(row[0]), int(str(row[1])))

    def _check_own(self, checkpoint: str) -> None:
        if checkpoint != self.checkpoint:
            other = checkpoint if checkpoint == NO_STATE else "another checkpoint"
            raise self._not_own(f"rows of query {self.query!r} from {other}")

    def _check_unclaimed(self, statements: Statements) -> None:
        """A table that is to equal a result has one writer, and no rows of before."""
        if self.feed != "upserts":
            return
        other = statements.one(_OTHERS, self._batches, self._row)
        if other is not None:
            raise self._not_own(f"rows of query {other[0]!r}")
        if statements.one("SELECT 1 FROM {} LIMIT 1", self.table) is not None:
            raise self._not_own("rows that no query has written")

    def _check_whole(self, is_begun: bool) -> None:
        """A table that is to equal a result must be there from the query's first row on."""
        if is_begun and self.feed == "upserts":
            raise CheckpointError(
                "WC253",
                f"table {self._shown} would lack the earlier rows of query {self.query!r}",
                hint="start the query with a new checkpoint, or use the feed 'changes' or "
                "'answers' from here on",
            )

    def _not_own(self, what: str) -> CheckpointError:
        return CheckpointError(
            "WC250",
            f"table {self._shown} has {what}",
            hint=(
                "continue with the checkpoint that it was written from, or use another table; "
                f"to start over, empty the table and delete its row in {TABLE}"
            ),
        )

    @property
    def _batches(self) -> tuple[str, ...]:
        return (*self.table[:-1], TABLE)

    @property
    def _row(self) -> tuple[str, str]:
        return self._shown, self.query

    @property
    def _shown(self) -> str:
        return ".".join(self.table)
