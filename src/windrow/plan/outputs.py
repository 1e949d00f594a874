"""The select list: what * stands for, and the name of every column of the answer."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from windrow.errors import BindingError, Place
from windrow.plan.expressions import ColumnRef
from windrow.plan.model import OutputColumn
from windrow.plan.names import Names
from windrow.plan.scope import Scope
from windrow.sql.nested_query import without_queries
from windrow.sql.places import place_of
from windrow.sql.statements import Select, SelectItem

__all__ = ["RESERVED_NAMES", "aliases_of", "bind_items", "check_reserved", "is_star", "item_name"]

# Columns that answers() and changes() put before the select list.
RESERVED_NAMES = frozenset(["at", "level", "error_bound", "change"])


def bind_items(
    select: Select, names: Names, scope: Scope, *, grouped: bool
) -> tuple[OutputColumn, ...]:
    """The columns of the answer, each under a name of its own."""
    found: list[OutputColumn] = []
    for item in select.items:
        place = item.place or place_of(item.expression, select.text)
        hint = "give one of them another name with AS"
        if is_star(item.expression):
            columns = _all_columns(names, item, place, grouped=grouped)
            hint = "name the columns instead of *, and give one of them another name with AS"
        else:
            bound = scope.bind(item.expression)
            columns = [OutputColumn(item_name(item), bound, bound.type)]
        for column in columns:
            _check_name(column.name, found, place, hint)
            found.append(column)
    return tuple(found)


def is_star(node: exp.Expr) -> bool:
    """Whether it is * or t.*."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def aliases_of(select: Select) -> dict[str, exp.Expr]:
    """What the names given with AS stand for; looked up in lower case."""
    return {item.alias.lower(): item.expression for item in select.items if item.alias}


def _all_columns(
    names: Names, item: SelectItem, place: Place | None, *, grouped: bool
) -> list[OutputColumn]:
    if grouped:
        raise BindingError(
            "WB244",
            "* cannot be combined with GROUP BY, HAVING or aggregates",
            hint="name the columns, each in GROUP BY or in an aggregate",
            place=place,
        )
    node = item.expression
    entries = names.entries(node) if isinstance(node, exp.Column) else names.inputs
    return [
        OutputColumn(
            column.name, ColumnRef(entry.input_index, column.name, column.type), column.type
        )
        for entry in entries
        for column in entry.stream.columns
    ]


def item_name(item: SelectItem) -> str:
    """The name of a select item: its alias, its column, else what is written."""
    if item.alias:
        return item.alias
    node = item.expression.unnest()
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Dot):
        return str(node.expression.name)
    bare = without_queries(node).transform(_without_input)
    return bare.sql("spark", normalize_functions="lower", comments=False)


def _without_input(node: exp.Expr) -> exp.Expr:
    return exp.column(node.this.copy()) if isinstance(node, exp.Column) and node.table else node


def check_reserved(name: str, place: Place | None) -> None:
    """Refuses the names of columns that answers() and changes() add."""
    if name.lower() in RESERVED_NAMES:
        raise BindingError(
            "WB251",
            f"a column of the answer cannot be named {name!r}: the name is reserved",
            hint=f"give it another name: ... AS {name}_value",
            place=place,
        )


def _check_name(name: str, found: Sequence[OutputColumn], place: Place | None, hint: str) -> None:
    check_reserved(name, place)
    if any(name.lower() == column.name.lower() for column in found):
        raise BindingError(
            "WB250",
            f"two columns of the answer are named {name!r}",
            hint=hint,
            place=place,
        )
