"""What a shard needs to know of a plan: columns per input, names of groups, what to aggregate.

Rows are prepared once (prepare.py): every expression of one input becomes a column, named as
prepared_names says. What reads several inputs is an expression over such columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import pyarrow as pa

from windrow.aggregate_functions import Form
from windrow.exact.kernels import DOUBLE, INTEGER
from windrow.plan.expressions import Call, ColumnRef, Expr, inputs_of
from windrow.plan.model import SEVERAL, Aggregate, QueryPlan
from windrow.plan.update_pattern import keeps_results
from windrow.rows.group_places import GroupPlace, group_places, joined_places
from windrow.rows.grouping import SINGLE
from windrow.rows.prepared_names import GROUP, NEGATED_KEY, column_name, part_of
from windrow.rows.values import ValueColumns
from windrow.schema import DOUBLE as DOUBLE_TYPE

__all__ = [
    "Distinct",
    "Extreme",
    "GroupPlace",
    "InputShape",
    "Measure",
    "NegationShape",
    "QueryShape",
    "Reading",
    "shape_of",
]

Found = TypeVar("Found")


@dataclass(frozen=True)
class InputShape:
    """Expressions to evaluate for the rows of one input; variables: the join variable of each key.

    value_types: the Arrow types of the value columns. negated_keys: what rows of negated inputs are
    compared with; unlike a join key, it may be NULL.
    """

    keys: tuple[Expr, ...]
    variables: tuple[int, ...]
    groups: tuple[Expr, ...]
    partitions: tuple[Expr, ...]
    values: tuple[Expr, ...]
    value_types: tuple[pa.DataType, ...]
    negated_keys: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class NegationShape:
    """Rows of input `of` count while none of `negated` matches; residual: over prepared columns.

    of_columns: the prepared columns of `of` that equal the keys of `negated`.
    """

    negated: int
    of: int
    of_columns: tuple[str, ...]
    residual: Expr | None


@dataclass(frozen=True)
class Measure:
    """A number that is summed exactly over the joined rows, with the count of those not NULL.

    kind: INTEGER or DOUBLE (decimals are integers). argument: what a joined row adds. terms: the
    argument as a sum of products of one or two value columns, each of another input; () where it
    does not separate. A measure with terms is the exact sum of the exact products.
    """

    kind: int
    argument: Expr
    terms: tuple[tuple[ColumnRef, ...], ...]


@dataclass(frozen=True)
class Extreme:
    """The largest or smallest value of the argument; source: its input, None for several."""

    argument: Expr
    source: int | None
    is_max: bool


@dataclass(frozen=True)
class Distinct:
    """The number of different values of the argument; source: its input, None for several."""

    argument: Expr
    source: int | None


@dataclass(frozen=True)
class Reading:
    """How an aggregate is read off a state.

    indexes: of the measure (a spread has three: values, squares, what the squares were rounded by),
    of the distinct or of the extreme.
    """

    form: Form
    indexes: tuple[int, ...] = ()


@dataclass(frozen=True)
class QueryShape:
    """The plan as the engine sees it.

    mode: how the factorised aggregate of one window or two runs it (SINGLE or one of
    joins.kernels); None where that does not serve. A select is a count of equal rows: its groups
    are its select list. group_columns: the group columns over prepared columns, constants left out.
    is_folded: whether rows are kept in cells even where they could keep a code for themselves.
    """

    inputs: tuple[InputShape, ...]
    mode: int | None
    group_places: tuple[GroupPlace, ...]
    group_columns: tuple[Expr, ...]
    measures: tuple[Measure, ...] = ()
    extremes: tuple[Extreme, ...] = ()
    distincts: tuple[Distinct, ...] = ()
    readings: tuple[Reading, ...] = ()
    residual: Expr | None = None
    is_select: bool = False
    is_distinct: bool = False
    negations: tuple[NegationShape, ...] = ()
    is_folded: bool = False

    @property
    def kinds(self) -> tuple[tuple[int, ...], ...]:
        """Kinds of the measures: of each input where every measure is of one input."""
        if self.mode is None:
            return (tuple(measure.kind for measure in self.measures),)
        return tuple(
            tuple(m.kind for m in self.measures if m.terms[0][0].source == input_index)
            for input_index in range(len(self.inputs))
        )

    @property
    def extra_count(self) -> int:
        """Columns of a state, lanes excluded: tallies, ranks of extremes, whether one exists."""
        return len(self.distincts) + 2 * len(self.extremes)


def shape_of(plan: QueryPlan) -> QueryShape:
    """The shape of a plan."""
    if plan.kind == "select":
        return _select_shape(plan)
    columns = ValueColumns(len(plan.inputs))
    work = _Work(columns)
    residual = None if plan.residual is None else columns.joined(plan.residual)
    negations = _negations(plan, columns)
    readings = tuple(work.reading(aggregate) for aggregate in plan.aggregates)
    is_plain = (
        len(plan.inputs) <= 2
        and residual is None
        and not negations
        and not work.extremes
        and not work.distincts
        and all(
            aggregate.source is not None or aggregate.argument is None
            for aggregate in plan.aggregates
        )
    )
    if is_plain:
        found = group_places(plan)
    if not is_plain or found is None:
        places, groups, joined = joined_places(plan, columns)
        mode = None
    else:
        places, groups, joined, mode = found
    inputs = tuple(_input_shape(plan, i, groups[i], columns) for i in range(len(plan.inputs)))
    measures = tuple(work.measures)
    if mode is not None:
        measures, readings = _in_order_of_columns(work.measures, readings)
    return QueryShape(
        inputs, mode, places, joined, measures, tuple(work.extremes), tuple(work.distincts),
        readings, residual, negations=negations,
    )  # fmt: skip


class _Work:
    """Collects what the aggregates of a plan need, each once."""

    def __init__(self, columns: ValueColumns) -> None:
        self.measures: list[Measure] = []
        self.extremes: list[Extreme] = []
        self.distincts: list[Distinct] = []
        self._columns = columns

    def reading(self, aggregate: Aggregate) -> Reading:
        """How the aggregate is read, once what it needs is kept."""
        argument, traits = aggregate.measured, aggregate.traits
        if argument is None:
            return Reading(traits.form)
        if traits.form is Form.SPREAD:
            return Reading(traits.form, self._squares(aggregate, argument))
        if traits.form is Form.EXTREME:
            joined = self._columns.joined(argument)
            extreme = Extreme(joined, aggregate.source, traits.is_greatest)
            return Reading(traits.form, (_place(self.extremes, extreme),))
        if traits.form is Form.DISTINCT:
            distinct = Distinct(self._columns.joined(argument), aggregate.source)
            return Reading(traits.form, (_place(self.distincts, distinct),))
        return Reading(traits.form, (self._measure(aggregate, argument),))

    def _measure(self, aggregate: Aggregate, argument: Expr) -> int:
        if aggregate.source is not None:
            column = self._columns.measured(aggregate.source, argument)
            kind = DOUBLE if column.type.is_float else INTEGER
            return _place(self.measures, Measure(kind, column, ((column,),)))
        kind = DOUBLE if argument.type.is_float else INTEGER
        terms = tuple(self._columns.factors(term) for term in aggregate.terms)
        return _place(self.measures, Measure(kind, self._columns.joined(argument), terms))

    def _squares(self, aggregate: Aggregate, argument: Expr) -> tuple[int, ...]:
        """Three measures: the value, its square, and what the square was rounded by."""
        parts: list[Expr] = [argument]
        parts += [
            Call(function, (argument,), DOUBLE_TYPE) for function in ("square", "square_error")
        ]
        found = []
        for part in parts:
            if aggregate.source is None:
                measure = Measure(DOUBLE, self._columns.joined(part), ())
            else:
                column = self._columns.measured(aggregate.source, part)
                measure = Measure(DOUBLE, column, ((column,),))
            found.append(_place(self.measures, measure))
        return tuple(found)


def _place(known: list[Found], found: Found) -> int:
    if found not in known:
        known.append(found)
    return known.index(found)


def _in_order_of_columns(
    measures: list[Measure], readings: tuple[Reading, ...]
) -> tuple[tuple[Measure, ...], tuple[Reading, ...]]:
    """Measures of one column each, in the order of the columns."""

    def place(index: int) -> tuple[int, int]:
        column = measures[index].terms[0][0]
        return column.source, part_of(column)[1]

    order = sorted(range(len(measures)), key=place)
    readings = tuple(
        Reading(reading.form, tuple(order.index(index) for index in reading.indexes))
        for reading in readings
    )
    return tuple(measures[i] for i in order), readings


def _select_shape(plan: QueryPlan) -> QueryShape:
    """Equal rows are counted: a select is grouped by its list."""
    listed = tuple(column.expression for column in plan.select)
    columns = ValueColumns(len(plan.inputs))
    residual = None if plan.residual is None else columns.joined(plan.residual)
    negations = _negations(plan, columns)
    mode = None
    if keeps_results(plan):
        places, groups, joined = joined_places(_grouped(plan, listed), columns)
    else:
        mode, groups = SINGLE, [listed]
        places = tuple(GroupPlace("input", index) for index in range(len(listed)))
        joined = tuple(
            ColumnRef(0, column_name(GROUP, i), part.type) for i, part in enumerate(listed)
        )
    inputs = tuple(_input_shape(plan, i, groups[i], columns) for i in range(len(plan.inputs)))
    return QueryShape(
        inputs, mode, places, joined, residual=residual, is_select=True,
        is_distinct=plan.distinct, negations=negations,
    )  # fmt: skip


def _grouped(plan: QueryPlan, listed: tuple[Expr, ...]) -> QueryPlan:
    """The plan with its select list as groups."""
    reads = [inputs_of(part) for part in listed]
    sources = [SEVERAL if len(each) > 1 else next(iter(each), None) for each in reads]
    keys = (None,) * len(listed)
    return replace(plan, group_by=listed, group_sources=tuple(sources), group_keys=keys)


def _negations(plan: QueryPlan, columns: ValueColumns) -> tuple[NegationShape, ...]:
    found = []
    for negation in plan.negations:
        known = _negated_keys(plan, negation.of)
        names = tuple(column_name(NEGATED_KEY, known.index(key)) for key in negation.of_keys)
        residual = None if negation.residual is None else columns.joined(negation.residual)
        found.append(NegationShape(negation.input, negation.of, names, residual))
    return tuple(found)


def _negated_keys(plan: QueryPlan, input_index: int) -> tuple[Expr, ...]:
    keys = [key for each in plan.negations if each.of == input_index for key in each.of_keys]
    return tuple(dict.fromkeys(keys))


def _input_shape(
    plan: QueryPlan, input_index: int, groups: tuple[Expr, ...], columns: ValueColumns
) -> InputShape:
    entry = plan.inputs[input_index]
    values, types = columns.of(input_index)
    keys, variables = entry.keys, entry.variables
    for negation in plan.negations:
        if negation.input == input_index:
            keys, variables = negation.keys, ()
    partitions = entry.window.partition_by
    negated = _negated_keys(plan, input_index)
    return InputShape(keys, variables, groups, partitions, values, types, negated)
