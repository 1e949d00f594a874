"""The rate of a stream, by which queries are admitted before they have rows of their own."""

from __future__ import annotations

import pytest

from windrow.governor.fading_rate import FadingRate

SECOND_US = 1_000_000
ROWS_A_SECOND = 2


@pytest.mark.parametrize("seconds", [1, 10, 60, 600, 3600])
def test_a_steady_rate_is_the_same_however_rows_are_batched(seconds: int) -> None:
    rate = FadingRate()
    last = seconds * SECOND_US - SECOND_US // ROWS_A_SECOND
    for start in range(0, 7200 * SECOND_US, seconds * SECOND_US):
        rate.add(start, start + last, seconds * ROWS_A_SECOND)
    assert rate.rows_per_second == pytest.approx(ROWS_A_SECOND, rel=0.02)


def test_rows_after_silence_count_for_their_own_time() -> None:
    rate = FadingRate()
    rate.add(0, 60 * SECOND_US, 60)
    rate.add(7200 * SECOND_US, 7260 * SECOND_US, 600)
    # Half of the weight of two hours lies in the last minute, in which ten a second came.
    assert rate.rows_per_second == pytest.approx(5, rel=0.02)


def test_rows_of_one_time_have_no_rate() -> None:
    rate = FadingRate()
    rate.add(5, 5, 100)
    assert rate.rows_per_second == 0


def test_a_few_rows_of_the_first_milliseconds_are_no_flood() -> None:
    rate = FadingRate()
    rate.add(0, 1_000, 24)
    assert rate.rows_per_second == pytest.approx(24, rel=0.02)
