"""Group updates on their way out against a list: given away, copied, or left for the next step."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from windrow.operators.group_updates import OutputRoom
from windrow.operators.keyed import kernels
from windrow.operators.lanes import LaneLayout

LAYOUT = LaneLayout.fewest(((0,),))

# Of each step how many updates come at how many instants, and whether the last one is not yet due.
counts = st.integers(0, 40) | st.sampled_from([1_023, 1_024, 1_500, 3_000])
steps = st.lists(st.tuples(counts, st.integers(1, 5), st.booleans()), max_size=8)
Row = tuple[int, int, int, int]


def _write(room: OutputRoom, rows: list[Row]) -> None:
    """Write rows as kernels do: those of the newest instant begin at NOW_FROM."""
    room.reserve(len(rows))
    control = room.control
    for at, group, count, lane in rows:
        place = int(control[kernels.USED] - control[kernels.FIRST])
        if at != control[kernels.NOW]:
            control[kernels.NOW], control[kernels.NOW_FROM] = at, control[kernels.USED]
        room.at[place], room.group[place], room.count[place] = at, group, count
        room.lanes[place] = lane
        control[kernels.USED] += 1


@given(steps)
@example([(3_000, 5, True), (0, 1, False), (3_000, 1, False), (2, 1, False)])
def test_what_is_drained_is_what_was_written(given_steps: list[tuple[int, int, bool]]) -> None:
    room, waiting, now, number = OutputRoom(), list[Row](), 0, 0
    drained, expected = [], list[Row]()
    for count, instants, is_early in given_steps:
        room.fit(1)
        first = now + 1
        rows = [
            (first + i * instants // max(count, 1), number + i, 2 * i, -i) for i in range(count)
        ]
        now, number = first + instants, number + count
        _write(room, rows)
        waiting += rows
        newest = waiting[-1][0] if waiting else 0
        until = newest - 1 if is_early else newest
        drained.append(room.drain(LAYOUT, until))
        expected += [row for row in waiting if row[0] <= until]
        waiting = [row for row in waiting if row[0] > until]
        assert room.used == len(waiting)
        assert room.at.size <= max(1_024, 4 * len(waiting))
    # Nothing that was given away is written over by what came later.
    columns = [np.concatenate(each) for each in zip(*map(_columns, drained), strict=True)] or [[]]
    assert list(zip(*(list(map(int, each)) for each in columns), strict=True)) == expected


def _columns(updates: object) -> list[np.ndarray]:
    found = [getattr(updates, name) for name in ("at", "group", "count")]
    return [*found, updates.lanes[:, 0]]


def test_what_is_given_away_is_about_as_large_as_what_it_holds() -> None:
    room = OutputRoom()
    for count in (2_000, 2_000, 1_500, 30, 2_000):
        room.fit(1)
        _write(room, [(count + i, i, 1, 1) for i in range(count)])
        at = room.drain(LAYOUT, 10_000).at
        assert at.size == count
        assert (at if at.base is None else at.base).size <= count * 8 // 7 + 1
