"""One query of NEXMark: what runs in Windrow, and what DuckDB computes to compare."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["AT", "WINDOW", "Query"]

WINDOW = "[10 SECONDS]"
# Stands for the instant, in microseconds, in what DuckDB computes.
AT = "INSTANT_US"
# A window of 10 seconds of a stream: for DuckDB, a table of the rows in it with its bounds.
_TABLE = re.compile(r"TABLE\(\w+\(TABLE (\w+), DESCRIPTOR\(\w+\)(?:, INTERVAL '\d+' SECOND)+\)\)")


@dataclass(frozen=True)
class Query:
    """One query. changed: how the text differs from the published one; None: it does not.

    around: what differs although the text does not. duckdb: what means the same there, where the
    text itself does not. ties: orders, and with them all columns that decide between equal rows:
    these Windrow orders by their columns, and DuckDB as it likes. view: a name, and the query that
    it stands for. bounded: what is asked over 10 seconds where a window behind each stream would
    ask for something else, or is refused.
    """

    meaning: str
    text: str
    streams: tuple[str, ...] = ("bid",)
    changed: str | None = None
    around: str | None = None
    duckdb: str | None = None
    ties: tuple[tuple[str, str], ...] = ()
    view: tuple[str, str] | None = None
    bounded: str | None = None

    @property
    def compared(self) -> str:
        """How it compares with the published query, as the page on NEXMark says it."""
        if self.changed:
            return f"changed: {self.changed}"
        return f"as published; {self.around}" if self.around else "as published"

    @property
    def reads_whole_streams(self) -> bool:
        """Whether the published text reads a stream without a window."""
        return "{w}" in self.text or self.bounded is not None

    @property
    def has_side_table(self) -> bool:
        """Whether it reads the side table."""
        return "side_input" in self.text

    def wql(self, *, is_windowed: bool) -> str:
        """What runs, as published or over windows."""
        text = self.bounded if is_windowed and self.bounded else self.text
        return text.format(w=WINDOW if is_windowed else "")

    def sql(self, *, is_windowed: bool) -> str:
        """What DuckDB computes over tables that hold the rows in the windows."""
        is_own = is_windowed and self.bounded
        text = (self.bounded if is_own else self.duckdb) or self.text
        for order, whole_order in self.ties:
            assert order in text
            text = text.replace(order, whole_order)
        return _TABLE.sub(r"\1", text.format(w=""))
