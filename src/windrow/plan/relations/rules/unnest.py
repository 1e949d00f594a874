"""Sub-queries that read columns of an outer query become joins.

The sub-query is computed once for every different combination of the outer columns that it reads,
its domain, instead of once for every row: the domain joins the sub-query's inputs, everything above
keeps the outer columns (groups by them, partitions by them), and the rows of the outer query find
theirs by equality, NULL with NULL. Where the sub-query itself equates an outer column with an
expression of its own, that expression stands for the column and no domain is needed. (T. Neumann
and A. Kemper, Unnesting Arbitrary Queries, 2015.)
"""

from __future__ import annotations

from dataclasses import replace

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS
from windrow.errors import UnsupportedError
from windrow.plan.expressions import Call, ColumnRef, Expr, Literal
from windrow.plan.relations.algebra import (
    Aggregate,
    Apply,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Field,
    Filter,
    Item,
    Join,
    JoinKind,
    Project,
    Relation,
    SetOperation,
    TopRows,
    Unnest,
    WindowFunctions,
)
from windrow.plan.relations.references import (
    FreshIds,
    conjuncts_of,
    expressions_of,
    free_ids,
    ids_of,
    is_pair,
    passed,
    read_ids,
    same_columns,
    substituted,
    with_expressions,
)
from windrow.plan.types import all_of
from windrow.schema import BOOLEAN

__all__ = ["unnest"]


def unnest(relation: Relation) -> Relation:
    """The relation without Apply."""
    return _Unnesting(FreshIds(relation, "u")).of(relation)


class _Unnesting:
    def __init__(self, fresh: FreshIds) -> None:
        self._fresh = fresh

    def of(self, relation: Relation) -> Relation:
        """Innermost sub-queries first: what they read of outer queries stays free until then."""
        if relation.inputs:
            relation = relation.with_inputs(*(self.of(part) for part in relation.inputs))
        return self._joined(relation) if isinstance(relation, Apply) else relation

    def _joined(self, apply: Apply) -> Relation:
        left, right = apply.left, apply.right
        needed = free_ids(right)
        outer = tuple(field for field in left.fields if field.id in needed)
        if not outer:
            return _join(apply, right, apply.condition)
        domain = _Domain.of(left, outer, self._fresh)
        found = domain.into(_reading(right, domain.names))
        same = same_columns(zip(outer, domain.fields, strict=True))
        conditions = [same, apply.condition]
        joined = _join(apply, found, all_of([each for each in conditions if each is not None]))
        return Project(joined, passed(apply.fields))


def _join(apply: Apply, right: Relation, condition: Expr | None) -> Relation:
    kind: JoinKind = "left" if apply.kind == "scalar" else apply.kind
    return Join(kind, apply.left, right, condition)


def _reading(relation: Relation, by_id: dict[str, Expr]) -> Relation:
    """The relation that reads other columns than those of the outer query."""
    parts = tuple(_reading(part, by_id) for part in relation.inputs)
    relation = relation.with_inputs(*parts) if parts else relation
    return with_expressions(relation, lambda each: substituted(each, by_id))


