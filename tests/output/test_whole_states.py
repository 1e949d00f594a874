"""An ungrouped aggregate that keeps states shows what one that keeps rows does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.operators.lanes import LaneLayout
from windrow.output.state_log import States
from windrow.output.whole_feed import WholeFeed

SCHEMA = pa.schema([("n", pa.int64()), ("s", pa.int64())])
LAYOUT = LaneLayout.smallest(((0,),))
LAYOUTS = [LAYOUT, LAYOUT.nullable()]
steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("record"),
            st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=6),
            st.booleans(),
        ),
        st.tuples(st.sampled_from(["answers", "changes", "result", "load"])),
    ),
    max_size=16,
)


def table_of(states: States) -> pa.Table:
    return pa.table({"n": states.count, "s": np.ascontiguousarray(states.lanes[:, 0])})


@given(steps)
def test_states_are_read_as_their_rows(given_steps: list[Any]) -> None:
    late, early = WholeFeed(SCHEMA, table_of), WholeFeed(SCHEMA, table_of)
    at = 0
    for name, *values in given_steps:
        if name == "record":
            changes, is_other = values
            times = at + np.cumsum([1 + wait for wait, _ in changes])
            layout = LAYOUTS[is_other]
            lanes = np.zeros((times.size, layout.lane_count), np.int64)
            lanes[:, 0] = [7 * value for _, value in changes]
            count = np.array([value for _, value in changes], np.int64)
            many, group = (count > 0).astype(np.int64), np.zeros(times.size, np.int32)
            states = States(group, count, lanes, layout, np.empty((times.size, 0), np.int64))
            late.record(times, group, many, states)
            early.record(times, group, many, table_of(states))
            instants, at = np.arange(at + 1, int(times[-1]) + 1), int(times[-1])
            for feed in (late, early):
                feed.ask(instants)
                feed.trim()
        elif name == "load":
            loaded = WholeFeed(SCHEMA, table_of)
            loaded.load(late.tables(), np.zeros(1, np.int32))
            late = loaded
        else:
            found, wanted = (getattr(feed, name)() for feed in (late, early))
            assert found.to_pydict() == wanted.to_pydict()
