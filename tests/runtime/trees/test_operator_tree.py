"""The operators of a tree: equal parts are one node, and sizes are those after the last step."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from windrow.embedded import EmbeddedSession
from windrow.operators.relations.changes import Changes
from windrow.plan.relations.tree_plan import TreePlan
from windrow.runtime.trees.operator_tree import OperatorTree


def tree_of(text: str) -> OperatorTree:
    session = EmbeddedSession()
    session.stream("s", "ts timestamp, x bigint", time="ts")
    plan = session.plan_of(text)
    assert isinstance(plan, TreePlan)
    return OperatorTree(plan.relation)


def changes(count: int) -> Changes:
    values = np.arange(count)
    return Changes(values, np.ones(count, np.int64), (pa.array(values),))


def test_sizes_grow_with_steps() -> None:
    tree = tree_of("SELECT x FROM s [1 HOUR] EXCEPT SELECT x + 1 FROM s [1 HOUR]")
    sizes = [tree.nbytes]
    growths = [tree.growth_bytes(10)]
    tree.advance(lambda _block: changes(10_000), 10_000)
    sizes.append(tree.nbytes)
    growths.append(tree.growth_bytes(10))
    assert sizes[1] > sizes[0] + 10_000
    assert growths[1] != growths[0]
    assert tree.nbytes == sum(size for _, size in tree.sizes())
