"""The relational algebra: a query as a tree of frozen nodes, each a relation that changes in time.

Every column of every relation in a tree has an id of its own (`Field.id`), which expressions name
as ColumnRef(0, id, type): so an expression means the same wherever a rule moves it. A relation is
a multiset: equal rows count as often as they occur. What a node means at an instant is what SQL
says of the rows that its inputs hold at that instant.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as OneOf

from windrow.plan.expressions import Expr
from windrow.plan.model import WindowSpec
from windrow.plan.relations.leaves import Scan, TableScan, Values, VersionScan, ViewScan
from windrow.plan.relations.relation import Field, Item, Relation, Unary, walk_relations
from windrow.sql.statements import OnError

__all__ = [
    "Aggregate",
    "AggregateCall",
    "AnswerWindow",
    "Apply",
    "ApplyKind",
    "AsOfJoin",
    "AtMostOne",
    "Distinct",
    "Field",
    "Filter",
    "Frame",
    "Item",
    "Join",
    "JoinKind",
    "OrderKey",
    "Project",
    "Relation",
    "Scan",
    "SetOperation",
    "TableScan",
    "TopRows",
    "Unary",
    "Unnest",
    "ValidRows",
    "Values",
    "VersionScan",
    "ViewScan",
    "WindowCall",
    "WindowFunctions",
    "walk_relations",
]

JoinKind = OneOf["inner", "left", "full", "semi", "anti"]
ApplyKind = OneOf["scalar", "inner", "left", "semi", "anti"]


@dataclass(frozen=True)
class Filter(Unary):
    """The rows for which the condition is true."""

    condition: Expr


@dataclass(frozen=True)
class ValidRows(Unary):
    """The rows that hold at the instant: since <= t < until, for all instants of both lists.

    A row with NULL among these never holds. grid_us: rows come and go at multiples of it only.
    """

    since: tuple[Expr, ...]
    until: tuple[Expr, ...]
    grid_us: int = 1


@dataclass(frozen=True)
class Project(Unary):
    """Rows of computed columns."""

    items: tuple[Item, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns computed."""
        return tuple(item.field for item in self.items)


@dataclass(frozen=True)
class Unnest(Unary):
    """Every row once for each entry of an array or a map, with the entry.

    given: the columns of an entry: the element, or the key and the value; of structs that are
    spread, their fields. is_outer: a row without entries stays, with NULLs. position: the field
    that counts the entries, from first_position on.
    """

    expression: Expr
    given: tuple[Field, ...]
    is_outer: bool = False
    is_spread: bool = False
    position: Field | None = None
    first_position: int = 0

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input, of the entry, and the position."""
        counted = () if self.position is None else (self.position,)
        return (*self.input.fields, *self.given, *counted)


@dataclass(frozen=True)
class Distinct(Unary):
    """Every different row once."""


@dataclass(frozen=True)
class AtMostOne(Unary):
    """A scalar sub-query: two rows with equal `by` columns are an error (at `text`)."""

    by: tuple[Expr, ...]
    text: str


@dataclass(frozen=True)
class AggregateCall:
    """One aggregate. function: a name of AGGREGATE_FUNCTIONS.

    arguments: none for COUNT(*). is_distinct: equal arguments count once. A FILTER is part of the
    argument already: it is NULL where the condition does not hold.
    """

    field: Field
    function: str
    arguments: tuple[Expr, ...] = ()
    is_distinct: bool = False


@dataclass(frozen=True)
class Aggregate(Unary):
    """A row for each group; without groups one row, also where there is nothing.

    on_error: what becomes of the row of a group whose SUM its type does not hold.
    """

    groups: tuple[Item, ...]
    calls: tuple[AggregateCall, ...]
    on_error: OnError = "fail"

    @property
    def fields(self) -> tuple[Field, ...]:
        """The groups, then the aggregates."""
        return (*(item.field for item in self.groups), *(call.field for call in self.calls))


@dataclass(frozen=True)
class Join(Relation):
    """Rows of both inputs for which the condition is true; None: all pairs.

    left: also every left row without a match, its right columns NULL; full: those of both. semi
    and anti: left rows with and without a match, as often as they occur on the left.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    condition: Expr | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """Left and right."""
        return self.left, self.right

    @property
    def fields(self) -> tuple[Field, ...]:
        """Left, then right; of a semi or anti join only left."""
        if self.kind in ("semi", "anti"):
            return self.left.fields
        return (*self.left.fields, *self.right.fields)

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same join of others."""
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class AsOfJoin(Relation):
    """Every left row with the one right row of its keys that is newest at its time.

    keys: pairs of expressions, left and right, that are equal. times: those of the left and of the
    right row; the right one is not later or, where is_strict, earlier. Of rows of one time the last
    in the order of whole rows counts. condition: where it is not true of the pair, the left row has
    no match; left: such rows stay, their right columns NULL.
    """

    kind: OneOf["inner", "left"]
    left: Relation
    right: Relation
    keys: tuple[tuple[Expr, Expr], ...]
    times: tuple[Expr, Expr]
    is_strict: bool = False
    condition: Expr | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """Left and right."""
        return self.left, self.right

    @property
    def fields(self) -> tuple[Field, ...]:
        """Left, then right."""
        return (*self.left.fields, *self.right.fields)

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same join of others."""
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class Apply(Relation):
    """A sub-query asked anew for each row on the left: `right` may read fields of `left`.

    inner: every left row with each row of the right; left: also with NULLs where it has none.
    scalar: every left row with the one row of the right, or with NULLs. semi and anti: the left
    rows for which the right has a row, or none, for which the condition is true; None: any row.
    """

    kind: ApplyKind
    left: Relation
    right: Relation
    condition: Expr | None = None

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """Left and right."""
        return self.left, self.right

    @property
    def fields(self) -> tuple[Field, ...]:
        """Left, then right unless it only asks whether there is a row."""
        if self.kind in ("scalar", "inner", "left"):
            return (*self.left.fields, *self.right.fields)
        return self.left.fields

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same of others."""
        left, right = inputs
        return replace(self, left=left, right=right)


@dataclass(frozen=True)
class SetOperation(Relation):
    """UNION ALL, INTERSECT or EXCEPT of inputs whose columns correspond by position.

    is_all: of INTERSECT and EXCEPT, rows are counted; else every row is there once. UNION without
    ALL is a Distinct over a UNION ALL. given: fields of its own, of the types of all inputs.
    """

    kind: OneOf["union", "intersect", "except"]
    parts: tuple[Relation, ...]
    given: tuple[Field, ...]
    is_all: bool = True

    @property
    def inputs(self) -> tuple[Relation, ...]:
        """All parts: two or, of a union, more."""
        return self.parts

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its own."""
        return self.given

    def with_inputs(self, *inputs: Relation) -> Relation:
        """The same of others."""
        return replace(self, parts=inputs)


