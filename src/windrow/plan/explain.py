"""A plan as text for people: what is read, held, joined and answered, and by which algorithm."""

from __future__ import annotations

from windrow.event_time import show_span
from windrow.plan.expressions import ColumnRef, Expr, walk
from windrow.plan.model import PlanInput, QueryPlan, WindowSpec
from windrow.plan.partitioning import partitioning
from windrow.plan.show import show, show_aggregate, show_list
from windrow.plan.update_pattern import update_pattern

__all__ = ["explain", "row_bytes"]

TIME_BYTES = 8
CODE_BYTES = 4
VALUE_BYTES = 8


def explain(plan: QueryPlan) -> str:
    """The plan, one fact a line."""
    lines = [_headline(plan)]
    for position, entry in enumerate(plan.inputs):
        lines += _input_lines(plan, position, entry)
    lines += _answer_lines(plan)
    lines += _algorithm_lines(plan)
    return "\n".join(lines)


def row_bytes(plan: QueryPlan, position: int) -> int:
    """Estimated bytes that the window of an input holds for each row."""
    if plan.kind == "aggregate" and plan.inputs[position].window.kind == "unbounded":
        return 0  # what never leaves need not be remembered
    return TIME_BYTES + CODE_BYTES + VALUE_BYTES * len(_values(plan, position))


def _values(plan: QueryPlan, position: int) -> set[Expr]:
    """What must be kept of a row to take it out again."""
    if plan.kind == "select":
        parts = [part for column in plan.select for part in walk(column.expression)]
        return {part for part in parts if isinstance(part, ColumnRef)}
    arguments = {
        aggregate.argument
        for aggregate in plan.aggregates
        if aggregate.argument is not None and aggregate.source == position
    }
    grouped = {
        part
        for part, source, key in zip(
            plan.group_by, plan.group_sources, plan.group_keys, strict=True
        )
        if source == position and key is None
    }
    return arguments | grouped


def _headline(plan: QueryPlan) -> str:
    if plan.kind == "select":
        return "select over one window"
    joined = "an equi-join of two windows" if len(plan.inputs) > 1 else "one window"
    return f"aggregate over {joined}"


def _input_lines(plan: QueryPlan, position: int, entry: PlanInput) -> list[str]:
    name = entry.stream.name
    alias = f" as {entry.alias}" if entry.alias != name else ""
    lines = [f"  input {name}{alias} {_window(entry.window, plan)}"]
    if entry.filter is not None:
        lines.append(f"    where     {show(entry.filter, plan)}")
    if entry.keys:
        lines.append(f"    join key  {show_list(entry.keys, plan)}")
    held = row_bytes(plan, position)
    lines.append(
        f"    memory    about {held} bytes for each row {_extent(entry.window)}"
        if held
        else "    memory    no row is held: none ever leaves"
    )
    return lines


def _extent(window: WindowSpec) -> str:
    if window.kind == "unbounded":
        return "that passes, growing without end"
    return "in the window"


def _window(window: WindowSpec, plan: QueryPlan) -> str:
    if window.kind == "time":
        return f"[{show_span(window.length_us)}]"
    if window.kind == "slide":
        return f"[{show_span(window.length_us)}, sliding by {show_span(window.slide_us)}]"
    if window.kind == "rows":
        return f"[last {window.rows} rows]"
    if window.kind == "partition_rows":
        return f"[last {window.rows} rows of each {show_list(window.partition_by, plan)}]"
    return "[unbounded]"


def _answer_lines(plan: QueryPlan) -> list[str]:
    lines: list[str] = []
    if plan.aggregates:
        named = ", ".join(show_aggregate(part, plan) for part in plan.aggregates)
        lines.append(f"  aggregates  {named}")
    if plan.group_by:
        lines.append(f"  group by    {show_list(plan.group_by, plan)}")
    if plan.having is not None:
        lines.append(f"  having      {show(plan.having, plan)}")
    columns = ", ".join(f"{column.name} {column.type}" for column in plan.select)
    pattern, meaning = update_pattern(plan)
    every = (
        f"every {show_span(plan.every_us)} of event time" if plan.every_us else "at every arrival"
    )
    return [
        *lines,
        f"  columns     {columns}",
        f"  answers     {every}",
        f"  updates     {pattern}: {meaning}",
        f"  buckets     {_buckets(plan)}",
    ]


def _buckets(plan: QueryPlan) -> str:
    dealt = partitioning(plan)
    if dealt.kind == "key":
        shown = " = ".join(f"({show_list(keys, plan)})" for keys in dealt.keys)
        return f"by {shown}: {dealt.reason}"
    return f"{'one bucket' if dealt.kind == 'one' else 'any'}: {dealt.reason}"


def _algorithm_lines(plan: QueryPlan) -> list[str]:
    if plan.kind == "select":
        return ["  algorithm   window scan: each row is filtered and projected once, O(1) per row"]
    if len(plan.inputs) == 1:
        return ["  algorithm   factorised: one state per group, O(1) per row"]
    return [
        "  algorithm   factorised: one state per key and side, O(1) per row; "
        "pairs are not materialised",
        "  not chosen  pipelined, incremental, charged: they visit or hold the joined pairs, "
        "and are not selectable yet",
    ]
