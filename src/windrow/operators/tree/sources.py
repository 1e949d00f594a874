"""Where the codes of a view tree's cells come from: join variables, groups, distinct values.

Sources are numbered: one for each set of join variables that two neighbours in a tree share, one
for the groups unless they are such a set, one for each COUNT(DISTINCT).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from windrow.operators.tree.structure import NOTHING, TreeShape
from windrow.plan.expressions import ColumnRef
from windrow.plan.factorisation import NO_PARENT, Factorisation
from windrow.rows.shape import QueryShape

__all__ = ["TreeSources"]


@dataclass(frozen=True)
class TreeSources:
    """The sources of a query, and the trees that use them."""

    shape: QueryShape
    found: Factorisation

    @cached_property
    def edges(self) -> tuple[tuple[int, ...], ...]:
        """The sets of variables, each sorted; source i is the i-th."""
        sets = {self._edge(i, p) for root in self.roots for i, p in enumerate(self._parents(root))}
        return tuple(sorted(tuple(sorted(each)) for each in sets if each))

    @property
    def roots(self) -> tuple[int, ...]:
        """The root of every tree: first that of counts and sums, then those of extremes."""
        return (self.found.linear_root, *self.found.extreme_roots)

    @cached_property
    def group_variables(self) -> tuple[int, ...] | None:
        """The variable of each group column; None where some group column is none."""
        found = []
        for column in self.shape.group_columns:
            if not isinstance(column, ColumnRef) or column.column[0] != "k":
                return None
            found.append(self.shape.inputs[column.source].variables[int(column.column[1:])])
        return tuple(found)

    @cached_property
    def group(self) -> int:
        """The source of groups."""
        if not self.shape.group_columns:
            return NOTHING
        if self.group_variables is not None:
            wanted = tuple(sorted(set(self.group_variables)))
            if wanted in self.edges:
                return self.edges.index(wanted)
        return len(self.edges)

    @property
    def has_group_coder(self) -> bool:
        """Whether groups are coded for themselves."""
        return self.group == len(self.edges)

    def pair(self, distinct: int) -> int:
        """The source of (group, value) of a COUNT(DISTINCT)."""
        return len(self.edges) + 1 + distinct

    def distincts(self, root: int) -> list[int]:
        """Those of the input."""
        return [i for i, each in enumerate(self.shape.distincts) if (each.source or 0) == root]

    def extremes(self, root: int) -> list[int]:
        """Those of the input."""
        return [i for i, each in enumerate(self.shape.extremes) if (each.source or 0) == root]

    def tree(self, root: int, *, is_linear: bool) -> TreeShape:
        """The tree with this root."""
        parents = self._parents(root)
        edges = tuple(self._source(self._edge(i, parent)) for i, parent in enumerate(parents))
        identities = [self._longest(i, parents) for i in range(len(parents))]
        pairs = [] if is_linear else [self.pair(each) for each in self.distincts(root)]
        if pairs:
            identities[root] += tuple(pairs)
        elif self.has_group_coder:
            identities[root] += (self.group,)
        return TreeShape(parents, edges, self.group, tuple(identities))

    def has_same_cells(self, root: int, input_index: int) -> bool:
        """Whether an input's cells in the tree of extremes with this root are the linear tree's."""
        linear = self.tree(self.found.linear_root, is_linear=True).identities[input_index]
        other = self.tree(root, is_linear=False).identities[input_index]
        return len(linear) == 1 and linear == other

    def input_edges(self, input_index: int) -> list[int]:
        """The sources that an input's rows have codes of: its edges in any tree, and its groups."""
        found = set()
        for root in self.roots:
            for i, parent in enumerate(self._parents(root)):
                if input_index in (i, parent):
                    found.add(self._source(self._edge(i, parent)))
            if input_index == root and not self.has_group_coder:
                found.add(self.group)
        return sorted(found - {NOTHING})

    def _longest(self, node: int, parents: tuple[int, ...]) -> tuple[int, ...]:
        """The sets of variables at a node that no other set at it contains."""
        own = [self._edge(i, p) for i, p in enumerate(parents) if node in (i, p)]
        longest = {each for each in own if not any(each < other for other in own)}
        return tuple(sorted(self._source(each) for each in longest if each))

    def _edge(self, node: int, parent: int) -> frozenset[int]:
        if parent == NO_PARENT:
            return frozenset()
        return self.found.variables[node] & self.found.variables[parent]

    def _source(self, variables: frozenset[int]) -> int:
        return self.edges.index(tuple(sorted(variables))) if variables else NOTHING

    def _parents(self, root: int) -> tuple[int, ...]:
        return self.found.parents(root)
