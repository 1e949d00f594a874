"""What DuckDB says to a question where SQLite's own typing decides the answer of the file.

The text is translated so that it means what our dialect says: `/` gives a DOUBLE also between
integers and NULL where the divisor is zero, DIV and casts to integers cut off.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from sqllogic.tables import Table

__all__ = ["DuckdbTwin", "differing_rules", "same_rows"]

# Where SQLite and our dialect differ by intent, and how a text shows it.
_RULES = {
    "quotient of integers": re.compile(r"/"),
    "cast to a fraction": re.compile(r"AS\s+(REAL|DECIMAL)\b"),
    "average": re.compile(r"\bAVG\b", re.IGNORECASE),
}


def differing_rules(sql: str) -> str:
    """The rules of typing that a text depends on; '' if none is known."""
    return ", ".join(name for name, pattern in _RULES.items() if pattern.search(sql))


class DuckdbTwin:
    """A database with the tables of a file."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._database = duckdb.connect()
        self._database.execute("SET threads = 1")
        self._database.execute("SET error_on_division_by_zero = false")
        for table in tables.values():
            given = table.arrow  # DuckDB finds it by this name.
            self._database.execute(f"CREATE TABLE {table.name} AS SELECT * FROM given")
            del given

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The answer."""
        return self._database.execute(duckdb_text(sql)).fetchall()

    def close(self) -> None:
        """Nothing is asked any more."""
        self._database.close()


def duckdb_text(sql: str) -> str:
    """The text in DuckDB's dialect, with our meaning."""
    tree = sqlglot.parse_one(sql, read="mysql")
    return tree.transform(_translated).sql("duckdb")


def _translated(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.INTEGER_TYPES):
        whole = exp.func("trunc", exp.cast(node.this, "DOUBLE"))
        return exp.Cast(this=whole, to=exp.DataType.build("BIGINT"))
    if isinstance(node, exp.IntDiv):
        exact = exp.Div(this=exp.Paren(this=node.this), expression=exp.Paren(this=node.expression))
        whole = exp.func("trunc", exact)
        return exp.Cast(this=whole, to=exp.DataType.build("BIGINT"))
    return node


def same_rows(one: Iterable[Sequence[Any]], other: Iterable[Sequence[Any]]) -> bool:
    """Whether both are the same multiset; doubles may differ by rounding."""
    left, right = (sorted(map(_plain_row, rows)) for rows in (one, other))
    return len(left) == len(right) and all(map(_are_close, left, right))


def _plain_row(row: Sequence[Any]) -> list[tuple[bool, float, str]]:
    return [_plain(value) for value in row]


def _plain(value: Any) -> tuple[bool, float, str]:
    if value is None or isinstance(value, str):
        return value is None, 0.0, value or ""
    # Sorting must not hang on the last digit.
    return False, float(f"{float(value):.10g}"), ""


def _are_close(one: list[tuple[bool, float, str]], other: list[tuple[bool, float, str]]) -> bool:
    return len(one) == len(other) and all(
        a[0] == b[0] and a[2] == b[2] and math.isclose(a[1], b[1], rel_tol=1e-9, abs_tol=1e-9)
        for a, b in zip(one, other, strict=True)
    )
