"""States of several shards as states of the whole."""

from __future__ import annotations

import numpy as np

from windrow.operators.lanes import LaneLayout
from windrow.output.combine import CodedUpdates, Combiner

LAYOUT = LaneLayout.smallest(())


def updates(*parts: tuple[int, int, int]) -> CodedUpdates:
    """(instant, group, rows) each."""
    at, group, count = (np.array(column, np.int64) for column in zip(*parts, strict=True))
    lanes = np.zeros((at.size, LAYOUT.lane_count), np.int64)
    return CodedUpdates(at, group.astype(np.int32), count, lanes, LAYOUT)


def states(found: CodedUpdates) -> list[tuple[int, int, int]]:
    return list(zip(found.at.tolist(), found.group.tolist(), found.count.tolist(), strict=True))


def test_counts_add_up_over_shards_and_those_of_an_instant_are_merged() -> None:
    combiner = Combiner(LAYOUT)
    found = combiner.combine([(0, updates((1, 0, 2), (3, 1, 4))), (1, updates((1, 0, 5)))])
    assert states(found) == [(1, 0, 7), (3, 1, 4)]


def test_a_later_step_may_update_at_the_instant_at_which_the_one_before_ended() -> None:
    combiner = Combiner(LAYOUT)
    combiner.combine([(0, updates((1, 0, 2))), (1, updates((7, 0, 3), (7, 1, 1)))])
    found = combiner.combine([(0, updates((7, 0, 0))), (1, updates((7, 0, 1), (8, 1, 0)))])
    assert states(found) == [(7, 0, 1), (8, 1, 0)]
