"""Questions of the files as ours: windows for tables, `*` without the column of event time."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqllogic.tables import Table

__all__ = ["TIME", "our_text"]

TIME = "event_time_of_row"
# Holds all rows of a file. Joins of windows and of unbounded streams are run by other operators.
WINDOW = "[1000 DAYS]"
_STAR = re.compile(
    r"SELECT\s+(ALL\s+|DISTINCT\s+)?\*\s+FROM\s+(.*?)(?=\s+WHERE\b|\s+GROUP\b|$)", re.DOTALL
)
_LIST = re.compile(r"\s*SELECT\s+(?:ALL\s+|DISTINCT\s+)?")
_ALIAS = re.compile(r"(?:\s+AS\s+\w+|(?<=[\w)])(?<!DIV)\s+(?!NULL\b|END\b)[a-z]\w*)\s*$")


def our_text(sql: str, tables: Mapping[str, Table], with_windows: bool = False) -> str:
    """The text that a session is given; streams are unbounded, or in a window that holds all."""
    named = _table_names(tables)
    sql = _STAR.sub(lambda found: _without_star(found, tables), sql)
    if with_windows:
        sql = named.sub(lambda found: f"{found[0]} {WINDOW}", sql)
    return _with_own_names(sql)


def _table_names(tables: Mapping[str, Table]) -> re.Pattern[str]:
    """Names of tables, where these are not those of columns."""
    names = "|".join(tables)
    return re.compile(rf"\b(?:{names})\b(?!\s*\.)")


def _without_star(found: re.Match[str], tables: Mapping[str, Table]) -> str:
    """Streams have event time as one more column, which `*` of the files does not mean."""
    names = "|".join(tables)
    item = re.compile(rf"\b({names})\b(?!\s*\.)(?:\s+AS\b)?(?:\s+([a-z]\w*))?")
    columns = [
        f"{alias or name}.{column}"
        for name, alias in item.findall(found[2])
        for column in tables[name].columns
    ]
    return f"SELECT {found[1] or ''}{', '.join(columns)} FROM {found[2]}"


def _with_own_names(sql: str) -> str:
    """Columns of an answer may not share a name, as some do in the files."""
    start = _LIST.match(sql)
    if start is None or re.search(r"\b(?:UNION|EXCEPT|INTERSECT)\b", sql):
        return sql
    *items, end = _items(sql, start.end())
    if len(items) == 1:
        return sql
    shown = [f"{_ALIAS.sub('', item)} AS value{i}" for i, item in enumerate(items)]
    return f"{sql[: start.end()]}{', '.join(shown)} {end}"


def _items(sql: str, start: int) -> list[str]:
    """The parts of the select list that begins at `start`, and what follows it."""
    depth, parts, begun = 0, [], start
    for found in re.compile(r"[(),]|\bFROM\b|\bCASE\b|\bEND\b|$").finditer(sql, start):
        word = found[0]
        depth += (word in ("(", "CASE")) - (word in (")", "END"))
        if depth == 0 and word == ",":
            parts.append(sql[begun : found.start()])
            begun = found.end()
        elif depth == 0 and word in ("FROM", ""):
            return [*parts, sql[begun : found.start()], sql[found.start() :]]
    raise ValueError(f"the list of {sql!r} does not end")
