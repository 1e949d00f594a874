"""Instants that wait for the clock, against a sorted list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.event_time import END_OF_TIME
from windrow.windows import instants
from windrow.windows.instants import WaitingInstants

steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "add in order", "release", "distinct", "drop"]),
        st.lists(st.integers(0, 30), max_size=12),
    ),
    max_size=20,
)


@given(steps, st.integers(1, 4))
def test_each_way_takes_out_what_the_clock_has_passed(
    given_steps: list[tuple[str, list[int]]], long_run: int
) -> None:
    waiting, truth, clock = WaitingInstants(), [], 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instants, "LONG_RUN", long_run)
        patch.setattr(instants, "FEW_RUNS", 3)
        for name, numbers in given_steps:
            if name.startswith("add"):
                later = [clock + 1 + number for number in numbers]
                later = sorted(later) if name == "add in order" else later
                waiting.add(np.array(later, np.int64))
                truth = sorted([*truth, *later])
                continue
            clock += len(numbers)
            passed = [each for each in truth if each <= clock]
            truth = [each for each in truth if each > clock]
            if name == "release":
                assert waiting.release(clock).tolist() == passed
            elif name == "distinct":
                assert waiting.release_distinct(clock).tolist() == sorted(set(passed))
            else:
                wanted = (len(passed), passed[0] if passed else END_OF_TIME)
                assert waiting.drop(clock) == wanted
            assert (waiting.count, sorted(waiting.listed())) == (len(truth), truth)
