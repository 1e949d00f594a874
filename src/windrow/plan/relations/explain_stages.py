"""EXPLAIN of a tree on Spark: in how many buckets it runs, or its stages and what they exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from windrow.plan.expressions import ColumnRef, Expr
from windrow.plan.relations.algebra import Relation
from windrow.plan.relations.exchange_algebra import Received, Sent
from windrow.plan.relations.explain import explain_tree, note_of
from windrow.plan.relations.show import show_relation
from windrow.plan.relations.tree_partitioning import bucket_words, why_in_one_bucket
from windrow.plan.relations.tree_plan import TreePlan, first_stage
from windrow.plan.show import show_with

__all__ = ["explain_on_spark"]

Sizes = Mapping[Relation, int]


def explain_on_spark(
    plan: TreePlan,
    sizes: Sequence[Sizes] = (),
    algorithms: Mapping[Relation, str] | None = None,
    buckets: int | None = None,
) -> str:
    """As in one process, with buckets; sizes: by stage the bytes of nodes. buckets: if known."""
    if first_stage(plan, buckets or 2) is plan:
        drawn = explain_tree(plan, sizes[0] if sizes else None, algorithms)
        return f"{drawn}\n{bucket_words(plan, buckets)}"
    lines = [f"as it runs, in {len(plan.stages)} stages:"]
    for number in reversed(range(len(plan.stages))):
        own = sizes[number] if sizes else {}
        noted = note_of(own, algorithms or {})
        words = bucket_words(plan.stages[number], buckets)
        lines.append(f"  stage {number + 1}, {words}")
        lines += [f"    {line}" for line in _stage(plan, number, noted)]
    return explain_tree(plan, running=lines)


def _stage(plan: TreePlan, number: int, noted: Callable[[Relation], str]) -> Iterator[str]:
    """The lines of a stage: its result, or all that it sends."""
    root = plan.stages[number].relation
    if not isinstance(root, Sent):
        yield from show_relation(root, noted).splitlines()
        return
    above = plan.stages[number + 1]
    received = {node.number: node for node in above.received}
    for place, part in enumerate(root.parts):
        source, reason = "", ""
        if root.alone[place]:
            source = " from the first bucket"
            reason = f", because {why_in_one_bucket(part) or 'all of it is there'}"
        yield f"sends {place + 1}{source} {_where(above, received[place])}{reason}"
        yield from (f"  {line}" for line in show_relation(part, noted).splitlines())


def _where(plan: TreePlan, node: Received) -> str:
    """Which bucket of the stage above a row goes to."""
    if not plan.partitioning.is_sharded:
        return "to one bucket"
    if node.number in plan.partitioning.spread:
        return "to all buckets"
    names = {field.id: field.name for field in node.fields}

    def named(leaf: Expr) -> str:
        return names.get(leaf.column, leaf.column) if isinstance(leaf, ColumnRef) else str(leaf)

    keys = plan.partitioning.received[plan.received.index(node)]
    return f"by {', '.join(show_with(key, named) for key in keys) or 'all that it holds'}"
