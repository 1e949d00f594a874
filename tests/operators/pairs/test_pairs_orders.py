"""The order in which a row probes the other windows, and the runs that it finds rows in."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.pairs import index_kernels
from windrow.operators.pairs.index import JoinIndex, join_variables


def orders(index: JoinIndex) -> list[list[int]]:
    return index.probing.step_input.tolist()


def test_variables_of_the_same_inputs_are_one() -> None:
    assert join_variables([(0, 1), (0, 1)]) == [{0: (0, 1), 1: (0, 1)}]
    star_and_pair = [{0: (0,), 1: (0,), 2: (0,)}, {1: (1,), 2: (1,)}]
    assert join_variables([(0,), (0, 1), (0, 1)]) == star_and_pair


def test_inputs_without_equality_meet_in_a_variable_of_no_keys() -> None:
    assert join_variables([(), ()]) == [{0: (), 1: ()}]
    assert join_variables([(0,), (0,), ()]) == [{0: (0,), 1: (0,)}, {0: (), 1: (), 2: ()}]
    assert join_variables([()]) == []


def test_a_chain_is_probed_along_its_links() -> None:
    index = JoinIndex(3, join_variables([(0,), (0, 1), (1,)]))
    index.choose_orders([10, 10, 10], [5, 5])
    assert orders(index)[0] == [1, 2]
    assert orders(index)[2] == [1, 0]


def test_the_most_restrictive_input_comes_first_as_measured() -> None:
    index = JoinIndex(3, join_variables([(0, 1), (0,), (1,)]))
    index.choose_orders([10, 100, 1], [10, 10])
    assert orders(index)[0] == [2, 1]  # ten rows a code of input 1, a tenth of input 2
    for place, (input_index, _) in enumerate(index.places):
        index.probing.statistics[place] = (1000, 10 if input_index == 1 else 9_000)
    index.choose_orders([10, 100, 1], [10, 10])
    assert orders(index)[0] == [1, 2]


def test_what_shares_no_key_counts_with_all_its_rows() -> None:
    index = JoinIndex(3, join_variables([(0,), (0,), ()]))
    index.choose_orders([100, 100, 5], [50, 1])
    assert orders(index)[0] == [1, 2]
    assert index.probing.check_count.max() == 0


def test_a_cycle_checks_the_variable_that_it_did_not_probe_by() -> None:
    index = JoinIndex(3, join_variables([(0, 1), (0, 2), (1, 2)]))
    index.choose_orders([10, 10, 10], [5, 5, 5])
    assert index.probing.check_count.tolist() == [[0, 1]] * 3


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 3)), max_size=60))
def test_runs_hold_the_rows_that_are_in(steps: list[tuple[int, int]]) -> None:
    index = JoinIndex(2, join_variables([(0,), (0,)]))
    index.grow_arena()
    inside: dict[int, int] = {}
    for slot, code in steps:
        if slot in inside:
            index_kernels.remove_row(slot, 0, 1, *index.arrays)
            del inside[slot]
        else:
            index.place(0, 0, np.array([slot]), np.array([code], np.int32))
            while not index_kernels.insert_row(slot, 0, 1, *index.arrays):
                index.grow_arena()
            inside[slot] = code
        for each in range(4):
            start, size, _ = index.arrays.runs[each, 0].tolist()
            found = sorted(index.arrays.arena[start : start + size].tolist())
            assert found == sorted(s for s, c in inside.items() if c == each)
