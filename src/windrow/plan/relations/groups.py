"""The phase of groups: what GROUP BY leaves of the rows, and what the clauses above it may name."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import chain

from sqlglot import exp

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.errors import WindrowError
from windrow.plan.expressions import AggregateRef, Call, ColumnRef, Expr, Literal, walk
from windrow.plan.relations.aggregate_calls import (
    GROUPING,
    PARTS_BEFORE_KEYS,
    BareCall,
    bare_call,
    function_name,
    is_aggregate,
    own_aggregates,
    own_nodes,
)
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Field,
    Item,
    Project,
    Relation,
    SetOperation,
)
from windrow.plan.relations.phase import Aliases, Phase, RowPhase
from windrow.plan.relations.positions import at_position
from windrow.plan.relations.reading import times_of
from windrow.plan.relations.tree_calls import row_order
from windrow.plan.scope import Scope
from windrow.schema import BIGINT, STRING
from windrow.sql.statements import Select

__all__ = ["GroupPhase", "grouped"]


def grouped(select: Select, rows: RowPhase, aliases: Aliases) -> GroupPhase:
    """The groups of the rows, with all aggregates that the clauses above them need."""
    groups = [
        rows.bind(at_position(select, node, "GROUP BY"), "GROUP BY", aliases)
        for node in select.group_by
    ]
    clauses = list(_clauses(select))
    phase = GroupPhase(rows, groups)
    for node in chain.from_iterable(own_aggregates(clause) for clause in clauses):
        phase.collect(node)
    rows.is_closed = True
    found = chain.from_iterable(own_nodes(clause, _is_grouping) for clause in clauses)
    phase.build(select.grouping_sets, list(found))
    return phase


def _clauses(select: Select) -> list[exp.Expr]:
    found: list[exp.Expr | None] = [item.expression for item in select.items]
    found += [select.having, select.qualify, *(each.expression for each in select.order_by)]
    return [each for each in found if each is not None]


def _is_grouping(node: exp.Expr) -> bool:
    return function_name(node) in GROUPING


class GroupPhase(Phase):
    """Groups: a name is a grouped column, and aggregates have values."""

    def __init__(self, rows: RowPhase, groups: Sequence[Expr]) -> None:
        super().__init__(rows.context, rows.environment, rows.visible, rows.relation)
        self._rows = rows
        self._groups = list(groups)
        self._group_fields: list[Field] = []
        self._calls: list[BareCall] = []
        self._call_fields: list[Field] = []
        self._groupings: list[tuple[exp.Expr, Expr]] = []

    def collect(self, node: exp.Expr) -> None:
        """Takes note of an aggregate."""
        call = self._bare(node)
        if call not in self._calls:
            self._calls.append(call)

    def build(self, sets: Sequence[tuple[int, ...]], groupings: list[exp.Expr]) -> None:
        """Puts the aggregation on the rows; from here on its values can be named."""
        if sets:
            self._build_sets(sets, groupings)
            return
        groups = self._group_items(range(len(self._groups)))
        calls = self._aggregate_calls()
        self.relation = Aggregate(self._rows.relation, groups, calls)
        self._group_fields = [item.field for item in groups]
        self._call_fields = [call.field for call in calls]
        for node in groupings:
            self._bits(node)
            self._groupings.append((node, Literal(0, BIGINT)))

    def final(self, bound: Expr) -> Expr:
        """Aggregates as columns. Until here they are known as such: their sums have more digits."""
        if isinstance(bound, AggregateRef):
            return self._call_fields[bound.index].ref
        if isinstance(bound, Call):
            return replace(bound, arguments=tuple(map(self.final, bound.arguments)))
        return bound

    def _build_sets(self, sets: Sequence[tuple[int, ...]], groupings: list[exp.Expr]) -> None:
        fresh = self.context.fresh
        self._group_fields = [fresh(_name(group), group.type) for group in self._groups]
        self._call_fields = [fresh(call.function, call.type) for call in self._calls]
        bits = [self._bits(node) for node in groupings]
        marks = [fresh("grouping", BIGINT) for _ in groupings]
        self._groupings = [(node, mark.ref) for node, mark in zip(groupings, marks, strict=True)]
        parts = tuple(self._set_rows(each, bits, marks) for each in sets)
        given = (*self._group_fields, *self._call_fields, *marks)
        self.relation = SetOperation("union", parts, given) if len(parts) > 1 else parts[0]
        if len(parts) == 1:
            self.relation = Project(
                parts[0],
                tuple(
                    Item(field, own.ref) for field, own in zip(given, parts[0].fields, strict=True)
                ),
            )

    def _set_rows(
        self, places: tuple[int, ...], bits: list[list[int]], marks: list[Field]
    ) -> Relation:
        """The groups of one set: what it does not group by is NULL."""
        groups = self._group_items(places)
        calls = self._aggregate_calls()
        by_place = dict(zip(places, groups, strict=True))
        values: list[Expr] = [
            by_place[place].field.ref if place in by_place else Literal(None, group.type)
            for place, group in enumerate(self._groups)
        ]
        values += [call.field.ref for call in calls]
        values += [Literal(_grouping_id(each, by_place.keys()), BIGINT) for each in bits]
        fresh = self.context.fresh
        fields = (*self._group_fields, *self._call_fields, *marks)
        items = tuple(
            Item(fresh(field.name, field.type), value)
            for field, value in zip(fields, values, strict=True)
        )
        return Project(Aggregate(self._rows.relation, groups, calls), items)

    def _group_items(self, places: Sequence[int]) -> tuple[Item, ...]:
        fresh = self.context.fresh
        return tuple(
            Item(fresh(_name(self._groups[place]), self._groups[place].type), self._groups[place])
            for place in places
        )

    def _aggregate_calls(self) -> tuple[AggregateCall, ...]:
        fresh = self.context.fresh
        return tuple(
            AggregateCall(
                fresh(call.function, call.type),
                call.function,
                self._ordered(call),
                call.is_distinct,
            )
            for call in self._calls
        )

    def _ordered(self, call: BareCall) -> tuple[Expr, ...]:
        """The arguments; of FIRST and LAST with what orders the rows behind them."""
        if AGGREGATE_FUNCTIONS[call.function].form is not Form.CHOSEN:
            return call.arguments
        return (*call.arguments, *row_order(self._rows.relation))

    def _bits(self, node: exp.Expr) -> list[int]:
        """The places in GROUP BY of what GROUPING names, all of them where it names none."""
        if not node.expressions:
            return list(range(len(self._groups)))
        found = []
        for argument in node.expressions:
            place = self._place(argument)
            if place is None:
                scope = self._rows.scope("GROUPING")
                raise scope.wrong(
                    "WB272",
                    "GROUPING of an expression that GROUP BY does not name",
                    argument,
                    hint="repeat an expression of GROUP BY",
                )
            found.append(place)
        return found

    def _own(self, node: exp.Expr) -> Expr | None:
        if isinstance(node, (exp.Window, exp.Literal)) or is_aggregate(node):
            return None
        for known, value in self._groupings:
            if known == node:
                return value
        place = self._place(node)
        return None if place is None else self._group_fields[place].ref

    def _place(self, node: exp.Expr) -> int | None:
        if not self._groups or next(own_aggregates(node), None) or node.find(exp.Window):
            return None
        try:
            bound = self._rows.bind(node, "a group")
        except WindrowError:
            return None  # binding its parts raises the same error, at the place of the part
        return self._groups.index(bound) if bound in self._groups else None

    def _own_column(self, node: exp.Column, *, shadowed: bool) -> Expr:
        place = self._place(node)
        if place is not None:
            return self._group_fields[place].ref
        column = self.visible.find(node)
        assert column is not None
        hint = "add it to GROUP BY, or put it into an aggregate such as MAX or COUNT"
        if shadowed:
            hint = (
                "a column takes precedence over an item of that name: repeat the item, or rename it"
            )
        raise self._rows.scope("a group").wrong(
            "WB243",
            f"column {column.name!r} is neither grouped nor aggregated",
            node,
            hint=hint,
        )

    def _aggregate(self, scope: Scope, node: exp.Expr, clause: str) -> Expr | None:  # noqa: ARG002
        if not is_aggregate(node):
            return None
        call = self._bare(node)
        return AggregateRef(self._calls.index(call), call.type)

    def _bare(self, node: exp.Expr) -> BareCall:
        scope = self._rows.scope("an aggregate")
        call = _by_time(bare_call(scope, node, self._rows.final), self._rows.relation)
        read = {
            part.column
            for argument in call.arguments
            for part in walk(argument)
            if isinstance(part, ColumnRef)
        }
        if read and read.isdisjoint(field.id for field in self._rows.relation.fields):
            # SQL computes it in the query around this one, which then has groups.
            raise scope.refused(
                "WU242",
                "an aggregate of columns of the query around it",
                node,
                hint="aggregate in a query in FROM, and use its column here",
            )
        return call


def _by_time(call: BareCall, relation: Relation) -> BareCall:
    """Values that are collected without an order of their own are in the order of their times."""
    function = AGGREGATE_FUNCTIONS[call.function]
    has_order = not function.laws.is_collected or len(call.arguments) > PARTS_BEFORE_KEYS
    if has_order or call.is_distinct:
        return call
    times = times_of(relation)
    letters = Literal("a" * len(times), STRING)
    return replace(call, arguments=(*call.arguments[:2], letters, *times))


def _name(group: Expr) -> str:
    """What a group is called in drawings: its column, if it is one."""
    return group.column.rpartition("#")[0] if isinstance(group, ColumnRef) else "group"


def _grouping_id(places: list[int], grouped_by: Container[int]) -> int:
    found = 0
    for place in places:
        found = 2 * found + (place not in grouped_by)
    return found
