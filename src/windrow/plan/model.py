"""The bound plan of a query: typed, frozen, and silent about how anything runs."""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.expressions import Expr
from windrow.schema import ColumnType, StreamSchema

__all__ = ["Aggregate", "OutputColumn", "PlanInput", "QueryPlan", "WindowSpec"]


@dataclass(frozen=True)
class WindowSpec:
    """kind: 'time', 'slide', 'rows', 'partition_rows' or 'unbounded'."""

    kind: str
    length_us: int = 0
    slide_us: int = 0
    rows: int = 0
    partition_by: tuple[Expr, ...] = ()

    @property
    def is_timed(self) -> bool:
        """Whether a row's time alone says when it leaves."""
        return self.kind in ("time", "slide", "unbounded")


@dataclass(frozen=True)
class PlanInput:
    """One entry of FROM: a stream through a window, the condition on it alone, and its join key."""

    stream: StreamSchema
    alias: str
    window: WindowSpec
    filter: Expr | None = None  # refers to this input only; a window of ROWS counts rows before it
    keys: tuple[
        Expr, ...
    ] = ()  # equal in number and types across the inputs of a join; () without join


@dataclass(frozen=True)
class Aggregate:
    """function: 'count_star', 'count', 'sum' or 'avg'; the argument reads one input, `source`."""

    function: str
    argument: Expr | None
    source: int | None
    type: ColumnType


@dataclass(frozen=True)
class OutputColumn:
    """One column of the answer."""

    name: str
    expression: Expr
    type: ColumnType


@dataclass(frozen=True)
class QueryPlan:
    """What a query means.

    kind 'select': one input; `select` reads its columns (ColumnRef).
    kind 'aggregate': one input or an equi-join of two; `select` and `having` read GroupRef and
    AggregateRef. `group_sources[i]` is the input that group_by[i] reads, or None for a constant. A
    group column that equals join key j is noted in `group_keys[i]` (else None): all group columns
    being keys means that a group never spans two keys.

    algorithm: 'scan' for kind 'select', 'factorised' for kind 'aggregate'.
    """

    text: str
    kind: str
    inputs: tuple[PlanInput, ...]
    select: tuple[OutputColumn, ...]
    group_by: tuple[Expr, ...] = ()
    group_sources: tuple[int | None, ...] = ()
    group_keys: tuple[int | None, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    having: Expr | None = None
    every_us: int | None = None
    algorithm: str = "factorised"

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams read, each once, in the order of FROM."""
        return tuple(dict.fromkeys(entry.stream.name for entry in self.inputs))
