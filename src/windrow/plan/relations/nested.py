"""Queries inside expressions: each becomes an Apply below the node that uses its value.

A condition of its own ([NOT] EXISTS, [NOT] IN, comparison with ANY or ALL) keeps or drops rows: a
semi or anti Apply. Anywhere else it is a value of three: true, false or NULL, made of counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlglot import exp

from windrow.aggregate_functions import COUNT
from windrow.errors import BindingError
from windrow.plan.expressions import Call, Expr, Literal
from windrow.plan.literals import into
from windrow.plan.relations.algebra import (
    Aggregate,
    AggregateCall,
    ApplyKind,
    AtMostOne,
    Field,
    Filter,
    Relation,
)
from windrow.plan.relations.context import Answer
from windrow.plan.relations.instants import bounds_of, reads_instant
from windrow.plan.relations.references import conjuncts_of
from windrow.plan.scope import Scope
from windrow.plan.types import all_of, balanced, common_type
from windrow.schema import BIGINT, BOOLEAN
from windrow.sql.nested_query import NestedQuery
from windrow.sql.statements import QueryText, ValuesList

if TYPE_CHECKING:
    from windrow.plan.relations.phase import Aliases, Phase

__all__ = ["add_conditions", "conjuncts", "has_query", "is_query_form", "nested_value"]

# What is compared, and what is true exactly where it is false.
_COMPARISONS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.EQ: ("=", "<>"),
    exp.NEQ: ("<>", "="),
    exp.LT: ("<", ">="),
    exp.LTE: ("<=", ">"),
    exp.GT: (">", "<="),
    exp.GTE: (">=", "<"),
}
_TRUE, _FALSE, _NULL = (Literal(value, BOOLEAN) for value in (True, False, None))
_ZERO = Literal(0, BIGINT)
_ROWS = str(COUNT.star)


def is_query_form(node: exp.Expr) -> bool:
    """Whether the node is a query, or a condition on one or on rows of values."""
    if isinstance(node, exp.In):
        return (
            node.args.get("query") is not None
            or isinstance(node.this.unnest(), exp.Tuple)
            or not all(_is_constant(part) for part in node.expressions)
        )
    if type(node) in _COMPARISONS:
        return isinstance(node.expression, (exp.Any, exp.All))
    return _query_in(node) is not None or isinstance(node, exp.Exists)


def has_query(node: exp.Expr) -> bool:
    """Whether there is a query anywhere in it."""
    return node.find(NestedQuery) is not None


def conjuncts(node: exp.Expr) -> Iterator[exp.Expr]:
    """The conditions that AND joins, brackets around them left out."""
    node = node.unnest()
    if isinstance(node, exp.And):
        yield from conjuncts(node.this)
        yield from conjuncts(node.expression)
    else:
        yield node


def add_conditions(
    phase: Phase, node: exp.Expr, clause: str, aliases: Aliases | None = None
) -> None:
    """Keeps the rows of the phase for which the condition is true."""
    plain: list[Expr] = []
    asked: list[tuple[exp.Expr, bool]] = []
    for part in conjuncts(node):
        inner, is_negated = _unnegated(part)
        if is_query_form(inner) and _asks(inner):
            asked.append((inner, is_negated))
        else:
            plain.append(_condition(phase, part, clause, aliases or {}))
    phase.filter(plain)
    scope = phase.scope(clause, aliases or {})
    for inner, is_negated in asked:
        _ask(phase, scope, inner, is_negated)


def _condition(phase: Phase, node: exp.Expr, clause: str, aliases: Aliases) -> Expr:
    """A condition; one on the instant must say from when, or until when, a row holds."""
    bound = phase.condition(node, clause, aliases)
    for each in conjuncts_of(bound):
        if reads_instant(each) and bounds_of(each) is None:
            raise phase.scope(clause).wrong(
                "WB791",
                "this does not say from when, or until when, a row holds",
                node,
                hint="compare the instant with a time: ts >= now() - INTERVAL '5' MINUTE; "
                "a condition with OR, NOT or a function of it cannot be followed in time",
            )
    return bound


def nested_value(phase: Phase, scope: Scope, node: exp.Expr) -> Expr:
    """The value of a query form; equal ones are asked once."""
    for known, value in phase.known:
        if known == node:
            return value
    if isinstance(node, exp.In) and node.args.get("query") is None:
        return _in_list(scope, node)
    if phase.is_closed:
        raise BindingError("WB243", "a sub-query is not grouped", hint="group by it")
    value = _value(phase, scope, node)
    phase.known.append((node, value))
    return value


def _value(phase: Phase, scope: Scope, node: exp.Expr) -> Expr:
    query = _query_in(node)
    if query is not None:
        return _scalar(phase, scope, node, query)
    if isinstance(node, exp.Exists):
        counted = _count(phase, _bound(phase, _inner(scope, node.this)).relation)
        return Call(">", (counted, _ZERO), BOOLEAN)
    question = _Question(phase, scope, node)
    return _not(question.value()) if question.is_negated else question.value()


def _scalar(phase: Phase, scope: Scope, node: exp.Expr, query: QueryText) -> Expr:
    answer = _bound(phase, query)
    if len(answer.shown) != 1:
        place = scope.place(node)
        if place is None and not isinstance(query, ValuesList):
            place = query.places.get("SELECT")
        raise BindingError(
            "WB267",
            f"a sub-query as a value has one column, but this has {len(answer.shown)}",
            hint="select one column; EXISTS (SELECT ...) accepts any number",
            place=place,
        )
    relation = answer.relation
    if not answer.is_single:
        own = "" if isinstance(query, ValuesList) else query.own_text
        relation = AtMostOne(relation, (), own)
    phase.place("scalar", relation)
    return answer.shown[0].ref


class _Question:
    """`x IN (query)`, `x < ANY (query)`, `(a, b) IN (query)`: x is compared with each of its rows.

    is_negated: of ALL, which asks whether no row compares the other way.
    """

    def __init__(self, phase: Phase, scope: Scope, node: exp.Expr) -> None:
        self._phase = phase
        self._scope = scope
        self._node = node
        quantified = node if isinstance(node, exp.In) else node.expression
        self.is_negated = isinstance(quantified, exp.All)
        holds, fails = _COMPARISONS.get(type(node), ("=", "<>"))
        self._function = fails if self.is_negated else holds
        inside = quantified.args["query"] if isinstance(node, exp.In) else quantified.this
        self._query = _inner(scope, inside)
        written = node.this.unnest()
        self._nodes = written.expressions if isinstance(written, exp.Tuple) else [node.this]
        self._values = [phase.final(scope.bind(each)) for each in self._nodes]

    def place(self, kind: ApplyKind) -> None:
        """As a condition of its own."""
        answer = self._answer()
        pairs = self._pairs(answer.shown)
        parts = [self._compared(*pair) for pair in pairs]
        if kind == "anti":
            parts = [self._perhaps(*pair) for pair in pairs]
        self._phase.place(kind, answer.relation, all_of(parts))

    def value(self) -> Expr:
        """As a value: true where a row matches, NULL where one might, else false."""
        answer = self._answer()
        matching = all_of([self._compared(*pair) for pair in self._pairs(answer.shown)])
        assert matching is not None
        matches = _count(self._phase, Filter(answer.relation, matching))
        branches: list[Expr] = [Call(">", (matches, _ZERO), BOOLEAN), _TRUE]
        answer = self._answer()
        if len(self._values) == 1:
            branches += self._unknown_of_one(answer)
        else:
            pairs = self._pairs(answer.shown)
            perhaps = all_of([self._perhaps(*pair) for pair in pairs])
            assert perhaps is not None
            open_rows = _count(self._phase, Filter(answer.relation, perhaps))
            branches += [Call(">", (open_rows, _ZERO), BOOLEAN), _NULL]
        return Call("case", (*branches, _FALSE), BOOLEAN)

    def _unknown_of_one(self, answer: Answer) -> list[Expr]:
        """Counts that do not read x, so that they are the same for all rows of the phase."""
        (field,) = answer.shown
        is_null = Call("is_null", (field.ref,), BOOLEAN)
        one = Call("case", (is_null, Literal(1, BIGINT), Literal(None, BIGINT)), BIGINT)
        fresh = self._phase.context.fresh
        rows = AggregateCall(fresh("rows", BIGINT), _ROWS)
        nulls = AggregateCall(fresh("nulls", BIGINT), COUNT.name, (one,))
        self._phase.place("scalar", Aggregate(answer.relation, (), (rows, nulls)))
        has_null = Call(">", (nulls.field.ref, _ZERO), BOOLEAN)
        unknown = balanced("or", [_is_null(self._values[0]), has_null], BOOLEAN)
        return [Call("=", (rows.field.ref, _ZERO), BOOLEAN), _FALSE, unknown, _NULL]

    def _answer(self) -> Answer:
        answer = _bound(self._phase, self._query)
        if len(answer.shown) != len(self._values):
            raise self._scope.wrong(
                "WB267",
                f"{_counted(len(self._values))} compared with a sub-query of "
                f"{_columns(len(answer.shown))}",
                self._node,
                hint="select as many columns as stand before it: (a, b) IN (SELECT c, d ...)",
            )
        return answer

    def _pairs(self, fields: tuple[Field, ...]) -> list[tuple[Expr, Expr]]:
        """X and y of each comparison, in the type in which they meet."""
        found = []
        for node, value, field in zip(self._nodes, self._values, fields, strict=True):
            kind = common_type([value, field.ref])
            if kind is None:
                raise self._scope.wrong(
                    "WB220",
                    f"a {value.type} cannot be compared with the sub-query's {field.type}",
                    node,
                    hint=f"convert one of them: CAST(... AS {field.type})",
                )
            y = into(self._scope, node, field.ref, kind)
            found.append((into(self._scope, node, value, kind), y))
        return found

    def _compared(self, x: Expr, y: Expr) -> Expr:
        return Call(self._function, (x, y), BOOLEAN)

    def _perhaps(self, x: Expr, y: Expr) -> Expr:
        """True where the comparison is true or NULL."""
        return balanced("or", [self._compared(x, y), _is_null(x), _is_null(y)], BOOLEAN)


def _asks(node: exp.Expr) -> bool:
    """Whether the form is a question about rows of a query, not a value of its own."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    return isinstance(node, exp.Exists) or type(node) in _COMPARISONS


