"""UNNEST in FROM: rows for the entries of an array or a map of the rows that stand before it."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.expressions import Expr, Literal
from windrow.plan.relations.algebra import Field, Filter, Unnest, Values
from windrow.plan.relations.context import Context, Environment
from windrow.plan.relations.phase import RowPhase
from windrow.plan.relations.tables import FromRows, named_columns
from windrow.plan.relations.visible import Table, Visible
from windrow.schema import BIGINT, INT, ColumnType
from windrow.sql.places import place_of
from windrow.sql.statements import Select, SelectItem, Source, Window
from windrow.sql.unnesting import GENERATORS, is_outer_name
from windrow.window_kinds import UNBOUNDED

__all__ = ["bind_unnest", "one_row", "with_unnested_items"]


def one_row(context: Context) -> FromRows:
    """One row, so that what is computed is computed once; nothing can name its column."""
    return FromRows(Values(((Literal(0, INT),),), (context.fresh("", INT),)), (), ())


def bind_unnest(
    source: Source, before: FromRows, text: str, context: Context, environment: Environment
) -> FromRows:
    """The rows before it, each with every entry of what the call takes apart."""
    call = source.unnest
    assert isinstance(call, exp.Anonymous)
    visible = Visible(text, before.tables, before.columns, before.hidden)
    phase = RowPhase(context, environment, visible, before.relation)
    bound = phase.bind(call.expressions[0], call.name)
    if bound.type.name not in ("ARRAY", "MAP"):
        raise BindingError(
            "WB727",
            f"{call.name} takes an ARRAY or a MAP, but this is {bound.type}",
            hint="give a column of such a type, or SPLIT(text, ',') for the parts of a text",
            place=place_of(call, text),
        )
    if source.join not in ("first", "inner", "left") or source.using or source.is_natural:
        raise UnsupportedError(
            "WU721",
            f"{source.join.upper()} JOIN with {call.name} is not supported",
            hint="write CROSS JOIN UNNEST(...), or LEFT JOIN UNNEST(...) ON TRUE",
            place=source.place,
        )
    node, shown = _node(source, call.name.lower(), bound, phase, context)
    shown = named_columns(shown, source.columns, source.alias or call.name, source)
    tables = (*before.tables, Table(source.alias, shown))
    rows = FromRows(node, tables, (*before.columns, *shown), before.hidden)
    return _with_condition(source, rows, text, context, environment)


def _node(
    source: Source, name: str, bound: Expr, phase: RowPhase, context: Context
) -> tuple[Unnest, tuple[Field, ...]]:
    """The node, and its own columns in the order in which * shows them."""
    named = _entry_columns(source, name, bound.type)
    is_spread = named is not None
    columns = named or _plain_columns(source, name, bound.type)
    given = tuple(context.fresh(each, kind) for each, kind in columns)
    is_outer = source.join == "left" or is_outer_name(name)
    if name.startswith("posexplode"):
        position = context.fresh("pos", INT)
        node = Unnest(phase.relation, bound, given, is_outer, is_spread, position)
        return node, (position, *given)
    if source.has_ordinality:
        position = context.fresh("ordinality", BIGINT)
        node = Unnest(phase.relation, bound, given, is_outer, is_spread, position, 1)
        return node, (*given, position)
    return Unnest(phase.relation, bound, given, is_outer, is_spread), given


def _entry_columns(
    source: Source, name: str, kind: ColumnType
) -> tuple[tuple[str, ColumnType], ...] | None:
    """The fields of structs that become columns: by INLINE, and by UNNEST unless one is named."""
    if kind.name != "ARRAY" or kind.element.name != "STRUCT":
        return None
    fields = kind.element.parts
    if name.startswith("inline"):
        return fields
    wanted = len(source.columns) - source.has_ordinality
    return fields if name == "unnest" and (not source.columns or wanted == len(fields)) else None


def _plain_columns(
    source: Source, name: str, kind: ColumnType
) -> tuple[tuple[str, ColumnType], ...]:
    if kind.name == "MAP":
        return kind.parts
    if name.startswith("inline"):
        raise BindingError(
            "WB727",
            f"INLINE takes an ARRAY of STRUCT, but this is {kind}",
            hint="write EXPLODE for an array of plain values",
            place=source.place,
        )
    return ((source.alias or "unnest" if name == "unnest" else "col", kind.element),)


def _with_condition(
    source: Source, rows: FromRows, text: str, context: Context, environment: Environment
) -> FromRows:
    if source.on is None or (isinstance(source.on, exp.Boolean) and source.on.this):
        return rows
    if source.join == "left":
        raise UnsupportedError(
            "WU721",
            "LEFT JOIN UNNEST with a condition other than TRUE is not supported",
            hint="write ON TRUE, and the condition into a CASE or into WHERE",
            place=source.place,
        )
    visible = Visible(text, rows.tables, rows.columns, rows.hidden)
    phase = RowPhase(context, environment, visible, rows.relation)
    condition = phase.condition(source.on, "ON")
    return replace(rows, relation=Filter(phase.relation, condition))


def with_unnested_items(select: Select) -> Select:
    """SELECT EXPLODE(items) AS x as SELECT x FROM ... CROSS JOIN EXPLODE(items)."""
    calls = [item for item in select.items if _is_generator(item.expression)]
    if not calls:
        return select
    if len(calls) > 1 or select.group_by:
        raise UnsupportedError(
            "WU721",
            "a select list takes one EXPLODE at most, and none next to GROUP BY",
            hint="write CROSS JOIN UNNEST(items) AS t (x) in FROM",
            place=calls[-1].place,
        )
    (item,) = calls
    call = item.expression.unnest()
    assert isinstance(call, exp.Anonymous)
    name = call.name.upper()
    alias = f"{name.lower()} of {len(select.sources)}"
    columns = (item.alias,) if item.alias and not name.startswith(("POS", "INLINE")) else ()
    source = Source(
        "", alias, Window(UNBOUNDED.name, written=False), columns=columns, place=item.place,
        join="left" if is_outer_name(name) else "inner", unnest=call,
    )  # fmt: skip
    if not select.sources:
        source = replace(source, join="first" if source.join == "inner" else "left")
    star = exp.Column(this=exp.Star(), table=exp.to_identifier(alias, quoted=True))
    items = tuple(
        SelectItem(star, None, item.place) if each is item else each for each in select.items
    )
    return replace(select, items=items, sources=(*select.sources, source))


def _is_generator(node: exp.Expr) -> bool:
    node = node.unnest()
    is_call = isinstance(node, exp.Anonymous) and len(node.expressions) == 1
    return is_call and node.name.upper() in GENERATORS
