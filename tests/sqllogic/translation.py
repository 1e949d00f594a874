"""Questions of the files as ours: `*` without the column of event time, and a FROM for all."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sqllogic.tables import Table

__all__ = ["TIME", "our_text"]

TIME = "event_time_of_row"
_STAR = re.compile(r"SELECT\s+(ALL\s+|DISTINCT\s+)?\*\s+FROM\s+(.*?)(?=\s+WHERE\b|\s+GROUP\b|$)", re.DOTALL)  # fmt: skip
_WORDS = "CROSS|INNER|LEFT|JOIN|ON|WHERE|GROUP|ORDER"
_ITEM = re.compile(rf"(?:^|,|JOIN\b|\()\s*(\w+)(?:\s+(?:AS\s+)?(?!(?:{_WORDS})\b)(\w+))?")


def our_text(sql: str, tables: Mapping[str, Table]) -> str:
    """The text that a session is given."""
    return _STAR.sub(lambda found: _without_star(found, tables), sql)


def _without_star(found: re.Match[str], tables: Mapping[str, Table]) -> str:
    """Streams have event time as one more column, which `*` of the files does not mean."""
    columns = [
        f"{alias or name}.{column}"
        for name, alias in _ITEM.findall(found[2])
        for column in tables[name].columns
    ]
    # Columns of several tables share their names; those of an answer may not.
    shown = ", ".join(f"{column} AS value{i}" for i, column in enumerate(columns))
    return f"SELECT {found[1] or ''}{shown} FROM {found[2]}"