def _ask(phase: Phase, scope: Scope, node: exp.Expr, is_negated: bool) -> None:
    if isinstance(node, exp.Exists):
        answer = _bound(phase, _inner(scope, node.this))
        phase.place("anti" if is_negated else "semi", answer.relation)
        return
    question = _Question(phase, scope, node)
    question.place("anti" if question.is_negated != is_negated else "semi")


def _unnegated(node: exp.Expr) -> tuple[exp.Expr, bool]:
    is_negated = False
    while isinstance(node, (exp.Not, exp.Paren)):
        is_negated ^= isinstance(node, exp.Not)
        node = node.this
    if isinstance(node, exp.In) and node.args.get("negate"):
        is_negated = not is_negated
    return node, is_negated


def _in_list(scope: Scope, node: exp.In) -> Expr:
    """X IN (a, b + 1), or (x, y) IN ((1, 2), (3, 4))."""
    left = _parts(node.this)
    found: list[Expr] = []
    for written in node.expressions:
        right = _parts(written)
        if len(right) != len(left):
            raise scope.wrong(
                "WB267",
                f"{_counted(len(left))} compared with a row of {len(right)} values",
                written,
                hint="give every row as many values as stand before IN",
            )
        equal = [
            scope.bind(exp.EQ(this=one, expression=other))
            for one, other in zip(left, right, strict=True)
        ]
        found.append(balanced("and", equal, BOOLEAN))
    return balanced("or", found, BOOLEAN)


