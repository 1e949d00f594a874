"""Blocks: parts of a tree that one fused operator runs, with its windows.

Windows -> filters -> inner joins -> one aggregate, or the joined rows themselves, is what the
operators of single queries do best: factorised, as a tree of windows, or on joined rows, chosen by
cost. Every leaf of a tree is such a block; a window alone is the smallest one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.algorithms import with_algorithm
from windrow.plan.conditions import Conditions, split_bound
from windrow.plan.digits import too_wide
from windrow.plan.expressions import AggregateRef, Call, ColumnRef, Expr, GroupRef, inputs_of
from windrow.plan.fallible import is_guard
from windrow.plan.model import SEVERAL, OutputColumn, PlanInput, QueryPlan
from windrow.plan.model import Aggregate as PlanAggregate
from windrow.plan.refusals import MAX_INPUTS
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Distinct,
    Field,
    Filter,
    Item,
    Join,
    Project,
    Relation,
    Scan,
)
from windrow.plan.relations.references import conjuncts_of, substituted
from windrow.plan.relations.window_algebra import SessionScan, WindowBound
from windrow.plan.rules.exact_sums import exact_sums
from windrow.plan.rules.pipeline import rewritten
from windrow.plan.types import convert
from windrow.schema import DOUBLE, STRING
from windrow.sql.statements import OnError

__all__ = ["Block", "SessionBlock", "with_blocks"]


@dataclass(frozen=True)
class Block(Relation):
    """A plan that is run as a whole; columns of its answer are named by the ids of its fields."""

    plan: QueryPlan
    given: tuple[Field, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of its answer."""
        return self.given

    @property
    def plans(self) -> tuple[QueryPlan, ...]:
        """What has windows: one plan, but of a union one for each part."""
        return (self.plan,)

    @property
    def entries(self) -> tuple[PlanInput, ...]:
        """The windows of all its plans."""
        return tuple(entry for plan in self.plans for entry in plan.inputs)

    @property
    def is_scan(self) -> bool:
        """Whether it is a window alone, whose rows come and go as they are."""
        plan = self.plan
        return plan.kind == "select" and len(plan.inputs) == 1 and not plan.distinct


