"""Nodes in any order added to the states of an interval, and states of groups added up."""

from __future__ import annotations

from windrow.compiling.kernels import njit
from windrow.history.cells.kernels import LEFT, PARTS
from windrow.history.state_kernels import START, add_state


@njit(cache=True)
def add_nodes(groups, ends, whole, real, since, until, target, out_whole, out_real, cuts):
    """Add nodes between two times to part `target` of their groups, those that are cut to cuts."""
    for node in range(groups.size):
        start, end = whole[START, node], ends[node]
        if end <= since or start >= until:
            continue
        group = groups[node]
        part = target
        if start < since or end > until:
            side = 0 if start < since else 1
            part = LEFT + side
            cuts[group, side, 0] = start
            cuts[group, side, 1] = end
        add_state(out_whole, out_real, PARTS * group + part, whole, real, node)


@njit(cache=True)
def add_up(groups, whole, real, out_whole, out_real):
    """Add each state to that of its group."""
    for state in range(groups.size):
        add_state(out_whole, out_real, groups[state], whole, real, state)
