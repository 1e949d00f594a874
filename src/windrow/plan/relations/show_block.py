"""The lines of a block in a drawing: its windows, how they are joined, and its conditions."""

from __future__ import annotations

from collections.abc import Iterator

from windrow.plan.expressions import ColumnRef, GroupRef
from windrow.plan.model import QueryPlan
from windrow.plan.relations.algebra import Field
from windrow.plan.relations.blocks import Block
from windrow.plan.show import show, show_list, show_window

__all__ = ["block_label", "block_lines", "block_words", "window_lines"]


def block_label(block: Block, field: Field) -> str:
    """What the field is called: as in the text, where it is a column of a window."""
    plan = block.plan
    value = next((each.expression for each in plan.select if each.name == field.id), None)
    if isinstance(value, GroupRef):
        value = plan.group_by[value.index]
    return show(value, plan) if isinstance(value, ColumnRef) else field.name


def block_words(plan: QueryPlan) -> str:
    """What the block gives."""
    if plan.kind == "select":
        return "block, every different row once" if plan.distinct else "block, joined rows"
    groups = show_list(plan.group_by, plan)
    return f"block, a row for each {groups}" if groups else "block, one row"


def block_lines(block: Block) -> Iterator[str]:
    """What stands below the line of a block that is more than a window."""
    if block.is_scan:
        return
    if len(block.plans) > 1:
        yield "union all"
        yield from (f"  {line}" for plan in block.plans for line in window_lines(plan))
        return
    plan = block.plan
    indent = "  " if len(plan.inputs) > 1 else ""
    if indent:
        yield _joined(plan)
    yield from (indent + line for line in window_lines(plan))


def window_lines(plan: QueryPlan) -> Iterator[str]:
    """Its windows, each with the condition that rows must pass to enter."""
    for entry in plan.inputs:
        name = entry.stream.name
        alias = "" if entry.alias == name else f" AS {entry.alias}"
        where = "" if entry.filter is None else f" where {show(entry.filter, plan)}"
        yield f"{name} {show_window(entry.window, plan)}{alias}{where}"


def _joined(plan: QueryPlan) -> str:
    """All conditions between its windows."""
    keys: dict[int, list[str]] = {}
    for entry in plan.inputs:
        for variable, key in zip(entry.variables, entry.keys, strict=True):
            keys.setdefault(variable, []).append(show(key, plan))
    parts = [" = ".join(each) for each in keys.values()]
    if plan.residual is not None:
        shown = show(plan.residual, plan)
        parts.append(f"({shown})" if parts and " OR " in shown else shown)
    return f"join on {' AND '.join(parts)}" if parts else "join of all combinations"
