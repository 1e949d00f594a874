"""Which rows are too far ahead: the judge row by row, however rows are cut into batches."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.event_time import START_OF_TIME
from windrow.windows.plausible_times import CONFIRMING, PlausibleTimes

NOW, WALL, ROWS = 10_000, 1_000, 10


def accepted(judge: PlausibleTimes, pieces: list[list[int]]) -> list[int]:
    """The times that count, in the order in which they do."""
    newest, taken = START_OF_TIME, []
    for piece in pieces:
        all_of = [*judge.waiting_us, *piece]
        foreseen = judge.believed(np.array(piece, np.int64), newest, NOW).tolist()
        verdict = judge.judge(np.array(piece, np.int64), newest, NOW)
        if verdict is None:
            now_taken = piece
        else:
            assert sorted(np.concatenate([*vars(verdict).values()])) == list(range(len(all_of)))
            now_taken = [all_of[place] for place in verdict.accepted]
        assert foreseen == now_taken
        taken += now_taken
        newest = max([newest, *now_taken])
    return taken


def of_rows() -> PlausibleTimes:
    return PlausibleTimes(WALL, ROWS)


def test_a_row_beyond_the_clock_on_the_wall_is_set_aside_even_as_the_first() -> None:
    judge = PlausibleTimes(WALL)
    assert accepted(judge, [[NOW + WALL + 1], [1, NOW + WALL], [2**60, 2]]) == [1, NOW + WALL, 2]
    assert accepted(PlausibleTimes(None), [[2**60, 1]]) == [2**60, 1]


def test_a_row_ahead_of_all_others_is_set_aside() -> None:
    assert accepted(of_rows(), [[1, 5, 900, 6, 16, 27, 17]]) == [1, 5, 6, 16, 17]
    assert accepted(of_rows(), [[1, 900, 902, 3, 900, 4]]) == [1, 3, 4]


def test_rows_that_agree_show_that_time_has_moved_on() -> None:
    assert accepted(of_rows(), [[1, 900, 905, 903, 906]]) == [1, 900, 905, 903, 906]
    assert accepted(of_rows(), [[1, 500, 900, 905, 903, 906]]) == [1, 900, 905, 903, 906]


def test_a_row_of_about_now_is_believed_at_once() -> None:
    assert accepted(of_rows(), [[1, NOW - ROWS, 2, NOW + ROWS + ROWS]]) == [1, NOW - ROWS, 2]


def test_a_heartbeat_confirms_rows_that_wait() -> None:
    judge = of_rows()
    judge.judge(np.array([1, 900]), START_OF_TIME, NOW)
    assert judge.waiting_us == [900]
    verdict = judge.judge(np.array([901]), 895, NOW)
    assert verdict is not None
    assert (verdict.accepted.tolist(), judge.waiting_us) == ([0, 1], [])


@given(
    st.lists(st.sampled_from([1, 3, 9, 30, 31, 39, 70, 72, 500, NOW - 5, NOW, NOW + WALL + 1])),
    st.lists(st.integers(0, 20), max_size=5),
)
def test_it_does_not_matter_how_rows_are_cut(times: list[int], cuts: list[int]) -> None:
    whole, cut = of_rows(), of_rows()
    edges = [0, *sorted(min(each, len(times)) for each in cuts), len(times)]
    pieces = [times[a:b] for a, b in pairwise(edges)]
    assert accepted(cut, pieces) == accepted(whole, [times])
    assert cut.waiting_us == whole.waiting_us
    assert len(whole.waiting_us) < CONFIRMING
