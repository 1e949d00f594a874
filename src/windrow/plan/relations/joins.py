"""FROM: its items joined, in all kinds of joins, by ON, USING and NATURAL."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.expressions import Call, Expr
from windrow.plan.nearest import nearest
from windrow.plan.relations.algebra import (
    Apply,
    ApplyKind,
    Field,
    Item,
    Join,
    JoinKind,
    Project,
    Relation,
)
from windrow.plan.relations.as_of import AsOfBinder, is_as_of
from windrow.plan.relations.context import Context, Environment
from windrow.plan.relations.nested import add_conditions, has_query
from windrow.plan.relations.phase import RowPhase
from windrow.plan.relations.reading import outer_columns
from windrow.plan.relations.tables import FromRows, bind_table, named_columns
from windrow.plan.relations.unnesting import bind_unnest, one_row
from windrow.plan.relations.visible import Table, Visible
from windrow.plan.types import all_of, common_type, convert
from windrow.schema import BOOLEAN
from windrow.sql.places import place_of
from windrow.sql.statements import Source

__all__ = ["bind_from"]

_KINDS: dict[str, JoinKind] = {
    "inner": "inner",
    "cross": "inner",
    "left": "left",
    "right": "left",
    "full": "full",
    "semi": "semi",
    "anti": "anti",
    "asof": "inner",
    "asof left": "left",
}

_LATERAL: dict[str, ApplyKind] = {"inner": "inner", "cross": "inner", "left": "left"}


def bind_from(
    sources: tuple[Source, ...], text: str, context: Context, environment: Environment
) -> FromRows:
    """The rows of FROM. A comma binds less than JOIN, which matters for outer joins only."""
    if sources[0].as_of is not None:
        raise BindingError(
            "WB716",
            f"{sources[0].alias!r} is the first input: there is no time that AS OF could name",
            hint="begin FROM with the stream: FROM a [10 MINUTES] JOIN t FOR SYSTEM_TIME AS OF "
            "a.ts ON ...",
            place=sources[0].place,
        )
    joiner = _Joiner(text, context, environment)
    parts: list[list[Source]] = []
    for source in sources:
        reads_before = source.is_lateral or source.unnest is not None
        if parts and (reads_before or not (source.is_comma and _has_outer(sources))):
            parts[-1].append(source)
        else:
            parts.append([source])
    found = joiner.chain(parts[0])
    for part in parts[1:]:
        found = joiner.joined(found, joiner.chain(part), _bare(part[0]))
    return found


def _has_outer(sources: tuple[Source, ...]) -> bool:
    return any(
        source.join not in ("first", "inner", "cross") or source.using or source.is_natural
        for source in sources
    )


def _bare(source: Source) -> Source:
    return replace(source, join="inner", on=None, using=(), is_natural=False)


class _Joiner:
    """Joins items of one FROM."""

    def __init__(self, text: str, context: Context, environment: Environment) -> None:
        self._text = text
        self._context = context
        self._environment = environment

    def chain(self, sources: list[Source]) -> FromRows:
        """Items joined one after the other."""
        found = self._item(sources[0])
        for source in sources[1:]:
            if source.unnest is not None:
                found = bind_unnest(source, found, self._text, self._context, self._environment)
            elif source.is_lateral:
                found = self._lateral(found, source)
            else:
                found = self.joined(found, self._item(source), source)
        return found

    def _lateral(self, left: FromRows, source: Source) -> FromRows:
        """A query asked for each row of what stands before it."""
        kind = _LATERAL.get(source.join)
        if kind is None or source.using or source.is_natural:
            raise UnsupportedError(
                "WU790",
                f"{source.join.upper()} JOIN LATERAL is not supported",
                hint="write JOIN LATERAL (SELECT ...) ON ..., LEFT JOIN LATERAL or a comma",
                place=source.place,
            )
        seen = Visible(self._text, left.tables, left.columns, left.hidden)
        around = RowPhase(self._context, self._environment, seen, left.relation)
        right = bind_table(source, self._context, replace(self._environment, enclosing=around))
        self._check_aliases(left, right, source)
        tables, columns = (*left.tables, *right.tables), (*left.columns, *right.columns)
        hidden = (*left.hidden, *right.hidden)
        condition = None
        if source.on is not None:
            visible = Visible(self._text, tables, columns, hidden)
            both = Apply(kind, left.relation, right.relation)
            on = RowPhase(self._context, self._environment, visible, both)
            condition = on.condition(source.on, "ON")
        applied = Apply(kind, left.relation, right.relation, condition)
        return FromRows(applied, tables, columns, hidden)

    def joined(self, left: FromRows, right: FromRows, source: Source) -> FromRows:
        """Both, joined as the source on the right says."""
        self._check_aliases(left, right, source)
        if is_as_of(source):
            return self._by_time(left, right, source)
        if source.using or source.is_natural:
            return self._by_names(left, right, source)
        both = FromRows(
            left.relation,  # replaced below
            (*left.tables, *right.tables),
            (*left.columns, *right.columns),
            (*left.hidden, *right.hidden),
        )
        relation = self._on(left, right, both, source)
        return self._shown(replace(both, relation=relation), left, right, source)

    def _by_time(self, left: FromRows, right: FromRows, source: Source) -> FromRows:
        binder = AsOfBinder(self._context, self._environment, self._text, left, right, source)
        tables, hidden = (*left.tables, *right.tables), (*left.hidden, *right.hidden)
        return FromRows(binder.relation(), tables, (*left.columns, *right.columns), hidden)

    def _item(self, source: Source) -> FromRows:
        if source.unnest is not None:
            once = one_row(self._context)
            return bind_unnest(source, once, self._text, self._context, self._environment)
        if source.joined:
            rows = bind_from(source.joined, self._text, self._context, self._environment)
            if not source.alias:
                return rows
            columns = named_columns(rows.columns, source.columns, source.alias, source)
            return FromRows(rows.relation, (Table(source.alias, columns),), columns)
        return bind_table(source, self._context, self._environment)

    def _check_aliases(self, left: FromRows, right: FromRows, source: Source) -> None:
        taken = {table.alias.lower() for table in (*left.tables, *left.hidden) if table.alias}
        for table in (*right.tables, *right.hidden):
            if table.alias.lower() in taken:
                raise BindingError(
                    "WB202",
                    f"FROM names two inputs {table.alias!r}",
                    hint=f"give each its own name: {source.stream or '(SELECT ...)'} [...] "
                    f"AS {table.alias}2",
                    place=source.place,
                )

    def _on(self, left: FromRows, right: FromRows, both: FromRows, source: Source) -> Relation:
        kind = _KINDS[source.join]
        visible = Visible(self._text, both.tables, both.columns, both.hidden)
        if source.on is None:
            return _join(source, left.relation, right.relation, None)
        if kind == "inner" and has_query(source.on):
            crossed = Join("inner", left.relation, right.relation)
            phase = RowPhase(self._context, self._environment, visible, crossed)
            add_conditions(phase, source.on, "ON")
            return phase.relation
        between = _OnPhase(self._context, self._environment, visible, left, right, source.on)
        condition = between.condition(source.on, "ON")
        return _join(source, between.left, between.right, condition)

    def _shown(self, both: FromRows, left: FromRows, right: FromRows, source: Source) -> FromRows:
        """Of a semi or anti join only the left is seen further up."""
        if _KINDS[source.join] not in ("semi", "anti"):
            return both
        return FromRows(both.relation, left.tables, left.columns, (*both.hidden, *right.tables))

    def _by_names(self, left: FromRows, right: FromRows, source: Source) -> FromRows:
        pairs = [
            (self._named(left, name, source), self._named(right, name, source))
            for name in source.using or _shared(left, right)
        ]
        equal = [self._equal(one, other, source) for one, other in pairs]
        relation = _join(source, left.relation, right.relation, all_of(equal))
        both = FromRows(relation, (*left.tables, *right.tables), (), (*left.hidden, *right.hidden))
        if _KINDS[source.join] in ("semi", "anti"):
            return self._shown(replace(both, relation=relation), left, right, source)
        used = {field.id for pair in pairs for field in pair}
        rest = tuple(each for each in (*left.columns, *right.columns) if each.id not in used)
        if source.join != "full" and all(one.type == other.type for one, other in pairs):
            merged = tuple(pair[1 if source.join == "right" else 0] for pair in pairs)
            return replace(both, columns=(*merged, *rest))
        return self._merged(both, pairs, rest, source)

    def _merged(
        self,
        both: FromRows,
        pairs: list[tuple[Field, Field]],
        rest: tuple[Field, ...],
        source: Source,
    ) -> FromRows:
        """The columns of USING as columns of their own, before all others."""
        items: list[Item] = []
        for one, other in pairs:
            value = self._value(one, other, source)
            items.append(Item(self._context.fresh(one.name, value.type), value))
        merged = tuple(item.field for item in items)
        fresh = {
            field.id: self._context.fresh(field.name, field.type) for field in both.relation.fields
        }
        items += [Item(fresh[field.id], field.ref) for field in both.relation.fields]

        def moved(fields: tuple[Field, ...]) -> tuple[Field, ...]:
            return tuple(replace(fresh[field.id], name=field.name) for field in fields)

        tables = tuple(Table(each.alias, moved(each.fields), each.stream) for each in both.tables)
        project = Project(both.relation, tuple(items))
        return FromRows(project, tables, (*merged, *moved(rest)), both.hidden)

    def _value(self, one: Field, other: Field, source: Source) -> Expr:
        kind = common_type([one.ref, other.ref])
        assert kind is not None
        if source.join == "right":
            one, other = other, one
        first, second = convert(one.ref, kind), convert(other.ref, kind)
        return Call("coalesce", (first, second), kind) if source.join == "full" else first

    def _named(self, rows: FromRows, name: str, source: Source) -> Field:
        visible = Visible(self._text, rows.tables, rows.columns, rows.hidden)
        found = visible.find(exp.column(name))
        if found is not None:
            return found
        names = [field.name for field in rows.columns]
        guess = nearest(name, names)
        within = " and ".join(repr(table.alias) for table in rows.tables)
        listed = f"the columns are {', '.join(names)}"
        raise BindingError(
            "WB262",
            f"there is no column {name!r} in {within} for USING",
            hint=f"did you mean {guess}? {listed}" if guess else listed,
            place=source.place,
        )

    def _equal(self, one: Field, other: Field, source: Source) -> Expr:
        kind = common_type([one.ref, other.ref])
        if kind is None:
            raise BindingError(
                "WB220",
                f"column {one.name!r} is {one.type} in one input and {other.type} in the other",
                hint="join with ON, and convert one of them with CAST",
                place=source.place,
            )
        return Call("=", (convert(one.ref, kind), convert(other.ref, kind)), BOOLEAN)


def _join(source: Source, left: Relation, right: Relation, condition: Expr | None) -> Relation:
    """The join; RIGHT is LEFT of the swapped inputs: names find their columns by id."""
    kind = _KINDS[source.join]
    if source.join == "right":
        left, right = right, left
    return Join(kind, left, right, condition)


def _shared(left: FromRows, right: FromRows) -> tuple[str, ...]:
    names = {field.name.lower() for field in right.columns}
    return tuple(field.name for field in left.columns if field.name.lower() in names)


class _OnPhase(RowPhase):
    """ON of a join that is not inner: a sub-query goes below the one input that it reads."""

    def __init__(
        self,
        context: Context,
        environment: Environment,
        visible: Visible,
        left: FromRows,
        right: FromRows,
        on: exp.Expr,
    ) -> None:
        super().__init__(context, environment, visible, left.relation)
        self.left = left.relation
        self.right = right.relation
        self._place = place_of(on, visible.text)

    def place(self, kind: ApplyKind, right: Relation, condition: Expr | None = None) -> None:
        """Puts it below the left or the right input."""
        read = outer_columns(right)
        on_left = read & {field.id for field in self.left.fields}
        on_right = read & {field.id for field in self.right.fields}
        if on_left and on_right:
            raise UnsupportedError(
                "WU241",
                "a sub-query that reads both inputs of an outer join in its ON "
                "is not supported yet",
                hint="compute it in a query in FROM, and use its column in ON",
                place=self._place,
            )
        if on_left:
            self.left = Apply(kind, self.left, right, condition)
        else:
            self.right = Apply(kind, self.right, right, condition)
