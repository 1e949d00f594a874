"""Whether an aggregate over a join can be kept without forming joined rows, and by which trees.

Inputs are edges of a hypergraph over the join variables. Where ears can be taken off it until one
input is left (Graham, Yu and Özsoyoğlu), the join is acyclic and its inputs form a tree in which
the inputs of every variable hang together; sums then pass along the tree, from any input as root.
"""

from __future__ import annotations

from dataclasses import dataclass

from windrow.plan.model import SEVERAL, Aggregate, QueryPlan
from windrow.plan.show import show, show_aggregate

__all__ = ["NO_PARENT", "Factorisation", "factorisation"]

NO_PARENT = -1

Variables = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class Factorisation:
    """The join variables of each input, and which inputs must be the root of a tree.

    linear_root: of the tree for counts and sums. extreme_roots: the inputs whose extremes or
    distinct values are requested, each once, in order.
    """

    variables: Variables
    linear_root: int
    extreme_roots: tuple[int, ...]

    def parents(self, root: int) -> tuple[int, ...]:
        """The parent of each input in a tree with this root, NO_PARENT for the root."""
        found = _parents(self.variables, root)
        assert found is not None, "only acyclic joins have a factorisation"
        return found


def factorisation(plan: QueryPlan) -> Factorisation | str:
    """How the plan factorises, or why it does not, as part of a sentence."""
    variables = tuple(frozenset(entry.variables) for entry in plan.inputs)
    if plan.residual is not None:
        return f"the condition {show(plan.residual, plan)} compares inputs"
    if _parents(variables, 0) is None:
        return "its join conditions form a cycle"
    homes = _group_homes(plan, variables)
    if isinstance(homes, str):
        return homes
    rooted = set()
    for aggregate in plan.aggregates:
        reason = _obstacle(plan, aggregate, homes)
        if reason is not None:
            return reason
        if not aggregate.traits.laws.is_linear:
            rooted.add(aggregate.source or 0)
    needed = _group_variables(plan)
    root = min(homes, key=lambda home: (_spread(variables, home, needed), home))
    return Factorisation(variables, root, tuple(sorted(rooted)))


def _group_homes(plan: QueryPlan, variables: Variables) -> list[int] | str:
    """The inputs that have all group columns, their own or as a join variable."""
    if SEVERAL in plan.group_sources:
        part = plan.group_by[plan.group_sources.index(SEVERAL)]
        return f"the group {show(part, plan)} reads several inputs"
    own = {
        source
        for source, key in zip(plan.group_sources, plan.group_keys, strict=True)
        if key is None and source is not None
    }
    if len(own) > 1:
        names = " and ".join(plan.inputs[source].alias for source in sorted(own))
        return f"it groups by columns of {names}"
    needed = _group_variables(plan)
    homes = [i for i, each in enumerate(variables) if needed <= each and own <= {i}]
    return homes or "no input has all its group columns"


def _group_variables(plan: QueryPlan) -> frozenset[int]:
    return frozenset(key for key in plan.group_keys if key is not None)


def _obstacle(plan: QueryPlan, aggregate: Aggregate, homes: list[int]) -> str | None:
    """Why the aggregate cannot be kept along a tree."""
    if aggregate.argument is None:
        return None
    text = show_aggregate(aggregate, plan)
    if not aggregate.traits.laws.is_linear:
        if aggregate.source is None:
            return f"{text} reads several inputs"
        if aggregate.source not in homes:
            return f"{text} is of another input than the groups"
    elif aggregate.source is None and not aggregate.terms:
        return f"{text} does not separate into products of one value each of two inputs"
    return None


def _parents(variables: Variables, root: int) -> tuple[int, ...] | None:
    """A tree by taking ears off, the root never; None where the join is cyclic."""
    left = list(range(len(variables)))
    parents = [NO_PARENT] * len(variables)
    while len(left) > 1:
        ear = next(
            (found for i in left if i != root and (found := _ear(variables, left, i, root))), None
        )
        if ear is None:
            return None
        parents[ear[0]] = ear[1]
        left.remove(ear[0])
    return tuple(parents)


def _ear(variables: Variables, left: list[int], i: int, root: int) -> tuple[int, int] | None:
    """The input and one that has all that it shares with any other, the root if it has."""
    others = [j for j in left if j != i]
    shared = variables[i] & frozenset().union(*(variables[j] for j in others))
    holders = [j for j in others if shared <= variables[j]]
    if not holders:
        return None
    return i, root if root in holders else holders[0]


def _spread(variables: Variables, root: int, needed: frozenset[int]) -> int:
    """How often a change propagates to many cells on its way to the root, over all inputs."""
    parents = _parents(variables, root)
    assert parents is not None
    total = 0
    for i in range(len(variables)):
        node = i
        while parents[node] != NO_PARENT:
            parent = parents[node]
            edges = [variables[c] & variables[parent] for c, p in enumerate(parents) if p == parent]
            if parents[parent] != NO_PARENT:
                edges.append(variables[parent] & variables[parents[parent]])
            else:
                edges.append(needed)
            here = variables[node] & variables[parent]
            total += any(not edge <= here for edge in edges)
            node = parent
    return total