class _Domain:
    """The different combinations of outer columns, under fields of their own.

    names: the column that stands for each of the outer ones.
    """

    def __init__(
        self, relation: Relation, fields: tuple[Field, ...], names: dict[str, Expr], fresh: FreshIds
    ) -> None:
        self.relation, self.fields, self.names = relation, fields, names
        self._fresh = fresh
        self._ids = frozenset(field.id for field in fields)

    @classmethod
    def of(cls, left: Relation, outer: tuple[Field, ...], fresh: FreshIds) -> _Domain:
        """That of the rows of `left`."""
        fields = tuple(fresh.like(field) for field in outer)
        items = tuple(Item(new, old.ref) for new, old in zip(fields, outer, strict=True))
        names: dict[str, Expr] = {old.id: new.ref for new, old in zip(fields, outer, strict=True)}
        return cls(Distinct(Project(left, items)), fields, names, fresh)

    def renamed(self) -> tuple[_Domain, dict[str, Expr]]:
        """The same under other fields, and what stands for the old ones."""
        fields = tuple(self._fresh.like(field) for field in self.fields)
        pairs = list(zip(fields, self.fields, strict=True))
        items = tuple(Item(new, old.ref) for new, old in pairs)
        names: dict[str, Expr] = {old.id: new.ref for new, old in pairs}
        return _Domain(Project(self.relation, items), fields, names, self._fresh), names

    def into(self, relation: Relation) -> Relation:
        """The relation for every row of the domain: its own columns and those of the domain."""
        if not free_ids(relation) & self._ids:
            return Join("inner", self.relation, relation, None)
        if isinstance(relation, Filter):
            return self._into_filter(relation)
        if isinstance(relation, Project):
            inner = self.into(relation.input)
            return Project(inner, (*relation.items, *passed(self.fields)))
        if isinstance(relation, Distinct | Unnest):
            return replace(relation, input=self.into(relation.input))
        if isinstance(relation, Aggregate):
            return self._into_aggregate(relation)
        if isinstance(relation, TopRows | WindowFunctions):
            partition = (*relation.partition, *(field.ref for field in self.fields))
            return replace(relation, input=self.into(relation.input), partition=partition)
        if isinstance(relation, AtMostOne):
            return self._into_at_most_one(relation)
        if isinstance(relation, Join | AsOfJoin):
            return self._into_join(relation)
        if isinstance(relation, SetOperation):
            return self._into_set_operation(relation)
        raise AssertionError(f"{type(relation).__name__} reads no outer columns")

    def _into_filter(self, relation: Filter) -> Relation:
        conditions = conjuncts_of(relation.condition)
        values = self._equated(conditions, relation.input)
        if values is None:
            return Filter(self.into(relation.input), relation.condition)
        rest = [substituted(each, values) for each in conditions]
        known = Filter(relation.input, all_of(rest) or Literal(True, BOOLEAN))
        items = tuple(Item(field, values[field.id]) for field in self.fields)
        return Project(known, (*passed(relation.fields), *items))

    def _equated(self, conditions: list[Expr], relation: Relation) -> dict[str, Expr] | None:
        """What the columns of the domain equal in the relation, if that is known of all."""
        if free_ids(relation) & self._ids:
            return None
        given, found = ids_of(relation), dict[str, Expr]()
        for condition in conditions:
            pair = is_pair(condition) or ()
            for one, other in (pair, pair[::-1]) if pair else ():
                is_column = isinstance(one, ColumnRef) and one.column in self._ids
                if is_column and read_ids(other) and read_ids(other) <= given:
                    assert isinstance(one, ColumnRef)
                    found.setdefault(one.column, other)
        return found if len(found) == len(self.fields) else None

    def _into_aggregate(self, relation: Aggregate) -> Relation:
        inner = self.into(relation.input)
        if relation.groups:
            return Aggregate(inner, (*relation.groups, *passed(self.fields)), relation.calls)
        # Without groups there is a row for nothing, too: for all of the domain.
        others = tuple(self._fresh.like(field) for field in self.fields)
        pairs = list(zip(others, self.fields, strict=True))
        groups = tuple(Item(new, old.ref) for new, old in pairs)
        found = tuple(replace(call, field=self._fresh.like(call.field)) for call in relation.calls)
        grouped = Aggregate(inner, groups, found)
        condition = same_columns((old, new) for new, old in pairs)
        joined = Join("left", self.relation, grouped, condition)
        items = [
            Item(call.field, _or_zero(new.field, call.function))
            for call, new in zip(relation.calls, found, strict=True)
        ]
        return Project(joined, (*items, *passed(self.fields)))

    def _into_at_most_one(self, relation: AtMostOne) -> Relation:
        """Only rows of the domain are asked for: others may be as many as they like."""
        domain, _ = self.renamed()
        pairs = zip(self.fields, domain.fields, strict=True)
        inner = Join("semi", self.into(relation.input), domain.relation, same_columns(pairs))
        by = (*relation.by, *(field.ref for field in self.fields))
        return AtMostOne(inner, by, relation.text)

    def _into_join(self, relation: Join | AsOfJoin) -> Relation:
        if isinstance(relation, AsOfJoin):
            return self._into_as_of(relation)
        if relation.kind == "inner":
            own = [each for each in conjuncts_of(relation.condition) if read_ids(each) & self._ids]
            if own:
                rest = [each for each in conjuncts_of(relation.condition) if each not in own]
                inner = replace(relation, condition=all_of(rest))
                return self.into(Filter(inner, all_of(own) or Literal(True, BOOLEAN)))
            if not free_ids(relation.left) & self._ids:
                return replace(relation, right=self.into(relation.right))
        if not free_ids(relation.right) & self._ids and relation.kind != "full":
            return replace(relation, left=self.into(relation.left))
        return self._into_both(relation)

    def _into_as_of(self, relation: AsOfJoin) -> Relation:
        own = (read_ids(part) for part in expressions_of(relation))
        if free_ids(relation.right) & self._ids or frozenset[str]().union(*own) & self._ids:
            raise UnsupportedError(
                "WU787",
                "a join AS OF that itself reads columns of an outer query is not supported",
                hint="compare with the outer query in WHERE, or join in FROM of the outer query",
            )
        return replace(relation, left=self.into(relation.left))

    def _into_both(self, relation: Join) -> Relation:
        other, names = self.renamed()
        right = other.into(_reading(relation.right, names))
        same = same_columns(zip(self.fields, other.fields, strict=True))
        conditions = [each for each in (same, relation.condition) if each is not None]
        left = self.into(relation.left)
        joined = Join(relation.kind, left, right, all_of(conditions))
        if relation.kind in ("semi", "anti"):
            return joined
        items = passed((*relation.left.fields, *relation.right.fields))
        if relation.kind != "full":
            return Project(joined, (*items, *passed(self.fields)))
        either = tuple(
            Item(one, Call("coalesce", (one.ref, two.ref), one.type))
            for one, two in zip(self.fields, other.fields, strict=True)
        )
        return Project(joined, (*items, *either))

    def _into_set_operation(self, relation: SetOperation) -> Relation:
        parts = []
        for part in relation.parts:
            inner = self.into(part)
            parts.append(Project(inner, passed((*part.fields, *self.fields))))
        given = (*relation.given, *self.fields)
        return replace(relation, parts=tuple(parts), given=given)


def _or_zero(field: Field, function: str) -> Expr:
    """What an aggregate of nothing is."""
    if not AGGREGATE_FUNCTIONS[function].is_count:
        return field.ref
    return Call("coalesce", (field.ref, Literal(0, field.type)), field.type)
