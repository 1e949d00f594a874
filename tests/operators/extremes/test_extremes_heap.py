"""Pairing heaps against a plain list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.extremes import kernels
from windrow.operators.extremes.arena import HeapArena
from windrow.windows.kernels import EMPTY

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "insert", "delete", "change"]),
        st.integers(),
        st.integers(-9, 9),
    ),
    max_size=60,
)


@given(STEPS)
def test_root_is_always_the_largest(steps: list[tuple[str, int, int]]) -> None:
    arena = HeapArena()
    root, members = EMPTY, dict[int, int]()
    for action, choice, value in steps:
        if action == "insert":
            arena.make_room(1)
            member = int(kernels.take_member(arena.heap, arena.control))
            assert member not in members
            arena.heap[member, kernels.VALUE] = value
            root = kernels.insert(root, member, arena.heap)
            members[member] = value
        elif members:
            member = sorted(members)[choice % len(members)]
            if action == "delete":
                root = kernels.delete(root, member, arena.heap)
                kernels.give_member(member, arena.heap, arena.control)
                del members[member]
            else:
                root = kernels.change(root, member, value, arena.heap)
                members[member] = value
        assert (root == EMPTY) == (not members)
        if members:
            assert arena.heap[root, kernels.VALUE] == max(members.values())


def test_two_heaps_share_an_arena() -> None:
    arena = HeapArena()
    arena.reserve(200)
    arena.heap[:200, kernels.VALUE] = np.arange(200) * 37 % 200
    roots = [EMPTY, EMPTY]
    for member in range(200):
        roots[member % 2] = kernels.insert(roots[member % 2], member, arena.heap)
    for side in (0, 1):
        taken = []
        while roots[side] != EMPTY:
            taken.append(int(arena.heap[roots[side], kernels.VALUE]))
            roots[side] = kernels.delete(roots[side], roots[side], arena.heap)
        assert taken == sorted(np.arange(side, 200, 2) * 37 % 200, reverse=True)


def test_a_full_arena_says_so() -> None:
    arena = HeapArena()
    taken = [kernels.take_member(arena.heap, arena.control) for _ in range(arena.heap.shape[0])]
    assert len(set(taken)) == len(taken)
    assert kernels.take_member(arena.heap, arena.control) == EMPTY
    arena.make_room(1)
    assert kernels.take_member(arena.heap, arena.control) == len(taken)
