"""The tables of a file: from CREATE TABLE and INSERT to columns and rows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

__all__ = ["Table", "read_tables"]

_CREATE = re.compile(r"CREATE TABLE (\w+)\s*\((.*)\)\s*", re.DOTALL)
_INSERT = re.compile(r"INSERT INTO (\w+)\s*(?:\(([^)]*)\))?\s*VALUES\s*\((.*)\)\s*", re.DOTALL)
_VALUE = re.compile(r"\s*('(?:[^']|'')*'|[^,]+)\s*(?:,|$)")
_KINDS = {
    "INTEGER": "bigint", "INT": "bigint", "VARCHAR": "string", "TEXT": "string",
    "REAL": "double", "FLOAT": "double", "DOUBLE": "double",
}  # fmt: skip
_ARROW = {"bigint": pa.int64(), "string": pa.string(), "double": pa.float64()}


@dataclass(frozen=True)
class Table:
    """columns: names and types of ours. rows: with their number among all rows of the file."""

    name: str
    columns: dict[str, str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    @property
    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        columns = list(zip(*self.rows, strict=True)) or [()] * len(self.columns)
        return pa.table(
            {
                name: pa.array(values, _ARROW[kind])
                for (name, kind), values in zip(self.columns.items(), columns, strict=True)
            }
        )


def read_tables(statements: Iterable[str]) -> dict[str, Table]:
    """The tables that statements make and fill; indexes have no part in answers."""
    tables: dict[str, Table] = {}
    for number, statement in enumerate(statements):
        if created := _CREATE.fullmatch(statement):
            tables[created[1]] = Table(created[1], _columns(created[2]))
        elif inserted := _INSERT.fullmatch(statement):
            table = tables[inserted[1]]
            table.rows.append(_row(table, inserted[2], inserted[3]))
            table.numbers.append(number)
        elif not statement.startswith(("CREATE INDEX", "CREATE UNIQUE INDEX")):
            raise ValueError(f"{statement!r} is no statement that is read here")
    return tables


def _columns(text: str) -> dict[str, str]:
    columns = {}
    for part in text.split(","):
        name, kind = part.split()[:2]
        columns[name] = _KINDS[kind.partition("(")[0].upper()]
    return columns


def _row(table: Table, names: str | None, values: str) -> tuple[Any, ...]:
    order = [name.strip() for name in names.split(",")] if names else list(table.columns)
    found = [_value(text.strip()) for text in _VALUE.findall(values)]
    given = dict(zip(order, found, strict=True))
    return tuple(given.get(name) for name in table.columns)


def _value(text: str) -> Any:
    if text.upper() == "NULL":
        return None
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    return float(text) if "." in text else int(text)
