"""Aggregates of a history, and the scope of its groups: what it keeps can be queried."""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from windrow.aggregate_functions import AggregateFunction, Form, running_names
from windrow.errors import BindingError, UnsupportedError
from windrow.plan.aggregates import FUNCTIONS, IDEMPOTENT, Groups
from windrow.plan.expressions import AggregateRef, ColumnRef, Expr, Literal
from windrow.plan.history_plan import HistoryAggregate
from windrow.plan.history_schema import HistorySchema
from windrow.plan.names import Names
from windrow.plan.rows import row_scope
from windrow.scalar_functions import SCALAR_NAMES
from windrow.schema import BIGINT, DOUBLE

__all__ = ["HistoryGroups", "check_keys"]

_RUNNING = (
    f"{running_names(lambda each: each.in_history and not each.laws.in_sketch)} of measures are "
    "supported, "
    f"{running_names(lambda each: each.laws.in_sketch)} where sketches are kept"
)


def check_keys(names: Names, history: HistorySchema, node: exp.Expr, clause: str) -> None:
    """Refuses columns that are no keys, outside of aggregates; unknown ones are left to names."""
    keys = {key.name for key in history.keys}
    for column in node.find_all(exp.Column):
        if _is_inside(column) or isinstance(column.this, exp.Star):
            continue
        found = names.find(column)
        if found and found[0].column not in keys:
            listed = ", ".join(key.name for key in history.keys) or "none"
            raise row_scope(names, clause).wrong(
                "WB332",
                f"{found[0].column!r} is not a key of the history of {history.stream.name!r}",
                column,
                hint=f"{clause} takes keys of the history: {listed}"
                + ("; the interval goes in the brackets" * (_is_time(history, found[0]))),
            )


def _is_inside(column: exp.Expr) -> bool:
    """Whether an aggregate is around it, or a function that nobody knows: that is an error too."""
    around = column.find_ancestor(exp.AggFunc, exp.Anonymous)
    while isinstance(around, exp.Anonymous) and around.name.lower() in SCALAR_NAMES:
        around = around.find_ancestor(exp.AggFunc, exp.Anonymous)
    return around is not None


def _is_time(history: HistorySchema, column: ColumnRef) -> bool:
    return column.column == history.stream.time


class HistoryGroups(Groups):
    """Binds what stands above the groups; collects the aggregates in `found`."""

    def __init__(self, names: Names, group_by: tuple[Expr, ...], history: HistorySchema) -> None:
        super().__init__(names, group_by)
        self.found: list[HistoryAggregate] = []
        self._history = history

    def _aggregate(self, node: exp.AggFunc) -> AggregateRef:
        bound = self._asked(node)
        if bound not in self.found:
            self.found.append(bound)
        return AggregateRef(self.found.index(bound), bound.type)

    def _asked(self, node: exp.AggFunc) -> HistoryAggregate:
        function = FUNCTIONS.get(type(node))
        if function is None or not function.in_history:
            raise self._row.refused("WU205", f"the aggregate {node.sql_name()}", node, _RUNNING)
        argument = node.this
        if function.star is not None and isinstance(argument, exp.Star):
            return HistoryAggregate(function.name, None, BIGINT)
        if isinstance(argument, exp.Distinct):
            function, argument = self._distinct(function, node, argument)
        if function.form is Form.QUANTILE:
            return self._quantile(function, node)
        if argument is None or node.expressions:
            message, hint = f"{node.sql_name()} takes 1 argument", "name one measure"
            raise self._row.wrong("WB231", message, node, hint=hint)
        column = self._column(argument)
        if column is None:
            if function.star is not None:
                return HistoryAggregate(function.name, None, BIGINT)
            raise self._computed(argument)
        if function.form is Form.ABOUT_DISTINCT:
            self._check_distinct(argument, column)
        else:
            self._check_measure(argument, column)
        return HistoryAggregate(function.name, column.column, function.type_of(column.type))

    def _distinct(
        self, function: AggregateFunction, node: exp.AggFunc, distinct: exp.Distinct
    ) -> tuple[AggregateFunction, exp.Expr]:
        found = function if function.laws.is_idempotent else _counted_by_sketch(function)
        if len(distinct.expressions) != 1 or found is None:
            hint = f"COUNT(DISTINCT x) of one column runs, and so do {IDEMPOTENT}"
            raise self._row.refused("WU204", f"{function.sql_names[0]}(DISTINCT ...)", node, hint)
        return found, distinct.expressions[0]

    def _quantile(self, function: AggregateFunction, node: exp.AggFunc) -> HistoryAggregate:
        column = self._column(node.this)
        if column is None:
            raise self._computed(node.this)
        self._check_measure(node.this, column)
        if column.column not in self._history.quantiles:
            raise self._no_sketch(node, column, "quantiles", self._history.quantiles)
        written = node.args["quantile"]
        rank = self._row.bind(written)
        value = rank.value if isinstance(rank, Literal) else None
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            value = -1
        if not 0 <= value <= 1:
            raise self._row.wrong(
                "WB336",
                "the rank of a quantile must be a literal from 0 to 1",
                node if isinstance(rank, Literal) and rank.value is None else written,
                hint="such as APPROX_PERCENTILE(x, 0.95)",
            )
        return HistoryAggregate(function.name, column.column, DOUBLE, float(value))

    def _column(self, node: exp.Expr) -> ColumnRef | None:
        """The column that an argument is; None where it is a constant that is not NULL."""
        bound = self._argument.bind(node)
        if isinstance(bound, ColumnRef):
            return bound
        if isinstance(bound, Literal) and bound.value is not None:
            return None
        raise self._computed(node)

    def _computed(self, node: exp.Expr) -> UnsupportedError:
        return UnsupportedError(
            "WU230",
            "a history aggregates plain columns, not expressions",
            hint="put the expression around the aggregate: SUM(x) * 2 for SUM(x * 2)",
            place=self._row.place(node),
        )

    def _check_measure(self, node: exp.Expr, column: ColumnRef) -> None:
        measures = [measure.name for measure in self._history.measures]
        if column.column not in measures:
            raise self._row.wrong(
                "WB333",
                f"{column.column!r} is not a measure of the history of "
                f"{self._history.stream.name!r}",
                node,
                hint=f"its measures are {', '.join(measures) or 'none'}; COUNT(*) counts rows",
            )

    def _check_distinct(self, node: exp.Expr, column: ColumnRef) -> None:
        known = tuple(each.name for each in self._history.distincts)
        if column.column not in known:
            raise self._no_sketch(node, column, "distincts", known)

    def _no_sketch(
        self, node: exp.Expr, column: ColumnRef, kind: str, known: tuple[str, ...]
    ) -> BindingError:
        return self._row.wrong(
            "WB334",
            f"the history of {self._history.stream.name!r} keeps no sketch of {kind} "
            f"of {column.column!r}",
            node,
            hint=f"declare it with {kind}=[{column.column!r}]; "
            f"it keeps those of {', '.join(known) or 'nothing'}",
        )


def _counted_by_sketch(function: AggregateFunction) -> AggregateFunction | None:
    """What counts different values where only a sketch knows them."""
    if function.distinct is None:
        return None
    return next(each for each in FUNCTIONS.values() if each.form is Form.ABOUT_DISTINCT)
