"""The bound plan of a query: typed, frozen, and silent about how anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, AggregateFunction
from windrow.plan.expressions import Call, Expr, Literal
from windrow.schema import BOOLEAN, ColumnType, StreamSchema
from windrow.window_kinds import WINDOW_KINDS, WindowKind

if TYPE_CHECKING:
    from windrow.plan.relations.tree_plan import RunnablePlan

__all__ = [
    "SEVERAL",
    "Aggregate",
    "Negation",
    "OutputColumn",
    "PlanInput",
    "QueryPlan",
    "WindowSpec",
    "one_block",
]

# The source of an expression that reads several inputs.
SEVERAL = -1


@dataclass(frozen=True)
class WindowSpec:
    """kind: the name of one of WINDOW_KINDS, whose traits are `traits`."""

    kind: str
    length_us: int = 0
    slide_us: int = 0
    rows: int = 0
    partition_by: tuple[Expr, ...] = ()
    offset_us: int = 0

    @property
    def traits(self) -> WindowKind:
        """What is known of its kind."""
        return WINDOW_KINDS[self.kind]


@dataclass(frozen=True)
class PlanInput:
    """One entry of FROM: a stream through a window, the condition on it alone, and its join keys.

    keys[j] is this input's expression for the join variable variables[j]: inputs that share a
    variable join on it, and all their expressions for it have one type. The two inputs of a join of
    two have the same variables, 0, 1, ... in this order.
    """

    stream: StreamSchema
    alias: str
    window: WindowSpec
    filter: Expr | None = None  # refers to this input only; a window of ROWS counts rows before it
    keys: tuple[Expr, ...] = ()
    variables: tuple[int, ...] = ()


@dataclass(frozen=True)
class Aggregate:
    """One aggregate over the rows of a window or of a join.

    function: the name of one of AGGREGATE_FUNCTIONS, whose traits are `traits`.
    source: the input that the argument reads, 0 for a constant; None for COUNT(*) and for an
    argument over several inputs.
    terms: only for SUM and AVG over several inputs that separate: the argument is the sum of the
    terms, each a product of at most two factors that read one input each, two different ones. The
    sum is then exact: products are not rounded and do not overflow; NULL in any factor makes the
    joined row's value NULL.
    """

    function: str
    argument: Expr | None
    source: int | None
    type: ColumnType
    terms: tuple[tuple[Expr, ...], ...] = ()

    @property
    def traits(self) -> AggregateFunction:
        """What is known of its function."""
        return AGGREGATE_FUNCTIONS[self.function]

    @property
    def measured(self) -> Expr | None:
        """The argument as it is counted, summed or compared: NULL where a row adds nothing."""
        if self.argument is None or not self.traits.only_true:
            return self.argument
        return Call("nullif", (self.argument, Literal(False, BOOLEAN)), BOOLEAN)


@dataclass(frozen=True)
class Negation:
    """LEFT ANTI JOIN or NOT EXISTS: a row of input `of` counts while no row of `input` matches it.

    Rows match where keys[i], over `input`, equals of_keys[i], over `of` and of the same type, for
    all i, and `residual`, over the two (or over `of` alone), holds. A NULL key matches nothing.
    """

    input: int
    of: int
    keys: tuple[Expr, ...] = ()
    of_keys: tuple[Expr, ...] = ()
    residual: Expr | None = None


@dataclass(frozen=True)
class OutputColumn:
    """One column of the answer."""

    name: str
    expression: Expr
    type: ColumnType


@dataclass(frozen=True)
class QueryPlan:
    """What a query means.

    kind 'select': one input or a join of several; `select` reads their columns (ColumnRef), and
    `distinct` says that equal rows count as one.
    kind 'aggregate': one input or a join of several; `select` and `having` read GroupRef and
    AggregateRef. `group_sources[i]` is the input that group_by[i] reads, None for a constant,
    SEVERAL for an expression over several inputs. A group column that equals a join variable is
    noted in `group_keys[i]` (else None): all group columns being keys means that a group never
    spans two keys. `residual` holds the conditions that compare inputs and are no equalities.

    The last inputs, one for each of `negations`, are those that are negated: no other part of the
    plan reads them.

    algorithm: 'scan' for kind 'select'; else what was asked for: 'auto', 'pipelined',
    'incremental', 'charged' or 'factorised'. store: what was asked for to hold joined rows that
    expire (plan.stores).

    error_percent: the relative error that answers may have; None: none. duration: the first and the
    last instant of the query's life, each as ('instant', microseconds) or ('seconds', after the
    first row of its first stream); it sees the rows of that time only. closes: where answers are
    due when windows close: how far apart that is, and how much later than at multiples of it.

    on_error: what becomes of the row of a group whose SUM its type does not hold, 'fail', 'null' or
    'set_aside'; of rows, the expressions themselves say it (plan.fallible).
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
    algorithm: str = "auto"
    residual: Expr | None = None
    distinct: bool = False
    negations: tuple[Negation, ...] = ()
    store: str = "auto"
    error_percent: float | None = None
    duration: tuple[tuple[str, int], tuple[str, int]] | None = None
    on_error: str = "fail"
    closes: tuple[int, int] | None = None

    @property
    def joined(self) -> tuple[PlanInput, ...]:
        """The inputs that are joined: all but those that are negated."""
        return self.inputs[: len(self.inputs) - len(self.negations)]

    @cached_property
    def streams(self) -> tuple[str, ...]:
        """The streams read, each once, in the order of FROM."""
        return tuple(dict.fromkeys(entry.stream.name for entry in self.inputs))

    @cached_property
    def answering(self) -> tuple[bool, ...]:
        """Of each input, whether an answer is due when a row enters it: of all."""
        return (True,) * len(self.inputs)

    @cached_property
    def inputs_of(self) -> Mapping[str, tuple[int, ...]]:
        """The numbers of the inputs that read each stream."""
        named = [(entry.stream.name, i) for i, entry in enumerate(self.inputs)]
        return {stream: tuple(i for name, i in named if name == stream) for stream, _ in named}


def one_block(plan: RunnablePlan) -> QueryPlan:
    """The plan, where nobody asks this of a tree."""
    assert isinstance(plan, QueryPlan), "a tree runs in another way"
    return plan
