"""Tables for people: spans, times and sizes in words, and no more rows than can be read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from windrow.event_time import instant_of, show_instant, show_span
from windrow.memory_size import show_memory
from windrow.notebook.markup import Markup, element, joined

__all__ = ["ROWS_SHOWN", "Shown", "show", "table_html"]

ROWS_SHOWN = 20
# A text longer than this is cut, so that one value cannot fill the page.
TEXT_SHOWN = 200

# Grey at some opacity stands out from light pages and from dark ones.
RULE = "1px solid rgba(128,128,128,.35)"
CELL = f"padding:2px 12px 2px 0;border:0;border-bottom:{RULE};text-align:"
FAINT = "opacity:.6"
WHOLE = "white-space:nowrap"


class Shown:
    """What a notebook shows as HTML, and a terminal as text."""

    def __init__(self, html: Markup, text: str) -> None:
        self._html = html
        self._text = text

    def _repr_html_(self) -> str:
        return str(self._html)

    def __repr__(self) -> str:
        return self._text


def show(table: pa.Table, rows: int = ROWS_SHOWN) -> Shown:
    """A table of a session, such as session.windows(), for a cell of a notebook.

    rows: at most this many of them.

    >>> import windrow
    >>> session = windrow.connect()
    >>> session.stream("s", "ts timestamp, x int", time="ts")
    >>> query = session.query("SELECT MAX(x) AS x FROM s [10 MINUTES]")
    >>> "10 minutes" in show(session.windows())._repr_html_()
    True
    """
    return Shown(table_html(table, rows), str(table))


def table_html(table: pa.Table, rows: int = ROWS_SHOWN) -> Markup:
    """A table as HTML."""
    names = table.column_names
    sides = ["right" if _is_number(kind) else "left" for kind in table.schema.types]
    head = [
        element("th", name, style=f"{CELL}{side};font-weight:600;{WHOLE}")
        for name, side in zip(names, sides, strict=True)
    ]
    body = [
        element("tr", *_cells(names, sides, row.values()), style="background:transparent")
        for row in table.slice(0, rows).to_pylist()
    ]
    shown = element(
        "table",
        element("thead", element("tr", *head)),
        element("tbody", *body),
        style="border-collapse:collapse;margin:4px 0;font-size:inherit;"
        "font-variant-numeric:tabular-nums",
    )
    shown = element("div", shown, style="max-width:100%;overflow-x:auto")
    left = table.num_rows - rows
    if left <= 0 and table.num_rows:
        return shown
    note = "no rows" if not table.num_rows else f"and {left:,} more rows"
    return joined(shown, element("div", note, style=FAINT))


def _cells(names: list[str], sides: list[str], values: Any) -> list[Markup]:
    return [
        element("td", _value(name, value), style=f"{CELL}{side};color:inherit{_breaks(value)}")
        for name, side, value in zip(names, sides, values, strict=True)
    ]


def _breaks(value: Any) -> str:
    """Texts may go over several lines; a number, a time or a size and its unit may not."""
    return "" if isinstance(value, (str, list)) else f";{WHOLE}"


def _value(name: str, value: Any) -> str:
    if value is None:
        return element("span", "NULL", style=FAINT)
    text = _text(name, value)
    return text if len(text) <= TEXT_SHOWN else text[:TEXT_SHOWN] + " …"


def _text(name: str, value: Any) -> str:
    if isinstance(value, timedelta):
        return show_span(value // timedelta(microseconds=1)) if value else "0"
    if isinstance(value, datetime):
        return show_instant(instant_of(value))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if name == "bytes" and isinstance(value, int):
        return show_memory(value)
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)
