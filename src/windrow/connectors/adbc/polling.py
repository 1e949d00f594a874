"""Polls a table or a SELECT over ADBC by a column that grows; the position is its last value."""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

import adbc_driver_manager
import pyarrow as pa
from adbc_driver_manager import dbapi

from windrow.connectors.live import LiveReader, Polled, Position, TransientError
from windrow.connectors.values.columns import rows_of_columns
from windrow.errors import DataError, UnsupportedError

if TYPE_CHECKING:
    from windrow.connectors.adbc.source import AdbcSource
    from windrow.schema import StreamSchema

__all__ = ["AdbcReader"]

Done = TypeVar("Done")

_ROWS = "windrow_rows"
# As drivers have it: user:password@server, with or without a scheme, or password=... somewhere.
_PASSWORD = re.compile(
    r"^(?:[^:/@]*://)?[^:/@]*:(.+)@|(?:password|pwd|token)=(?:'([^']*)'|([^\s;&']+))", re.IGNORECASE
)
# These take a text in quotes as standard SQL has it: others may give a backslash a meaning.
_STANDARD = ("duckdb", "postgresql", "sqlite")
# What may pass by itself; whatever else a driver says is for a person to change.
_PASSING = (adbc_driver_manager.OperationalError, adbc_driver_manager.InternalError)


class AdbcReader(LiveReader):
    """One connection; every poll is one statement, which sees the table as of one moment."""

    def __init__(self, source: AdbcSource, schema: StreamSchema, position: Position | None) -> None:
        self._source, self._schema = source, schema
        self._last: int | str | None = None if position is None else position["last"]
        self._ask_at_s, self._is_done = 0.0, False
        driver = _driver(source)
        address = _address(source)
        self._connection = self._tried(
            lambda: dbapi.connect(driver=driver, db_kwargs={"uri": address}, autocommit=True)
        )
        try:
            if position is None:
                # Whatever is wrong with the columns is said here.
                newest = self._tried(lambda: self._asked("DESC", 1))
                if source.starting == "latest" and newest.num_rows:
                    self._last = self._value(newest.column(0)[0].as_py())
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
        # One more: where it has the value of the last, rows are not told apart.
        table = self._tried(lambda: self._asked("ASC", most_rows + 1))
        self._check_apart(table)
        if table.num_rows <= most_rows:
            self._ask_at_s = time.monotonic() + self._source.every_s()
            self._is_done = self._source.bounded
        rows = table.slice(0, most_rows)
        if not rows.num_rows:
            return None
        last = self._value(rows.column(0)[-1].as_py())
        names = [column.name for column in self._schema.columns]
        columns = {name: rows.column(1 + place).to_pylist() for place, name in enumerate(names)}
        where, numbers = [self._source.shown] * rows.num_rows, range(1, rows.num_rows + 1)
        read = rows_of_columns(self._schema, columns, where, numbers, self._source.place)
        self._last = last
        return Polled(read, {"last": last})

    @property
    def is_done(self) -> bool:
        """Whether all was read that was there; never where more may come."""
        return self._is_done

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close()

    def _asked(self, order: str, most: int) -> pa.Table:
        """The value of the position, then the stream's columns."""
        source, by = self._source, _column(self._source.position)
        names = ", ".join(_column(column.name) for column in self._schema.columns)
        given = f"({source.query.strip().rstrip(';')}\n)"  # it may end with a comment
        if source.table is not None:
            given = ".".join(map(_quoted, source.table))
        since = f"{by} IS NOT NULL" if self._last is None else f"{by} > {_literal(self._last)}"
        with self._connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {by}, {names} FROM {given} AS {_ROWS} WHERE {since} "
                f"ORDER BY {by} {order} LIMIT {most}"
            )
            found: pa.Table = cursor.fetch_arrow_table()
        return found

    def _check_apart(self, table: pa.Table) -> None:
        values = table.column(0).to_pylist()
        for before, value in pairwise(values):
            if before == value:
                raise DataError(
                    "WD880",
                    f"two rows of {self._source.shown} have the position {value!r}",
                    hint="give a column that is larger in each new row, and tells rows apart",
                    place=self._source.place,
                )

    def _value(self, value: Any) -> int | str:
        is_plain = self._source.driver in _STANDARD or "\\" not in str(value)
        if isinstance(value, (int, str)) and not isinstance(value, bool) and is_plain:
            return value
        raise DataError(
            "WD880",
            f"the position of {self._source.shown} is {value!r}, which is no whole number and no "
            "text, or a text with a backslash, which this driver may not take as it is",
            hint="give a column of whole numbers, or a SELECT that makes a text of it that sorts "
            "as it does",
            place=self._source.place,
        )

    def _tried(self, work: Callable[[], Done]) -> Done:
        try:
            return work()
        except adbc_driver_manager.Error as problem:
            said = _without_secrets(str(problem).partition("\n")[0], self._source.url)
            told = f"{self._source.shown} cannot be read: {said}"
            if isinstance(problem, _PASSING):
                raise TransientError(told) from None
            raise DataError(
                "WD879",
                told,
                hint="give a table or a SELECT with the stream's columns and that of the position, "
                "which this user may read",
                place=self._source.place,
            ) from None


def _driver(source: AdbcSource) -> str:
    try:
        package: Any = importlib.import_module(f"adbc_driver_{source.driver}")
        found: str = package._driver_path()
    except (ImportError, AttributeError) as problem:
        name = source.driver.replace("_", "-")
        raise UnsupportedError(
            "WU414",
            f"the driver {source.driver!r} of ADBC is not installed here: {problem}",
            hint=f"install it with pip install adbc-driver-{name}",
            place=source.place,
        ) from None
    return found


def _address(source: AdbcSource) -> str:
    """As the driver has it; a file of SQLite is not made where there is none."""
    if source.driver != "sqlite" or source.url.startswith("file:"):
        return source.url
    return f"file:{quote(source.url)}?mode=ro"


def _column(name: str) -> str:
    """With the table: SQLite takes a name alone, which no column has, for a text."""
    return f"{_ROWS}.{_quoted(name)}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(value: int | str) -> str:
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def _without_secrets(said: str, url: str) -> str:
    """What a driver says may repeat the address, and the password in it."""
    found = [each for match in _PASSWORD.finditer(url) for each in match.groups() if each]
    for secret in filter(None, (url, *found, *map(unquote, found))):
        said = said.replace(secret, "***")
    return said
