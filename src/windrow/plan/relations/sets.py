"""UNION, INTERSECT and EXCEPT, and VALUES: columns that correspond by position meet in one type."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.errors import BindingError, Place
from windrow.plan.expressions import Expr, Literal
from windrow.plan.literals import into
from windrow.plan.relations.algebra import Distinct, Item, Project, Relation, SetOperation, Values
from windrow.plan.relations.answers import Shown, trimmed, with_order
from windrow.plan.relations.context import Answer, Context, Environment
from windrow.plan.relations.phase import RowPhase
from windrow.plan.relations.visible import Table, Visible
from windrow.plan.scalars import scope_of
from windrow.plan.scope import Resolver, Scope
from windrow.plan.types import common_type, is_null
from windrow.schema import ColumnType
from windrow.sql.places import place_of
from windrow.sql.statements import QueryText, SetQuery, ValuesList

__all__ = ["bind_set", "bind_values"]

_KINDS: dict[str, str] = {"union": "UNION", "intersect": "INTERSECT", "except": "EXCEPT"}


def bind_set(query: SetQuery, context: Context, environment: Environment) -> Answer:
    """The answer of two queries put together."""
    inner = environment.within()
    chain = _chain(query)
    answer = context.bind(chain[0].left, inner)
    for each in chain:
        answer = _together(each, answer, context.bind(each.right, inner), context)
    if not query.order_by and query.limit is None and not query.offset:
        return answer
    visible = Visible(query.text, (Table("", answer.shown),), answer.shown)
    phase = RowPhase(context, environment, visible, answer.relation)
    items = [Shown(field.name, field.ref) for field in answer.shown]
    ordered = with_order(query, phase, items, {})
    is_single = query.limit is not None and query.limit <= 1
    ordered = Answer(ordered.relation, ordered.shown, answer.constants, ordered.order, is_single)
    return ordered if environment.is_outermost else trimmed(ordered, context)


def _chain(query: SetQuery) -> list[SetQuery]:
    """`a UNION b UNION c`, innermost first: a loop, as there may be many."""
    chain = [query]
    while isinstance(chain[-1].left, SetQuery) and _is_plain(chain[-1].left):
        chain.append(chain[-1].left)
    return chain[::-1]


def _is_plain(query: SetQuery) -> bool:
    clauses = (query.order_by, query.limit, query.offset, query.common_tables)
    service = (query.every_us, query.error_percent, query.duration, query.on_error)
    return not any(clauses) and query.limit is None and all(each is None for each in service)


def bind_values(query: ValuesList, context: Context) -> Answer:
    """Constant rows; the columns are col1, col2 and so on, as in Spark."""
    scope = scope_of(query.text, _no_columns(query.text))
    width = len(query.rows[0])
    columns = [
        _value_column(scope, place, [row[place] for row in query.rows], query)
        for place in range(width)
    ]
    given = tuple(
        context.fresh(f"col{place + 1}", column[0].type) for place, column in enumerate(columns)
    )
    constants = tuple(
        column[0] if isinstance(column[0], Literal) and all(map(is_null, column)) else None
        for column in columns
    )
    rows = tuple(zip(*columns, strict=True))
    return Answer(Values(rows, given), given, constants, is_single=len(rows) <= 1)


def _value_column(
    scope: Scope, place: int, nodes: Sequence[exp.Expr], query: ValuesList
) -> list[Expr]:
    bound = [scope.bind(node) for node in nodes]
    kind = common_type(bound)
    if kind is None:
        at = place_of(nodes[0], query.text) or query.place
        raise _mismatch(f"column {place + 1} of VALUES", [each.type for each in bound], at)
    return [into(scope, node, each, kind) for node, each in zip(nodes, bound, strict=True)]


def _together(query: SetQuery, left: Answer, right: Answer, context: Context) -> Answer:
    word = _KINDS[query.kind]
    if len(left.shown) != len(right.shown):
        raise BindingError(
            "WB268",
            f"{word} of queries with {len(left.shown)} and {len(right.shown)} columns",
            hint="select as many columns in both, in the same order",
            place=_place(query),
        )
    kinds = [_meeting(query, place, left, right) for place in range(len(left.shown))]
    parts = (
        *_left_parts(query, left, kinds, context),
        _converted(right, kinds, query.text, context),
    )
    given = tuple(
        context.fresh(field.name, kind) for field, kind in zip(left.shown, kinds, strict=True)
    )
    relation: Relation
    if query.kind == "union":
        relation = SetOperation("union", parts, given)
        relation = relation if query.is_all else Distinct(relation)
    elif query.kind == "intersect":
        relation = SetOperation("intersect", parts, given, query.is_all)
    else:
        relation = SetOperation("except", parts, given, query.is_all)
    constants = tuple(
        one if one is not None and other is not None and is_null(one) and is_null(other) else None
        for one, other in zip(left.constants, right.constants, strict=True)
    )
    return Answer(relation, given, constants)


def _left_parts(
    query: SetQuery, left: Answer, kinds: Sequence[ColumnType], context: Context
) -> tuple[Relation, ...]:
    """The left relation; of a union of the same types, its parts."""
    relation = left.relation
    if query.kind == "union" and [field.type for field in left.shown] == list(kinds):
        if isinstance(relation, Distinct) and not query.is_all:
            relation = relation.input  # what is left of duplicates goes at the end
        if isinstance(relation, SetOperation) and relation.kind == "union":
            return relation.parts
    return (_converted(left, kinds, query.text, context),)


def _meeting(query: SetQuery, place: int, left: Answer, right: Answer) -> ColumnType:
    values = [answer.constants[place] or answer.shown[place].ref for answer in (left, right)]
    kind = common_type(values)
    if kind is None:
        what = f"column {place + 1} of {_KINDS[query.kind]}"
        raise _mismatch(what, [value.type for value in values], _place(query))
    return kind


def _converted(
    answer: Answer, kinds: Sequence[ColumnType], text: str, context: Context
) -> Relation:
    """The relation in those types."""
    if [field.type for field in answer.shown] == list(kinds):
        return answer.relation
    scope = scope_of(text, lambda _: None)
    items = []
    for field, constant, kind in zip(answer.shown, answer.constants, kinds, strict=True):
        value = into(scope, exp.Null(), constant or field.ref, kind)
        items.append(Item(context.fresh(field.name, kind), value))
    return Project(answer.relation, tuple(items))


def _mismatch(what: str, kinds: Sequence[ColumnType], place: Place | None) -> BindingError:
    named = " and ".join(str(kind) for kind in dict.fromkeys(kinds))
    return BindingError(
        "WB220",
        f"{what} takes values of one type, but these are {named}",
        hint="convert one of them with CAST",
        place=place,
    )


def _place(query: SetQuery) -> Place | None:
    own = query.places.get(_KINDS[query.kind])
    return own or _first_place(query.right)


def _first_place(query: QueryText) -> Place | None:
    return query.place if isinstance(query, ValuesList) else query.places.get("SELECT")


def _no_columns(text: str) -> Resolver:
    visible = Visible(text)

    def resolve(node: exp.Expr) -> Expr | None:
        if isinstance(node, exp.Column):
            raise visible.unknown(node, ())
        return None

    return resolve
