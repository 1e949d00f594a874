"""Polls a table or a SELECT of PostgreSQL by a column that grows; rows with one value come whole.

A position is the largest value that was read, as PostgreSQL writes it, and the marks of all rows
that were read at it, or behind it by no more than the overlap. Rows from there on are asked for;
those with a mark were read. So rows that come later with a value that was read already are found.
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import sql

from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.postgres.address import address_of, said_without_password
from windrow.connectors.values.columns import rows_of_columns
from windrow.errors import DataError

if TYPE_CHECKING:
    from windrow.connectors.postgres.source import PostgresSource
    from windrow.schema import StreamSchema

__all__ = ["MOST_MARKS", "PostgresReader", "is_lasting"]

Done = TypeVar("Done")
Row = tuple[Any, ...]

# So many rows may have one value, or lie in the overlap: their marks go with every position.
MOST_MARKS = 50_000
MARK_BYTES = 8
# Columns behind those of the stream.
_VALUE, _REACHES, _NEAR = -3, -2, -1
# Values are written in one way, whatever the server is set to.
_SETTINGS = {"DateStyle": "ISO", "TimeZone": "UTC", "extra_float_digits": "1"}


class PostgresReader(LiveReader):
    """One connection; every poll is one statement, which sees the table as of one moment."""

    def __init__(
        self, source: PostgresSource, schema: StreamSchema, position: Position | None
    ) -> None:
        self._source, self._schema = source, schema
        self._address = address_of(source.url, source.place)
        self._last: str | None = None
        self._marks: Counter[str] = Counter()
        if position is not None:
            self._last = position["last"]
            self._marks.update(position["marks"])
        self._ask_at_s = 0.0
        self._is_done = False
        self._connection = self._tried(lambda: psycopg.connect(**self._address, autocommit=True))
        try:
            self._kind = self._tried(self._prepared)
            if position is None and source.starting == "latest":
                self._tried(self._skip)
        except BaseException:
            self._connection.close()
            raise

    def poll(self, most_rows: int, timeout_s: float) -> Polled | None:
        """Rows that were not read, in the order of the column."""
        wait_s = self._ask_at_s - time.monotonic()
        if wait_s > 0:
            time.sleep(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return None
        asked = most_rows + self._marks.total()
        rows = self._tried(lambda: self._asked(asked))
        fresh, last, marks = self._sifted(rows)
        if len(rows) < asked:
            self._ask_at_s = time.monotonic() + self._source.every_s()
        self._last, self._marks = last, marks
        self._is_done = self._source.bounded and not fresh and len(rows) < asked
        if not fresh:
            return None
        names = [column.name for column in self._schema.columns]
        values = [[row[place] for row in fresh] for place in range(len(names))]
        where = self._source.shown
        numbers = range(1, len(fresh) + 1)
        columns = dict(zip(names, values, strict=True))
        read = rows_of_columns(self._schema, columns, [where] * len(fresh), numbers)
        return Polled(read, self._position())

    @property
    def is_done(self) -> bool:
        """Whether all was read that was there; never where more may come."""
        return self._is_done

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _position(self) -> Position:
        return {"last": self._last, "marks": sorted(self._marks.elements())}

    def _tried(self, work: Callable[[], Done]) -> Done:
        try:
            return work()
        except psycopg.Error as problem:
            said = said_without_password(problem, self._address)
            told = f"PostgreSQL failed while {self._source.shown} was read: {said}"
            if isinstance(problem, psycopg.OperationalError) and not is_lasting(problem):
                raise TransientError(told) from None
            raise DataError(
                "WD876",
                told,
                hint="give a table or a SELECT with the stream's columns and that of the position, "
                "which this user may read",
                place=self._source.place,
            ) from None

    def _prepared(self) -> str:
        """Sets the connection up, and finds the type of the column."""
        with self._connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
            for name, value in _SETTINGS.items():
                cursor.execute("SELECT set_config(%s, %s, false)", (name, value))
            # Whatever is wrong with the columns is said here.
            statement = sql.SQL("SELECT {} FROM {} LIMIT 0")
            cursor.execute(statement.format(self._columns(), self._given()))
            assert cursor.description is not None
            cursor.execute("SELECT format_type(%s, NULL)", (cursor.description[-1].type_code,))
            (kind,) = cursor.fetchone() or ("",)
            return str(kind)

    def _skip(self) -> None:
        """Begins behind all that is there: its largest values count as read."""
        column = sql.Identifier(self._source.position)
        statement = sql.SQL("SELECT max({})::text FROM {}").format(column, self._given())
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            (self._last,) = cursor.fetchone() or (None,)
        while self._last is not None:
            rows = self._asked(MOST_MARKS)
            _, self._last, self._marks = self._sifted(rows)
            if len(rows) < MOST_MARKS:
                return

    def _columns(self) -> sql.Composable:
        names = [column.name for column in self._schema.columns]
        return sql.SQL(", ").join(map(sql.Identifier, [*names, self._source.position]))

    def _given(self) -> sql.Composable:
        """The table, or the SELECT of the script: it is the user's own, and run by their role."""
        table = self._source.table
        if table is not None:
            return sql.SQL("{} AS given").format(sql.Identifier(*table))
        text = self._source.query.strip().rstrip(";")
        return sql.SQL("({}) AS given").format(sql.SQL(text))

    def _asked(self, most: int) -> list[Row]:
        """The next rows, all of the last value among them; behind their columns three more.

        These are the value as text, whether it is as large as the largest that was read, and
        whether it lies no further than the overlap behind the largest of these rows.
        """
        column, overlap = sql.Identifier(self._source.position), self._overlap()
        since: sql.Composable = sql.SQL("TRUE")
        reaches = since
        if self._last is not None:
            last = sql.SQL("{}::{}").format(sql.Literal(self._last), sql.SQL(self._kind))
            # In the column's own type, so that an index of it can be used.
            kind = sql.SQL(self._kind)
            since = sql.SQL("{} >= ({}{})::{}").format(column, last, overlap, kind)
            reaches = sql.SQL("{} >= {}").format(column, last)
        statement = sql.SQL(
            "WITH tied AS (SELECT {columns} FROM {given} WHERE {since} "
            "ORDER BY {column} FETCH FIRST {most} ROWS WITH TIES), "
            "few AS (SELECT * FROM tied LIMIT {limit}) "
            "SELECT {names}, {column}::text, {reaches}, "
            "{column} >= (SELECT max({column}) FROM few){overlap} FROM few ORDER BY few.{column}"
        ).format(
            columns=self._distinct_columns(),
            names=sql.SQL(", ").join(sql.Identifier(each.name) for each in self._schema.columns),
            given=self._given(),
            since=since,
            reaches=reaches,
            column=column,
            overlap=overlap,
            most=sql.Literal(most),
            limit=sql.Literal(most + MOST_MARKS + 1),
        )
        with self._connection.cursor() as cursor:
            cursor.execute(statement)
            rows: list[Row] = cursor.fetchall()
        if len(rows) > most + MOST_MARKS:
            raise self._too_many(rows[-1][_VALUE])
        return rows

    def _distinct_columns(self) -> sql.Composable:
        """The stream's columns and that of the position, which may be one of them."""
        names = dict.fromkeys([*(x.name for x in self._schema.columns), self._source.position])
        return sql.SQL(", ").join(map(sql.Identifier, names))

    def _overlap(self) -> sql.Composable:
        text, kind = self._source.overlap_parts()
        if text in ("0", "0 microseconds"):
            return sql.SQL("")
        return sql.SQL(" - {}::{}").format(sql.Literal(text), sql.SQL(kind))

    def _sifted(self, rows: Sequence[Row]) -> tuple[list[Row], str | None, Counter[str]]:
        """The rows that were not read; then the last value, and the marks of rows near it."""
        left, fresh = self._marks.copy(), []
        near: Counter[str] = Counter()
        for row in rows:
            mark = _mark(row[: _VALUE + 1])
            if left[mark] > 0:
                left[mark] -= 1
            else:
                fresh.append(row)
            if row[_NEAR]:
                near[mark] += 1
        if not rows:
            return fresh, self._last, self._marks
        last: str | None = str(rows[-1][_VALUE])
        if not rows[-1][_REACHES]:
            # Rows have come behind the largest that was read, and it was not reached again.
            last, near = (
                self._last,
                self._marks + Counter(_mark(row[: _VALUE + 1]) for row in fresh),
            )
        if near.total() > MOST_MARKS:
            raise self._too_many(last)
        return fresh, last, near

    def _too_many(self, value: Any) -> DataError:
        return DataError(
            "WD877",
            f"more than {MOST_MARKS} rows of {self._source.shown} have the position {value}, or "
            "lie no further than the overlap behind it",
            hint="give a column that tells rows apart better, or a smaller overlap",
            place=self._source.place,
        )


def is_lasting(problem: psycopg.Error) -> bool:
    """Whether a person has to change something: a password, a name, a right."""
    state = problem.sqlstate or ""
    # Where no server was reached, the client says in words alone who was refused.
    said = str(problem)
    words = ("authentication failed", "does not exist", "no password supplied", "no pg_hba.conf")
    return state.startswith(("28", "3D", "42")) or any(word in said for word in words)


def _mark(row: Row) -> str:
    """A row in a few letters; rows that look the same have the same."""
    return hashlib.blake2b(repr(row).encode(), digest_size=MARK_BYTES).hexdigest()
