"""Fast ways to write times, to compare texts and to hash them, against the plain ones."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.rows.scalar.date_texts import texts_by_parts
from windrow.rows.scalar.hashes import HASHES
from windrow.rows.scalar.likenesses import levenshtein
from windrow.schema import BIGINT, INT
from windrow.times.formatting import Moment, format_moment
from windrow.times.patterns import read_pattern
from windrow.times.zones import UTC_ZONE

PARTS = (
    *("yyyy", "yy", "y", "M", "MM", "MMM", "LLLL", "d", "dd", "D", "E", "EEEE", "F", "G", "QQQ"),
    *("H", "HH", "hh", "K", "kk", "a", "m", "mm", "s", "ss", "S", "SSS", "SSSSSS", "SSSSSSSSS"),
    *("'at'", "''", "-", ":", " ", "[", "]"),
)
TEXTS = st.text("abé𝄞", max_size=9)


def is_read(pattern: str) -> bool:
    try:
        read_pattern(pattern, is_read=False)
    except Exception:
        return False
    return True


@given(
    st.lists(st.sampled_from(PARTS), min_size=1, max_size=7).map(" ".join).filter(is_read),
    st.lists(st.integers(-(10**17), 10**17) | st.integers(0, 10**7), max_size=8),
)
def test_times_are_written_as_one_by_one(text: str, instants: list[int]) -> None:
    pattern = read_pattern(text, is_read=False)
    wanted = [format_moment(pattern, Moment(each, 0, UTC_ZONE)) for each in instants]
    assert texts_by_parts(pattern, np.array(instants, np.int64)).to_pylist() == wanted


def slow_distance(one: str, other: str) -> int:
    before = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        current = [row]
        for column, wanted in enumerate(other, 1):
            changed = before[column - 1] + (letter != wanted)
            current.append(min(before[column] + 1, current[-1] + 1, changed))
        before = current
    return before[-1]


@given(TEXTS, TEXTS, st.none() | st.integers(0, 4))
def test_distances_are_those_of_the_whole_table(one: str, other: str, most: int | None) -> None:
    wanted = slow_distance(one, other)
    is_near = most is None or wanted <= most
    assert levenshtein(one, other, most) == (wanted if is_near else -1)


@given(st.lists(TEXTS | st.none(), min_size=1, max_size=8))
def test_equal_texts_are_hashed_once(texts: list[str | None]) -> None:
    for name, kind in (("hash", INT), ("xxhash64", BIGINT)):
        column = pa.array(texts, pa.string())
        single = [HASHES[name]([column[i : i + 1]], kind).to_pylist()[0] for i in range(len(texts))]
        assert HASHES[name]([column], kind).to_pylist() == single
