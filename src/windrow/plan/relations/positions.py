"""GROUP BY 2 and ORDER BY 2: items of the select list by their position."""

from __future__ import annotations

from sqlglot import exp

from windrow.errors import BindingError
from windrow.plan.outputs import is_star
from windrow.sql.places import place_of
from windrow.sql.statements import Select

__all__ = ["at_position", "checked_position", "position_of"]


def at_position(select: Select, node: exp.Expr, clause: str) -> exp.Expr:
    """The item that a number means; any other expression means itself."""
    if position_of(node) is None or any(is_star(item.expression) for item in select.items):
        return node
    place = checked_position(node, len(select.items), clause, select.text)
    return select.items[place].expression


def position_of(node: exp.Expr) -> int | None:
    """The number that is written; None for another expression."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        return int(node.this)
    return None


def checked_position(node: exp.Expr, count: int, clause: str, text: str) -> int:
    """The index of the item that the number means."""
    position = position_of(node)
    if position is not None and 1 <= position <= count:
        return position - 1
    raise BindingError(
        "WB269",
        f"{clause} {position}: the select list has {count} item{'s' * (count != 1)}",
        hint="positions count from 1; or write the expression itself",
        place=place_of(node, text),
    )
