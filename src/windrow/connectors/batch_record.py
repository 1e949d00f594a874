"""The table windrow_batches: which batch of which query was the last to reach which table.

It is changed in the transaction that writes a batch's rows, so that both happen or neither. Its
row is locked there, so that of two drivers, one of which should be dead, only one writes a batch.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from windrow.connectors.postgres.table import Cursor, Identity
from windrow.errors import CheckpointError

__all__ = ["CREATION_LOCK", "BatchRecord"]

NOTHING_WRITTEN = -1
TABLE = "windrow_batches"
# One number for all sessions of Windrow: two of them must not make the same table at once.
CREATION_LOCK = 0x77696E64726F7721

_CREATION = sql.SQL(
    "CREATE TABLE IF NOT EXISTS {} (table_name text, query text, checkpoint text NOT NULL, "
    "feed text NOT NULL, batch_id bigint NOT NULL, written_at timestamp with time zone NOT NULL, "
    "PRIMARY KEY (table_name, query))"
)
_LOCKED = sql.SQL(
    "SELECT checkpoint, batch_id FROM {} WHERE table_name = %s AND query = %s FOR UPDATE"
)
_BEGUN = sql.SQL("INSERT INTO {} VALUES (%s, %s, %s, %s, %s, now())")
_TAKEN_OVER = sql.SQL(
    "UPDATE {} SET checkpoint = %s, feed = %s WHERE table_name = %s AND query = %s"
)
_MOVED_ON = sql.SQL(
    "UPDATE {} SET batch_id = %s, written_at = now() WHERE table_name = %s AND query = %s"
)
_OTHERS = sql.SQL("SELECT query FROM {} WHERE table_name = %s AND query <> %s LIMIT 1")


@dataclass(frozen=True)
class BatchRecord:
    """The row of one query and table; it stands in the schema of that table."""

    table: Identity
    query: str
    checkpoint: str
    feed: str

    def claim(self, cursor: Cursor, *, is_begun: bool) -> None:
        """Begins the row, or checks that it is of this checkpoint; rows of others are refused.

        is_begun: whether the query has given rows already, perhaps to somewhere else.
        """
        cursor.execute(_CREATION.format(self._batches))
        recorded = self._recorded(cursor)
        if recorded == (self.checkpoint, NOTHING_WRITTEN):
            return
        if recorded is None:
            self._check_unclaimed(cursor)
            self._check_whole(is_begun)
            values = (*self._row, self.checkpoint, self.feed, NOTHING_WRITTEN)
            cursor.execute(_BEGUN.format(self._batches), values)
        elif recorded[1] == NOTHING_WRITTEN:
            self._check_whole(is_begun)
            taken = (self.checkpoint, self.feed, *self._row)
            cursor.execute(_TAKEN_OVER.format(self._batches), taken)
        else:
            self._check_own(recorded[0])

    def is_written(self, cursor: Cursor, batch_id: int) -> bool:
        """Whether the batch has arrived already; until the transaction ends, no one else writes."""
        recorded = self._recorded(cursor)
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

    def move_on(self, cursor: Cursor, batch_id: int) -> None:
        """Records the batch as the last that has arrived."""
        cursor.execute(_MOVED_ON.format(self._batches), (batch_id, *self._row))

    def _recorded(self, cursor: Cursor) -> tuple[str, int] | None:
        cursor.execute(_LOCKED.format(self._batches), self._row)
        row = cursor.fetchone()
        return None if row is None else (str(row[0]), int(str(row[1])))

    def _check_own(self, checkpoint: str) -> None:
        if checkpoint != self.checkpoint:
            raise self._not_own(f"rows of query {self.query!r} from another checkpoint")

    def _check_unclaimed(self, cursor: Cursor) -> None:
        """A table that is to equal a result has one writer, and no rows of before."""
        if self.feed != "upserts":
            return
        cursor.execute(_OTHERS.format(self._batches), (self._shown, self.query))
        other = cursor.fetchone()
        if other is not None:
            raise self._not_own(f"rows of query {other[0]!r}")
        cursor.execute(sql.SQL("SELECT FROM {} LIMIT 1").format(sql.Identifier(*self.table)))
        if cursor.fetchone() is not None:
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
    def _batches(self) -> sql.Identifier:
        return sql.Identifier(self.table[0], TABLE)

    @property
    def _row(self) -> tuple[str, str]:
        return self._shown, self.query

    @property
    def _shown(self) -> str:
        return ".".join(self.table)
