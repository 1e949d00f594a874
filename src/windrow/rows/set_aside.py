"""Rows that ON ERROR SET ASIDE leaves out of a query: found, counted and, the newest, kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from windrow.plan.expressions import Call, ColumnRef, Expr, walk
from windrow.plan.fallible import is_guard
from windrow.plan.show import show_with
from windrow.rows.evaluate import Leaf, filter_checked

__all__ = [
    "MAX_ASIDE_ROWS",
    "NOTED_IN",
    "AsideRow",
    "QueryLedger",
    "guards_in",
    "note_rows",
    "note_words",
]

Flags = NDArray[np.bool_]

# Rows that are kept for each query to be looked at.
MAX_ASIDE_ROWS = 100
_ROW_BYTES = 300
# What the rows of relations within a query are counted under.
INNER = ""


class AsideRow(NamedTuple):
    """input: its name in FROM, '' for joined rows and groups. values: those that were read."""

    input: str
    expression: str
    values: str


class QueryLedger:
    """What became of the rows of a query. rows_in: by input; set_aside: by name, '' for others."""

    def __init__(self, inputs: Sequence[str]) -> None:
        self.inputs = tuple(inputs)
        self.rows_in = dict.fromkeys(inputs, 0)
        self.set_aside = dict.fromkeys((*inputs, INNER), 0)
        self.rows: deque[AsideRow] = deque(maxlen=MAX_ASIDE_ROWS)

    def add(self, other: QueryLedger) -> None:
        """All that another one has noted."""
        for name, count in other.rows_in.items():
            self.rows_in[name] += count
        for name, count in other.set_aside.items():
            self.set_aside[name] += count
        self.rows.extend(other.rows)

    def note(
        self,
        name: str,
        places: NDArray[np.int64],  # noqa: ARG002 - for ledgers that note more of a row
        count: int,
        rows: Sequence[AsideRow],
    ) -> None:
        """Rows at these places of a batch are set aside; rows: the last of them, to be shown."""
        self.set_aside[name] += count
        self.rows.extend(rows)

    @property
    def nbytes(self) -> int:
        """About the bytes of the rows that are kept."""
        return _ROW_BYTES * len(self.rows)

    def table(self) -> pa.Table:
        """A row for each input, and one for joined rows and groups if any were set aside."""
        rows: list[tuple[str, int | None, int | None, int]] = [
            (name, self.rows_in[name], self.rows_in[name] - self.set_aside[name], aside)
            for name, aside in self.set_aside.items()
            if name != INNER
        ]
        if self.set_aside[INNER]:
            rows.append((INNER, None, None, self.set_aside[INNER]))
        names = ("input", "rows_in", "applied", "set_aside")
        columns = list(zip(*rows, strict=True)) or [()] * len(names)
        kinds = (pa.string(), pa.int64(), pa.int64(), pa.int64())
        arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds, strict=True)]
        return pa.Table.from_arrays(arrays, names=list(names))

    def aside_table(self) -> pa.Table:
        """The newest rows that were set aside."""
        schema = pa.schema([(name, pa.string()) for name in AsideRow._fields])
        return pa.Table.from_pylist([row._asdict() for row in self.rows], schema=schema)


# Where rows that are set aside meanwhile are noted.
NOTED_IN: ContextVar[QueryLedger | None] = ContextVar("ledger", default=None)


def guards_in(condition: Expr | None) -> bool:
    """Whether the condition sets rows aside."""
    return condition is not None and any(map(is_guard, walk(condition)))


def note_rows(
    condition: Expr, leaf: Leaf, length: int, name: str, counts: NDArray[np.int64] | None = None
) -> None:
    """Note the rows that a condition sets aside; counts: how often each is there, None for once."""
    ledger = NOTED_IN.get()
    if ledger is None:
        return
    reached = np.ones(length, np.bool_) if counts is None else counts > 0
    for part in _conjuncts(condition):
        holds, _ = filter_checked(part, leaf, length)
        if is_guard(part):
            assert isinstance(part, Call)
            _note(ledger, part.arguments[0], leaf, reached & ~holds, name, counts)
        reached = reached & holds


def note_words(message: str, count: int) -> None:
    """Note groups that have no row, and what is wrong with the first of them."""
    ledger = NOTED_IN.get()
    if ledger is not None:
        ledger.set_aside[INNER] += count
        ledger.rows.append(AsideRow(INNER, message, ""))


def _note(
    ledger: QueryLedger,
    expression: Expr,
    leaf: Leaf,
    failing: Flags,
    name: str,
    counts: NDArray[np.int64] | None,
) -> None:
    places = np.flatnonzero(failing)
    if not places.size:
        return
    name = name if name in ledger.set_aside else INNER
    columns = dict.fromkeys(part for part in walk(expression) if isinstance(part, ColumnRef))
    rows = []
    for place in places[-MAX_ASIDE_ROWS:].tolist():
        values = {part.column: leaf(part)[place].as_py() for part in columns}
        shown = ", ".join(f"{_bare(column)} = {value}" for column, value in values.items())
        rows.append(AsideRow(name, _shown(expression), shown))
    count = int(places.size if counts is None else counts[places].sum())
    ledger.note(name, places, count, rows)


def _shown(expression: Expr) -> str:
    return show_with(expression, lambda leaf: _bare(getattr(leaf, "column", "")))


def _bare(column: Any) -> str:
    """The name of a column; in a tree its id has a number behind it."""
    return str(column).partition("#")[0]


def _conjuncts(condition: Expr) -> Iterator[Expr]:
    if isinstance(condition, Call) and condition.function == "and":
        for part in condition.arguments:
            yield from _conjuncts(part)
    else:
        yield condition
