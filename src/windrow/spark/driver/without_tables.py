"""What a session on Spark says to those who name a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import pyarrow as pa

from windrow.errors import UnsupportedError

__all__ = ["WithoutTables"]


class WithoutTables:
    """Tables are held in one process only."""

    def table(
        self,
        name: str,
        schema: Mapping[str, str] | str | pa.Schema,
        *,
        key: str | Iterable[str],
        time: str | None = None,
    ) -> None:
        """Refused on Spark: tables are held in one process.

        Example::

            session.table("rooms", "id string", key="id")  # raises UnsupportedError: WU715
        """
        del schema, key, time
        _refuse_table(name)

    def upsert(self, table: str, rows: Any) -> None:
        """Refused on Spark, as table() is.

        Example::

            session.upsert("rooms", [])  # raises UnsupportedError: WU715
        """
        del rows
        _refuse_table(table)

    def delete(self, table: str, keys: Any) -> None:
        """Refused on Spark, as table() is.

        Example::

            session.delete("rooms", [])  # raises UnsupportedError: WU715
        """
        del keys
        _refuse_table(table)


def _refuse_table(name: str) -> NoReturn:
    raise UnsupportedError(
        "WU715",
        f"table {name!r}: tables are not supported on Spark yet",
        hint="join with a window that holds one row of each key: s [PARTITION BY k ROWS 1], or "
        "connect in this process: windrow.connect()",
    )