@dataclass(frozen=True)
class OrderKey:
    """One key of an order. NULL is first or last as said; NaN is larger than any number."""

    expression: Expr
    is_descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class TopRows(Unary):
    """Of each partition the rows after the first `offset` in order, at most `limit`.

    Where keys are equal, the whole rows decide, column by column in ascending order: so the rows
    depend on what the input holds, and on nothing else.
    """

    partition: tuple[Expr, ...]
    order: tuple[OrderKey, ...]
    limit: int | None
    offset: int = 0


@dataclass(frozen=True)
class Frame:
    """Which rows of the partition an aggregate or FIRST_VALUE reads.

    start, end: None is unbounded; otherwise rows (unit 'rows'), or a distance on the one key of the
    order ('range'; microseconds for timestamps) from the current row: negative is before it.
    """

    unit: OneOf["rows", "range"]
    start: int | float | None
    end: int | float | None


@dataclass(frozen=True)
class WindowCall:
    """One function OVER the partition.

    function: an aggregate of AGGREGATE_FUNCTIONS, or row_number, rank, dense_rank, percent_rank,
    cume_dist, ntile, lag, lead, first_value, last_value, nth_value. arguments: of lag and lead the
    value, the distance (a literal) and the default.
    """

    field: Field
    function: str
    arguments: tuple[Expr, ...]
    frame: Frame


@dataclass(frozen=True)
class WindowFunctions(Unary):
    """Every row of the input, with the values of functions over its partition in order.

    Rows with equal keys are in the order of their whole rows, as in TopRows. shown: the ids of
    those columns of the input that are read above; None: all.
    """

    partition: tuple[Expr, ...]
    order: tuple[OrderKey, ...]
    calls: tuple[WindowCall, ...]
    shown: frozenset[str] | None = None

    @property
    def passed(self) -> tuple[Field, ...]:
        """The columns of the input that rows keep."""
        fields = self.input.fields
        if self.shown is None:
            return fields
        return tuple(field for field in fields if field.id in self.shown)

    @property
    def fields(self) -> tuple[Field, ...]:
        """Those of the input that are shown, then the functions."""
        return (*self.passed, *(call.field for call in self.calls))


@dataclass(frozen=True)
class AnswerWindow(Unary):
    """The answers of a query with EVERY as a stream, through a window.

    At every multiple of every_us, from the first row of any of its streams on, the rows of the
    input enter with that time, as rows of a stream would; time: the field that has it. offset_us:
    how much later than that their time is; not above 0.
    """

    every_us: int
    window: WindowSpec
    time: Field
    offset_us: int = 0

    @property
    def fields(self) -> tuple[Field, ...]:
        """The time, then the columns of the input."""
        return (self.time, *self.input.fields)
