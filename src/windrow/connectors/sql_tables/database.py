"""What a file with tables can do for the writer: transactions, a table, rows in and out of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar, Protocol

import pyarrow as pa

from windrow.connectors.batch_record import Statements
from windrow.errors import BindingError

__all__ = ["Database", "Names", "quoted", "unfit"]

Names = tuple[str, ...]


class Database(Statements, Protocol):
    """A connection to a file, which one writer has.

    problems: the errors of its client.
    """

    system: ClassVar[str]
    problems: ClassVar[type[Exception]]

    def __init__(self, path: str) -> None: ...

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is done within happens, or nothing."""
        yield

    def prepare(self, table: Names, schema: pa.Schema, key: Sequence[str] | None) -> Names:
        """Makes the table; one that is there is refused where it cannot hold the rows as they are.

        key: the columns that tell rows apart; None where rows are added. Gives the name that the
        table has, however it is written.
        """

    def add(self, table: Names, rows: pa.Table) -> None:
        """Adds rows."""

    def remove(self, table: Names, keys: pa.Table) -> None:
        """Removes the rows with these keys; without a column all."""

    def close(self) -> None:
        """Closes the connection."""


def quoted(names: Sequence[str]) -> str:
    """A name, as SQL has it.

    >>> quoted(("main", 'a"b'))
    '"main"."a""b"'
    """
    return ".".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in names)


def unfit(system: str, table: Names, problem: str, remedy: str) -> BindingError:
    """The error of a table that cannot be written to."""
    return BindingError(
        "WB447",
        f"the {system} table {'.'.join(table)} cannot be used: {problem}",
        hint=f"{remedy}, or give another name to let the query create its own table",
    )