@dataclass(frozen=True)
class SessionBlock(Block):
    """A window of sessions alone, with bounds behind the columns of the stream."""

    mode: str
    bounds: tuple[WindowBound, ...]

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns of the stream, then the bounds."""
        return (*self.given, *(each.field for each in self.bounds))


def with_blocks(relation: Relation, every_us: int | None, text: str) -> Relation:
    """The relation with every part that a fused operator can run as a block."""
    return _Fusing(every_us, text).of(relation)


@dataclass(frozen=True)
class _Joined:
    """Scans under inner joins: all conditions, and what each column above them is computed from."""

    scans: tuple[Scan, ...]
    conditions: tuple[Expr, ...]
    values: dict[str, Expr]

    def bound(self, expression: Expr) -> Expr:
        """The expression over the streams of the scans."""
        return substituted(expression, self.values)


class _Fusing:
    def __init__(self, every_us: int | None, text: str) -> None:
        self._every_us, self._text = every_us, text

    def of(self, relation: Relation) -> Relation:
        """The largest parts first."""
        block = self._block(relation)
        if block is not None:
            return block
        parts = [self.of(part) for part in relation.inputs]
        return relation.with_inputs(*parts) if parts else relation

    def _block(self, relation: Relation) -> Block | None:
        if isinstance(relation, SessionScan):
            return self._sessions(relation)
        if isinstance(relation, Aggregate):
            joined = _joined(relation.input)
            return None if joined is None else self._aggregate(relation, joined)
        is_distinct = isinstance(relation, Distinct)
        rows = relation.inputs[0] if is_distinct else relation
        joined = _joined(rows, is_alone=not is_distinct and _count_scans(rows, 2) == 1)
        if joined is None or (is_distinct and _is_endless(joined)):
            return None
        return self._select(rows, joined, is_distinct)

    def _sessions(self, relation: SessionScan) -> Block:
        found = _gathered(relation.rows)
        assert found is not None
        block = self._select(relation.rows, found, is_distinct=False)
        assert block is not None
        return SessionBlock(block.plan, block.given, relation.mode, relation.bounds)

    def _select(self, relation: Relation, joined: _Joined, is_distinct: bool) -> Block | None:
        inputs, conditions = _inputs(joined)
        items = [Item(field, joined.bound(field.ref)) for field in relation.fields]
        if (is_distinct or len(inputs) > 1) and any(too_wide(each.expression) for each in items):
            return None
        plan = QueryPlan(
            self._text, "select", inputs, _columns(items), residual=conditions.residual,
            distinct=is_distinct, every_us=self._every_us,
        )  # fmt: skip
        return _finished(plan, relation.fields)

    def _aggregate(self, relation: Aggregate, joined: _Joined) -> Block | None:
        inputs, conditions = _inputs(joined)
        groups = tuple(joined.bound(item.expression) for item in relation.groups)
        found = [_aggregate_of(call, joined) for call in relation.calls]
        calls = [each for each in found if each is not None]
        arguments = [each.argument for each in calls if each.argument is not None]
        if len(calls) < len(found) or any(too_wide(each) for each in (*groups, *arguments)):
            return None
        different = list(dict.fromkeys(calls))
        items = [
            Item(item.field, GroupRef(number, item.field.type))
            for number, item in enumerate(relation.groups)
        ]
        items += [
            Item(
                call.field,
                _value_of(AggregateRef(different.index(own), call.field.type), relation.on_error),
            )
            for call, own in zip(relation.calls, calls, strict=True)
        ]
        plan = QueryPlan(
            self._text, "aggregate", inputs, _columns(items), groups,
            tuple(_source(part) for part in groups),
            tuple(conditions.variable_of(part) for part in groups),
            tuple(different), every_us=self._every_us, residual=conditions.residual,
            on_error=relation.on_error,
        )  # fmt: skip
        return _finished(plan, relation.fields)


def _finished(plan: QueryPlan, fields: tuple[Field, ...]) -> Block | None:
    keys = [key for entry in plan.inputs for key in entry.keys]
    tested = [*keys, *([] if plan.residual is None else [plan.residual])]
    if any(too_wide(each) is not None for each in tested):
        return None
    return Block(with_algorithm(exact_sums(rewritten(plan)), "auto"), fields)


def _columns(items: Sequence[Item]) -> tuple[OutputColumn, ...]:
    return tuple(OutputColumn(each.field.id, each.expression, each.field.type) for each in items)


def _value_of(reference: AggregateRef, on_error: OnError) -> Expr:
    """The aggregate; under ON ERROR NULL, NULL where its type does not hold it."""
    return Call("try", (reference,), reference.type) if on_error == "null" else reference


def _joined(relation: Relation, *, is_alone: bool = False) -> _Joined | None:
    """The scans that it is made of, where filters, projections and inner joins are all there is.

    is_alone: a window of its own, whatever its kind; others must have rows that leave in order, or
    one at a time.
    """
    # Counted first: to gather what large joins read, at each of their joins, costs its square.
    if _count_scans(relation, MAX_INPUTS) > MAX_INPUTS:
        return None
    found = _gathered(relation)
    if found is None:
        return None
    if len(found.scans) > 1 and _is_endless(found):
        return None
    # Joined rows that are set aside are counted by an operator of their own.
    if any(is_guard(each) and len(inputs_of(each)) > 1 for each in found.conditions):
        return None
    is_scheduled = any(scan.window.traits.is_scheduled for scan in found.scans)
    return None if is_scheduled and not is_alone else found


def _count_scans(relation: Relation, limit: int) -> int:
    """How many scans a join has; no more are counted once there are more than the limit."""
    if isinstance(relation, Scan):
        return 1
    count = 0
    for part in relation.inputs:
        count += _count_scans(part, limit - count)
        if count > limit:
            break
    return count


def _is_endless(joined: _Joined) -> bool:
    return any(scan.window.traits.is_endless for scan in joined.scans)


def _gathered(relation: Relation, first: int = 0) -> _Joined | None:
    if isinstance(relation, Scan):
        columns = zip(relation.given, relation.columns, strict=True)
        values: dict[str, Expr] = {
            field.id: ColumnRef(first, column, field.type) for field, column in columns
        }
        return _Joined((relation,), (), values)
    if isinstance(relation, Filter):
        inner = _gathered(relation.input, first)
        if inner is None:
            return None
        own = [inner.bound(each) for each in conjuncts_of(relation.condition)]
        return replace(inner, conditions=(*inner.conditions, *own))
    if isinstance(relation, Project):
        inner = _gathered(relation.input, first)
        if inner is None:
            return None
        values = {item.field.id: inner.bound(item.expression) for item in relation.items}
        return replace(inner, values=values)
    if isinstance(relation, Join) and relation.kind == "inner":
        return _gathered_join(relation, first)
    return None


def _gathered_join(relation: Join, first: int) -> _Joined | None:
    left = _gathered(relation.left, first)
    right = None if left is None else _gathered(relation.right, first + len(left.scans))
    if left is None or right is None:
        return None
    both = _Joined(
        (*left.scans, *right.scans),
        (*left.conditions, *right.conditions),
        {**left.values, **right.values},
    )
    own = [both.bound(each) for each in conjuncts_of(relation.condition)]
    return replace(both, conditions=(*both.conditions, *own))


def _inputs(joined: _Joined) -> tuple[tuple[PlanInput, ...], Conditions]:
    conditions = split_bound(joined.conditions, len(joined.scans))
    inputs = tuple(
        PlanInput(
            scan.stream, scan.alias, scan.window, conditions.filters[i], conditions.keys[i],
            conditions.variables[i],
        )
        for i, scan in enumerate(joined.scans)
    )  # fmt: skip
    return inputs, conditions


def _aggregate_of(call: AggregateCall, joined: _Joined) -> PlanAggregate | None:
    """The aggregate as single queries have it; None where they have none such."""
    function = AGGREGATE_FUNCTIONS[call.function]
    if function.is_of_trees or function.laws.is_collected:
        return None
    if call.is_distinct and not function.laws.is_idempotent:
        if function.distinct is None or len(call.arguments) != 1:
            return None
        function = AGGREGATE_FUNCTIONS[function.distinct]
    if not call.arguments:
        return PlanAggregate(function.name, None, None, call.field.type)
    if len(call.arguments) > 1 or function.laws.in_sketch:
        return None
    argument = joined.bound(call.arguments[0])
    if function.form is Form.EXTREME and argument.type == STRING:
        return None
    if function.form is Form.SPREAD:
        argument = convert(argument, DOUBLE)
    return PlanAggregate(function.name, argument, _only_source(argument), call.field.type)


def _only_source(expression: Expr) -> int | None:
    reads = sorted(inputs_of(expression))
    return None if len(reads) > 1 else next(iter(reads), 0)


def _source(expression: Expr) -> int | None:
    reads = inputs_of(expression)
    return SEVERAL if len(reads) > 1 else next(iter(reads), None)
