"""Spans of instants against a set of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.windows import instant_spans
from windrow.windows.instant_spans import InstantSpans

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 9)), max_size=12)


@given(spans=SPANS, forgotten=st.integers(0, 70))
def test_spans_are_the_instants_in_them(spans: list[tuple[int, int]], forgotten: int) -> None:
    found, truth = InstantSpans(), set[int]()
    for first, length in spans:
        found.add(first, first + length)
        truth |= set(range(first, first + length + 1))
    every = np.arange(-2, 75)
    assert found.is_empty == (not truth)
    assert np.flatnonzero(found.covers(every)).tolist() == sorted(each + 2 for each in truth)
    for instant in every.tolist():
        assert found.has(instant) == (instant in truth)
        assert found.meets(instant, instant + 3) == bool(truth & set(range(instant, instant + 4)))
        later = [each for each in truth if each >= instant and each + 1 not in truth]
        assert found.first_end(instant) == min(later, default=None)
    found.forget_before(forgotten)
    assert all(found.has(each) for each in truth if each >= forgotten)


@given(spans=SPANS)
def test_too_many_spans_become_wider_never_narrower(spans: list[tuple[int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(instant_spans, "SPANS_LIMIT", 3)
        found = InstantSpans()
        for first, length in spans:
            found.add(first, first + length)
            assert len(found._first) <= 3
    for first, length in spans:
        assert found.covers(np.arange(first, first + length + 1)).all()
