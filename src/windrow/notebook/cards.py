"""Sessions and queries as notebooks show them: one card each, without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc
from typing import Protocol

import pyarrow as pa

from windrow.memory_size import show_memory
from windrow.notebook.markup import Markup, element, joined
from windrow.notebook.shown import FAINT, RULE, table_html

__all__ = ["query_card", "session_card"]

CARD = f"border:{RULE};border-radius:6px;padding:8px 12px;margin:4px 0;max-width:100%;overflow:auto"
# What a query is written in is shown up to here.
QUERY_SHOWN = 4_000
RESULT_ROWS = 10


def query_card(
    name: str,
    state: str,
    text: str,
    facts: Mapping[str, str],
    result: pa.Table | None,
    trouble: str | None = None,
) -> str:
    """A query: its text, how it stands, and its answer now; trouble: why there is none."""
    shown = cleandoc(text[:QUERY_SHOWN]) + (" …" if len(text) > QUERY_SHOWN else "")
    code = element(
        "pre",
        shown,
        style="margin:6px 0;padding:0;background:transparent;white-space:pre-wrap;opacity:.85",
    )
    parts = [_title("query", name, state), code, _facts(facts)]
    if result is not None:
        parts.append(table_html(result, RESULT_ROWS))
    if trouble is not None:
        parts.append(element("div", trouble, style=FAINT))
    return str(element("div", *parts, style=CARD))  # marimo sends nothing but plain texts


class Carded(Protocol):
    """What the card of a session shows."""

    memory: int

    def ledger(self) -> pa.Table:
        """What became of the rows of each stream."""

    def queries(self) -> pa.Table:
        """What each query asks of its windows."""

    def windows(self) -> pa.Table:
        """What is held."""

    def histories(self) -> pa.Table:
        """What is kept of the past."""


def session_card(where: str, used: int | None, session: Carded) -> str:
    """A session: its memory, and the tables that have rows; used: bytes, where they are known."""
    parts = [_title("session", where, ""), _meter(used, session.memory)]
    tables = {
        "streams": session.ledger(),
        "queries": session.queries().select(["query", "window", "range", "level", "algorithm"]),
        "windows": session.windows().select(["window", "rows", "bytes", "rate", "width", "level"]),
        "histories": session.histories(),
    }
    for title, table in tables.items():
        if table.num_rows:
            heading = element("div", title, style=f"margin-top:6px;{FAINT}")
            parts += [heading, table_html(table)]
    if len(parts) == 2:
        parts.append(element("div", "no streams yet: session.stream(...)", style=FAINT))
    return str(element("div", *parts, style=CARD))  # marimo sends nothing but plain texts


def _title(kind: str, name: str, state: str) -> Markup:
    return element(
        "div",
        element("span", f"windrow {kind} ", style=FAINT),
        element("b", name),
        element("span", f" {state}" if state else "", style=FAINT),
    )


def _facts(facts: Mapping[str, str]) -> Markup:
    shown = [
        element(
            "span",
            element("span", f"{key} ", style=FAINT),
            value,
            style="margin-right:16px;white-space:nowrap",
        )
        for key, value in facts.items()
    ]
    return element("div", *shown)


def _meter(used: int | None, budget: int) -> Markup:
    if used is None:
        return element("div", f"memory budget {show_memory(budget)}")
    share = min(100.0, 100 * used / budget)
    bar = element(
        "div",
        element("div", style=f"width:{share:.1f}%;height:100%;background:#2f7fb8"),
        style="width:220px;height:6px;border-radius:3px;overflow:hidden;margin:4px 0;"
        "background:rgba(128,128,128,.25)",
    )
    return joined(element("div", f"memory {show_memory(used)} of {show_memory(budget)}"), bar)
