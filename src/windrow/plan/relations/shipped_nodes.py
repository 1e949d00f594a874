"""Nodes of trees in the text of a plan: which classes there are, and what they are called there."""

from __future__ import annotations

from typing import Any

from windrow.plan.relations import (
    algebra,
    blocks,
    exchange_algebra,
    leaves,
    relation,
    window_algebra,
)
from windrow.plan.relations.tree_plan import TreePlan
from windrow.plan.relations.union_blocks import UnionBlock

__all__ = ["NODES", "NODE_NAMES"]

_CLASSES: tuple[type[Any], ...] = (
    *(relation.Field, relation.Item),
    *(leaves.Scan, leaves.TableScan, leaves.Values, leaves.VersionScan, leaves.ViewScan),
    *(algebra.AnswerWindow, algebra.Apply, algebra.AsOfJoin, algebra.AtMostOne, algebra.Distinct),
    *(algebra.Filter, algebra.Frame, algebra.Join, algebra.OrderKey, algebra.Project),
    *(algebra.AggregateCall, algebra.SetOperation, algebra.TopRows, algebra.Unnest),
    *(algebra.ValidRows, algebra.WindowCall, algebra.WindowFunctions),
    *(window_algebra.SessionScan, window_algebra.WindowBound, window_algebra.WindowBounds),
    *(exchange_algebra.Received, exchange_algebra.Sent),
    *(exchange_algebra.LocalTopRows, exchange_algebra.LocalAggregate),
    *(blocks.Block, blocks.SessionBlock, UnionBlock, TreePlan),
)

# An aggregate of a single query is called Aggregate in texts.
NODES: dict[str, type[Any]] = {
    **{kind.__name__: kind for kind in _CLASSES},
    "AggregateNode": algebra.Aggregate,
}
NODE_NAMES: dict[type[Any], str] = {kind: name for name, kind in NODES.items()}
