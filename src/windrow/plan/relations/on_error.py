"""ON ERROR as a part of the tree: what becomes of a row in which an expression has no value.

NULL puts TRY around every call that can fail. SET ASIDE puts conditions below each node, HAS_VALUE
of what it computes: rows for which one is false are left out, and counted where that is tested.
FAIL is what evaluation does by itself. So rules, blocks and operators follow the policy without
knowing of it. Only a SUM that leaves its type is no expression: its Aggregate has the policy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, Form
from windrow.plan.exact_terms import is_exact_sum, terms_of, with_terms
from windrow.plan.expressions import Call, Expr
from windrow.plan.fallible import can_fail, has_value, tried_within
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    Apply,
    Filter,
    Item,
    Join,
    Project,
    Relation,
    Unary,
    WindowCall,
    WindowFunctions,
)
from windrow.plan.relations.references import (
    conjuncts_of,
    expressions_of,
    ids_of,
    read_ids,
    with_expressions,
)
from windrow.plan.relations.window_algebra import SessionScan
from windrow.plan.types import all_of, convert
from windrow.schema import BIGINT, decimal
from windrow.sql.statements import OnError

__all__ = ["with_policy"]

# Any BIGINT, and the sum of any ten thousand million of them.
_TERM, _SUM = decimal(19, 0), decimal(29, 0)
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "is_same")


def with_policy(relation: Relation, policy: OnError, done: Collection[int]) -> Relation:
    """The relation under a policy; done: ids of nodes whose own is applied to them already."""
    if policy == "fail" or id(relation) in done:
        return relation
    parts = [with_policy(part, policy, done) for part in relation.inputs]
    relation = relation.with_inputs(*parts) if parts else relation
    if isinstance(relation, Aggregate):
        return _aggregate(replace(relation, on_error=policy), policy)
    is_null = policy == "null"
    relation = with_expressions(relation, tried_within) if is_null else _guarded(relation)
    return _with_wide_sums(relation, policy) if isinstance(relation, WindowFunctions) else relation


def _with_wide_sums(relation: WindowFunctions | Aggregate, policy: OnError) -> Relation:
    """Sums of integers as sums of decimals, which hold every sum, and a cast that can fail.

    Of an aggregate those of DISTINCT: others are sums of words, put together likewise.
    """
    wide = {call.field.id: _wide_sum(call) for call in relation.calls if _is_integer_sum(call)}
    if not wide:
        return relation
    calls: Any = tuple(wide.get(call.field.id, call) for call in relation.calls)
    found: Relation = replace(relation, calls=calls)
    items = [
        Item(field, Call("cast", (wide[field.id].field.ref,), field.type))
        if field.id in wide
        else Item(field, field.ref)
        for field in relation.fields
    ]
    if policy == "set_aside":
        found = _with_values(found, [item.expression for item in items])
    else:
        items = [replace(item, expression=tried_within(item.expression)) for item in items]
    return Project(found, tuple(items))


def _is_integer_sum(call: WindowCall | AggregateCall) -> bool:
    function = AGGREGATE_FUNCTIONS.get(call.function)
    if isinstance(call, AggregateCall) and not call.is_distinct:
        return False
    return function is not None and function.form is Form.SUM and call.field.type == BIGINT


def _wide_sum(call: WindowCall | AggregateCall) -> WindowCall | AggregateCall:
    field = replace(call.field, id=f"{call.field.id}.wide", type=_SUM)
    return replace(call, field=field, arguments=tuple(convert(x, _TERM) for x in call.arguments))


def _aggregate(relation: Aggregate, policy: OnError) -> Relation:
    """What a SUM adds up is exact, so that only what its terms are made of can fail."""
    if policy == "set_aside":
        parts = [item.expression for item in relation.groups]
        for call in relation.calls:
            parts += _terms(call)
        return _with_wide_sums(replace(relation, input=_with_values(relation.input, parts)), policy)
    groups = tuple(
        replace(item, expression=tried_within(item.expression)) for item in relation.groups
    )
    calls = tuple(
        replace(call, arguments=tuple(_tried_argument(call, each) for each in call.arguments))
        for call in relation.calls
    )
    return replace(relation, groups=groups, calls=calls)


def _terms(call: AggregateCall) -> list[Expr]:
    if not is_exact_sum(call.function, is_distinct=call.is_distinct):
        return list(call.arguments)
    return [term for each in call.arguments for term in terms_of(each)]


def _tried_argument(call: AggregateCall, argument: Expr) -> Expr:
    if not is_exact_sum(call.function, is_distinct=call.is_distinct):
        return tried_within(argument)
    return with_terms(argument, tried_within)


def _guarded(relation: Relation) -> Relation:
    """The node over inputs without the rows that it can compute nothing from."""
    if isinstance(relation, Filter):
        return _guarded_filter(relation)
    if isinstance(relation, Join | Apply):
        return _guarded_join(relation)
    if isinstance(relation, SessionScan):
        return _guarded_sessions(relation)
    if isinstance(relation, Unary):
        return relation.with_inputs(_with_values(relation.input, expressions_of(relation)))
    return relation


def _with_values(relation: Relation, expressions: Iterable[Expr]) -> Relation:
    """The rows of the relation in which all these have a value."""
    guards = dict.fromkeys(has_value(each) for each in expressions if can_fail(each))
    condition = all_of(list(guards))
    return relation if condition is None else Filter(relation, condition)


def _guarded_filter(relation: Filter) -> Relation:
    """What cannot fail is tested first: rows that it leaves out are not set aside."""
    conditions = conjuncts_of(relation.condition)
    safe = [each for each in conditions if not can_fail(each)]
    others = [part for each in conditions if can_fail(each) for part in (has_value(each), each)]
    condition = all_of([*safe, *others])
    assert condition is not None
    return replace(relation, condition=condition)


def _guarded_sessions(relation: SessionScan) -> Relation:
    """Rows without a value are in no session."""
    guards = [has_value(each.expression) for each in relation.computed if can_fail(each.expression)]
    found = all_of([*conjuncts_of(relation.condition), *guards])
    if found is None:
        return relation
    guarded = _guarded_filter(Filter(relation.scan, found))
    assert isinstance(guarded, Filter)
    return replace(relation, condition=guarded.condition)


def _guarded_join(relation: Join | Apply) -> Relation:
    """What reads one input is computed of its rows; a pair without a value is no match."""
    left, right = ids_of(relation.left), ids_of(relation.right)
    of_left: list[Expr] = []
    of_right: list[Expr] = []
    found: list[Expr] = []
    above: list[Expr] = []
    is_inner = isinstance(relation, Join) and relation.kind == "inner"
    for condition in conjuncts_of(relation.condition):
        if not can_fail(condition):
            found.append(condition)
            continue
        operands = _operands(condition)
        of_left += [each for each in operands if read_ids(each) <= left]
        of_right += [each for each in operands if read_ids(each) and read_ids(each) <= right]
        of_one = (left, right)
        rest = [each for each in operands if not any(read_ids(each) <= ids for ids in of_one)]
        is_of_both = any(map(can_fail, rest))
        # Of an inner join pairs without a value are rows that are set aside.
        place = above if is_of_both and is_inner else found
        place += [has_value(condition)] if is_of_both else []
        place.append(condition)
    joined = replace(
        relation,
        left=_with_values(relation.left, of_left),
        right=_with_values(relation.right, of_right),
        condition=all_of(found),
    )
    tested = all_of(above)
    return joined if tested is None else Filter(joined, tested)


def _operands(condition: Expr) -> tuple[Expr, ...]:
    """Of a comparison what it compares; of anything else, the whole."""
    if isinstance(condition, Call) and condition.function in _COMPARISONS:
        return condition.arguments
    return (condition,)
