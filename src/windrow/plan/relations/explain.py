"""EXPLAIN of a tree: as it was written, which rules changed it, and as it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from windrow.event_time import show_span
from windrow.memory_size import show_memory
from windrow.plan.explain import due, on_error_words
from windrow.plan.explain_costs import algorithm_words
from windrow.plan.relations.algebra import (
    Aggregate,
    AnswerWindow,
    AsOfJoin,
    AtMostOne,
    Distinct,
    Join,
    Relation,
    SetOperation,
    TableScan,
    TopRows,
    Unnest,
    ValidRows,
    VersionScan,
    ViewScan,
    WindowFunctions,
    walk_relations,
)
from windrow.plan.relations.blocks import Block, SessionBlock
from windrow.plan.relations.exchange_algebra import LocalAggregate, LocalTopRows, Received
from windrow.plan.relations.join_condition import split_condition
from windrow.plan.relations.rules.pipeline import rules_that_change
from windrow.plan.relations.show import show_relation
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.window_algebra import WindowBounds

__all__ = ["explain_tree", "note_of"]

Sizes = Mapping[Relation, int]
Algorithms = Mapping[Relation, str]


def explain_tree(
    plan: TreePlan,
    sizes: Sizes | None = None,
    algorithms: Algorithms | None = None,
    running: Sequence[str] | None = None,
) -> str:
    """Both drawings; sizes: the bytes that nodes remember now, algorithms: what blocks run by.

    running: the lines of what runs, where that is not the tree as a whole.
    """
    noted = note_of(sizes or {}, algorithms or {})
    rules = rules_that_change(plan.bound)
    columns = ", ".join(f"{field.name} {field.type}" for field in plan.outputs)
    policy = on_error_words(plan.on_error)
    every = f"every {show_span(plan.every_us)}" if plan.every_us else due(plan.closes)
    every = every if plan.closing is None else "when a session closes"
    return "\n".join(
        [
            _headline(plan),
            f"  columns     {columns}",
            f"  answers     {every}",
            *([] if plan.on_error == "fail" else [f"  on error    {policy}"]),
            f"  rules       {', '.join(rules) if rules else 'none changes it'}",
            "as written:",
            *(f"  {line}" for line in show_relation(plan.bound).splitlines()),
            *(_running(plan, noted) if running is None else running),
            *_closing(plan, noted),
            *_growing(plan),
        ]
    )


def note_of(sizes: Sizes, algorithms: Algorithms) -> Callable[[Relation], str]:
    """What stands below the line of a node in the drawing of what runs."""
    return lambda node: _note(node, sizes, algorithms)


def _running(plan: TreePlan, noted: Callable[[Relation], str]) -> list[str]:
    drawn = show_relation(plan.relation, noted).splitlines()
    return ["as it runs:", *(f"  {line}" for line in drawn)]


def _headline(plan: TreePlan) -> str:
    windows, fused = _windows(plan), sum(not block.is_scan for block in plan.blocks)
    blocks = f", {fused} fused block{'s' * (fused != 1)}" if fused else ""
    others = [_named("view", plan.views)] if plan.views else []
    others += [_named("table", plan.own_tables)] if plan.own_tables else []
    if others and not windows:
        return f"tree over {' and '.join(others)}"
    if not windows:
        return "tree over constants"
    beside = "".join(f" and {each}" for each in others)
    return f"tree over {windows} window{'s' * (windows != 1)}{beside}{blocks}"


def _windows(plan: TreePlan) -> int:
    """How many windows the text has; those of sessions may be read in several ways."""
    blocks = {each for each in walk_relations(plan.relation) if isinstance(each, Block)}
    read_again = {each for each in blocks if isinstance(each, SessionBlock) and each.mode != "rows"}
    return sum(len(block.entries) for block in blocks - read_again)


def _closing(plan: TreePlan, noted: Callable[[Relation], str]) -> list[str]:
    if plan.closing is None:
        return []
    drawn = show_relation(plan.closing, noted).splitlines()
    return ["for the answers, over the sessions that end:", *(f"  {line}" for line in drawn)]


def _named(kind: str, names: tuple[str, ...]) -> str:
    return f"{kind}{'s' * (len(names) != 1)} {', '.join(names)}"


def _growing(plan: TreePlan) -> list[str]:
    if not plan.growing:
        return []
    return [
        f"grows without end: every row of {', '.join(plan.growing)} is kept (UNBOUNDED), up to the "
        "memory budget"
    ]


def _note(node: Relation, sizes: Sizes, algorithms: Algorithms) -> str:
    """What the node keeps, and its work for a change."""
    words = _of_block(node, algorithms) if isinstance(node, Block) else _kept(node)
    size = sizes.get(node)
    return f"{words}; {show_memory(size)} now" if words and size is not None else words


def _of_block(block: Block, algorithms: Algorithms) -> str:
    if block.is_scan:
        return "keeps the rows of the window; O(1) a row"
    return algorithm_words(block.plan, algorithms.get(block))


def _kept(node: Relation) -> str:
    if isinstance(node, Join):
        return _of_join(node)
    if isinstance(node, SetOperation):
        is_union = node.kind == "union"
        return "" if is_union else "keeps every different row and two counts; O(1) a change"
    if isinstance(node, VersionScan):
        kept = "for ever" if node.kept_us is None else f"for {show_span(node.kept_us)}"
        return f"versions stay {kept} after the next one, once for all queries"
    return _WORDS.get(type(node), "")


def _of_join(node: Join) -> str:
    condition = split_condition(node)
    if node.kind in ("semi", "anti") and condition.residual is None:
        return "keeps the rows of the left input, and counts keys of the right one; by key"
    found = "finds matches by key" if condition.keys else "compares with all rows of the other"
    return f"keeps the different rows of both inputs; {found}"


_WORDS: dict[type[Relation], str] = {
    Aggregate: "keeps a state for each group; O(1) a change, O(log n) for MIN and MAX",
    Distinct: "keeps every different row and its count; O(1) a change",
    TopRows: "keeps all rows, the first in order; O(1) for most changes, O(log n) amortised",
    WindowFunctions: "keeps all rows in order; O(log n) and the rows within reach of a change",
    Unnest: "keeps nothing; O(entries) a change",
    AtMostOne: "counts rows; O(1) a change",
    ValidRows: "keeps the rows that are to come or to go; O(log n) a change",
    ViewScan: "runs once for all queries that read it; keeps nothing of its own",
    TableScan: "the newest row of each key, once for all queries; keeps nothing of its own",
    AsOfJoin: "keeps the rows of both inputs by key in order of time; O(log n) a change",
    AnswerWindow: "keeps the answers in the window; O(rows) a tick",
    WindowBounds: "keeps the rows; all of them come anew when a window closes",
    LocalTopRows: "keeps all rows of the bucket, the first in order; O(1) for most changes",
    LocalAggregate: "keeps a state for each group of the bucket; O(1) a change, or O(log n)",
    Received: "keeps the different rows and their counts; O(1) a change",
}
