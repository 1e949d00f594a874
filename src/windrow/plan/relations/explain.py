"""EXPLAIN of a tree: as it was written, and as it runs, with what every node keeps."""

from __future__ import annotations

from collections.abc import Mapping

from windrow.memory_size import show_memory
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    AtMostOne,
    Distinct,
    Join,
    Relation,
    SetOperation,
    TopRows,
    ViewScan,
    WindowFunctions,
)
from windrow.plan.relations.blocks import Block
from windrow.plan.relations.join_condition import split_condition
from windrow.plan.relations.show import show_relation
from windrow.plan.relations.tree_plan import TreePlan

__all__ = ["explain_tree"]


def explain_tree(plan: TreePlan, sizes: Mapping[Relation, int] | None = None) -> str:
    """The drawings of both; sizes: the bytes that nodes remember now."""
    blocks, windows = len(plan.blocks), len(plan.inputs)
    read = f"{windows} window{'s' * (windows != 1)} in {blocks} block{'s' * (blocks != 1)}"
    if plan.views:
        views = f"view{'s' * (len(plan.views) != 1)} {', '.join(plan.views)}"
        read = f"{read} and {views}" if windows else views
    lines = [
        f"a tree over {read}" + (", which one fused operator each runs" if windows else ""),
        "as written:",
        *(f"  {line}" for line in show_relation(plan.bound).splitlines()),
        "as it runs:",
        *(
            f"  {line}"
            for line in show_relation(plan.relation, lambda n: note(n, sizes)).splitlines()
        ),
    ]
    if plan.growing:
        lines.append(
            f"grows without end: every row of {', '.join(plan.growing)} is kept (UNBOUNDED); "
            "the memory budget bounds it"
        )
    return "\n".join(lines)


def note(node: Relation, sizes: Mapping[Relation, int] | None = None) -> str:
    """What the node keeps, and its work for a change."""
    words = _block(node) if isinstance(node, Block) else _kept(node)
    size = (sizes or {}).get(node)
    if size is not None and words:
        words += f"; {show_memory(size)} now"
    return words


def _block(block: Block) -> str:
    plan = block.plan
    if block.is_scan:
        return "keeps the rows of the window; O(1) a row"
    if plan.kind == "select":
        return "fused: keeps the rows of its windows and their joined rows by expiry"
    return "fused: aggregates as rows come and go; keeps the rows of its windows and its groups"


def _kept(node: Relation) -> str:
    if isinstance(node, Join):
        keys = split_condition(node).keys
        found = "finds matches by key" if keys else "compares with all rows of the other input"
        return f"keeps the different rows of both inputs; {found}"
    if isinstance(node, Aggregate):
        return "keeps a state for each group; O(1) a change, O(log n) for MIN and MAX"
    if isinstance(node, Distinct):
        return "keeps every different row and its count; O(1) a change"
    if isinstance(node, SetOperation):
        is_union = node.kind == "union"
        return "" if is_union else "keeps every different row and two counts; O(1) a change"
    if isinstance(node, TopRows):
        return "keeps all rows in order; O(log n) a change"
    if isinstance(node, WindowFunctions):
        return "keeps all rows in order; O(log n) and the rows within reach of a change"
    if isinstance(node, AtMostOne):
        return "counts rows; O(1) a change"
    if isinstance(node, ViewScan):
        return "runs once for all queries that read it; keeps nothing of its own"
    if isinstance(node, AnswerWindow):
        return "keeps the answers in the window; O(rows) a tick"
    return ""