def _parts(node: exp.Expr) -> list[exp.Expr]:
    bare = node.unnest()
    return list(bare.expressions) if isinstance(bare, exp.Tuple) else [node]


def _count(phase: Phase, relation: Relation) -> Expr:
    call = AggregateCall(phase.context.fresh("rows", BIGINT), _ROWS)
    phase.place("scalar", Aggregate(relation, (), (call,)))
    return call.field.ref


def _bound(phase: Phase, query: QueryText) -> Answer:
    return phase.context.bind(query, phase.environment.within(phase))


def _query_in(node: exp.Expr | None) -> QueryText | None:
    while isinstance(node, (exp.Subquery, exp.Paren)):
        node = node.this
    return node.query if isinstance(node, NestedQuery) else None


def _inner(scope: Scope, node: exp.Expr) -> QueryText:
    query = _query_in(node)
    if query is None:
        raise scope.refused("WU207", "this form of a sub-query", node, hint="write (SELECT ...)")
    return query


def _is_constant(node: exp.Expr) -> bool:
    bare = node.unnest()
    bare = bare.this.unnest() if isinstance(bare, (exp.Neg, exp.Cast)) else bare
    return isinstance(bare, (exp.Literal, exp.Null, exp.Boolean))


def _is_null(expression: Expr) -> Expr:
    return Call("is_null", (expression,), BOOLEAN)


def _not(expression: Expr) -> Expr:
    return Call("not", (expression,), BOOLEAN)


def _columns(count: int) -> str:
    return f"{count} column{'s' * (count != 1)}"


def _counted(count: int) -> str:
    return "one value is" if count == 1 else f"{count} values are"
