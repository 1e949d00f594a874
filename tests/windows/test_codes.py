"""Codes of words, texts and composite keys against dictionaries, recycling included."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from windrow.windows import kernels
from windrow.windows import word_codes as codes_file
from windrow.windows.codes import NO_FLAGS, KeyCoder, TextCodes, WordCodes
from windrow.windows.column_words import array_of_words, words_of_array

Key = tuple[object, ...]
TYPES = [pa.int64(), pa.string(), pa.float64(), pa.decimal128(38)]
keys = st.tuples(
    st.sampled_from([0, 1, 2, -(2**63), 2**63 - 1, None]),
    st.sampled_from(["", "x", "日本", "z" * 100, None]),
    st.sampled_from([0.0, -0.0, 1.5, math.nan, math.inf, None]),
    # Two words, of which either may be that of another.
    st.sampled_from([None, *map(Decimal, (0, 5, 5 + 2**64, 2**64, -(2**64), 10**38 - 1))]),
)


def same_key(key: Key) -> Key:
    """The key as it is told apart: both zeros are one, every NaN is one."""
    return tuple(
        ("NaN" if value != value else value + 0.0) if isinstance(value, float) else value
        for value in key
    )


class CoderMachine(RuleBasedStateMachine):
    """Acquire and release keys at random; a dictionary says which codes must live."""

    def __init__(self) -> None:
        super().__init__()
        self.coder = KeyCoder(TYPES)
        self.code_of: dict[Key, int] = {}
        self.rows: Counter[int] = Counter()
        self.peak = 0

    @rule(batch=st.lists(keys, max_size=8))
    def acquire(self, batch: list[Key]) -> None:
        columns = [pa.array([key[i] for key in batch], kind) for i, kind in enumerate(TYPES)]
        codes = self.coder.acquire(columns).tolist()
        for key, code in zip(batch, codes, strict=True):
            known = self.code_of.setdefault(same_key(key), code)
            assert known == code
            self.rows[code] += 1
        assert len(set(self.code_of.values())) == len(self.code_of)
        self.peak = max(self.peak, len(self.code_of))

    @precondition(lambda self: self.rows.total())
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        held = sorted(self.rows.elements())
        leaving = data.draw(st.lists(st.sampled_from(range(len(held))), unique=True))
        codes = [held[place] for place in leaving]
        freed = self.coder.release(np.array(codes, np.int32)).tolist()
        self.rows -= Counter(codes)
        gone = {key for key, code in self.code_of.items() if not self.rows[code]}
        assert sorted(freed) == sorted(self.code_of[key] for key in gone)
        for key in gone:
            del self.code_of[key]

    @invariant()
    def holds_exactly_the_live_keys(self) -> None:
        assert self.coder.size == len(self.code_of)
        codes = np.array(list(self.code_of.values()), np.int32)
        assert codes.max(initial=-1) < self.peak  # recycled: never more codes than keys at once
        columns = [column.to_pylist() for column in self.coder.columns(codes)]
        found = [same_key(key) for key in zip(*columns, strict=True)]
        assert found == list(self.code_of)


TestCoder = CoderMachine.TestCase


@given(st.lists(st.lists(st.integers(0, 300), max_size=120), max_size=6), st.booleans())
def test_words_with_growth_and_gaps(batches: list[list[int]], has_null: bool) -> None:
    codes, code_of, held = WordCodes(), {}, []
    for number, batch in enumerate(batches):
        # Far apart and in runs: both kinds of words meet in the slots.
        words = np.array([word * (2**33 if number % 2 else 1) for word in batch], np.int64)
        valid = np.array([word % 7 != 0 for word in batch], np.uint8) if has_null else NO_FLAGS
        found = codes.encode(words, valid)
        fresh = codes.retain(found)
        assert sorted(fresh.tolist()) == sorted(set(found.tolist()) - set(held))
        for place, word in enumerate(words.tolist()):
            key = None if valid.size and not valid[place] else word
            assert code_of.setdefault(key, found[place]) == found[place]
        back, missing = codes.words(np.array(list(code_of.values()), np.int32))
        shown = [None if m else w for w, m in zip(back.tolist(), missing, strict=True)]
        assert shown == list(code_of)
        held += found.tolist()
        leaving, held = held[::2], held[1::2]
        dead = codes.release(np.array(leaving, np.int32))
        assert sorted(dead.tolist()) == sorted(set(leaving) - set(held))
        codes.forget(dead)
        code_of = {key: code for key, code in code_of.items() if code in set(held)}
        assert codes.size == len(code_of)


@given(st.lists(st.lists(st.text("abé", max_size=3) | st.none(), max_size=20), max_size=5))
def test_texts_are_freed_with_their_last_user(batches: list[list[str | None]]) -> None:
    codes = TextCodes()
    before = codes.nbytes
    held = []
    for batch in batches:
        found = codes.encode(pa.array(batch, pa.string()))
        codes.retain(found)
        assert codes.texts(found).to_pylist() == batch
        held.append(found)
    assert codes.size == len({text for batch in batches for text in batch})
    for found in held:
        codes.forget(codes.release(found))
    assert codes.size == 0
    codes.encode(pa.array([], pa.string()))
    assert codes.nbytes == before + codes.capacity * 8 - 64 * 8


ARRAYS = [
    pa.array([1, None, -(2**63)], pa.int64()),
    pa.array([1, None, -128], pa.int8()),
    pa.array([True, None, False]),
    pa.array([date(1969, 12, 31), None, date(9999, 1, 1)]),
    pa.array([Decimal("-1.25"), None, Decimal("9999999999999999.99")], pa.decimal128(18, 2)),
    pa.array([1.5, None, math.inf], pa.float32()),
    pa.array([5e-324, None, -1e300], pa.float64()),
    pa.array([0, None, -1], pa.timestamp("us", tz="UTC")),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: str(array.type))
def test_every_type_becomes_words_and_back(array: pa.Array) -> None:
    for column in (array, array.slice(1), array.slice(0, 1), array.slice(0, 0)):
        words, valid = words_of_array(column)
        missing = np.zeros(len(column), np.bool_) if not valid.size else valid == 0
        assert array_of_words(words, missing, column.type).equals(column)


def test_zeros_are_one_word_and_so_are_all_nans() -> None:
    nan = np.array([0x7FF8000000000001, 0x7FF0000000000001, -1], np.int64).view(np.float64)
    words, _ = words_of_array(pa.array(np.concatenate([nan, [math.nan, 0.0, -0.0]])))
    assert len(set(words[:4].tolist())) == 1
    assert words[4] == words[5]


@given(
    st.lists(
        st.tuples(
            st.lists(st.one_of(st.integers(-9, 9), st.none(), st.just(2**62)), max_size=12),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_guessed_codes_are_those_that_are_searched_for(
    batches: list[tuple[list[int | None], bool]],
) -> None:
    """The same codes whether words lie so close that their places are guessed, or not."""
    guessing, searching = WordCodes(), WordCodes()
    with pytest.MonkeyPatch.context() as patch:
        for batch, all_leave in batches:
            column = pa.array(batch, pa.int64())
            patch.setattr(codes_file, "NEAR_BATCH", 1)
            patch.setattr(codes_file, "NEAR_BATCHES", 2)
            guessed = guessing.acquire(column)
            patch.setattr(codes_file, "NEAR_BATCH", 2**62)
            assert guessed.tolist() == searching.acquire(column).tolist()
            if all_leave:  # codes are freed, and used for other words, or for NULL
                for each in (guessing, searching):
                    each.forget(each.release(guessed))


def test_words_that_lie_close_together_are_guessed() -> None:
    codes = WordCodes()
    words = np.arange(5_000, 6_000)
    codes.acquire(pa.array(words))
    held = codes.nbytes
    assert codes.encode(words, NO_FLAGS).tolist() == list(range(1000))
    assert codes.nbytes == held > searched_bytes(words)


def searched_bytes(words: np.ndarray) -> int:
    """Bytes of codes for which nothing is guessed: the words come in small batches."""
    codes = WordCodes()
    for part in np.split(words, 10):
        codes.acquire(pa.array(part))
    return codes.nbytes


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=60, unique=True),
    st.integers(0, 8),
    st.sampled_from([2, 4, 8]),
    st.integers(1, 2),
)
def test_every_word_is_found_once_slots_are_spread(
    words: list[int], gone: int, times: int, spreads: int
) -> None:
    codes = WordCodes()
    before = kernels.EMPTY
    # Full to the last slot but one, as growing only needs a free one: runs go over the end.
    slot_word, slot_code = np.zeros(64, np.int64), np.full(64, before, np.int32)
    for code, word in enumerate(words):
        kernels.put_into_slot(word, np.int32(code), slot_word, slot_code)
    word_of_code = np.array([*words, 0], np.int64)
    counters = np.array([len(words), len(words), 0, before], np.int64)
    free = np.zeros(64, np.int32)
    leaving = np.arange(min(gone, len(words)), dtype=np.int32)
    kernels.remove_codes(leaving, slot_word, slot_code, word_of_code, free, counters)
    longer_word = np.concatenate([slot_word, np.zeros(64 * (times - 1), np.int64)])
    longer_code = np.concatenate([slot_code, np.full(64 * (times - 1), before, np.int32)])
    for _ in range(spreads):
        kernels.spread_slots(longer_word, longer_code, 64)
    assert np.count_nonzero(longer_code != before) == len(words) - leaving.size
    vars(codes).update(
        _slot_word=longer_word, _slot_code=longer_code, _word_of_code=word_of_code,
        _free=free, _references=np.zeros(64, np.int32), _counters=counters,
    )  # fmt: skip
    kept = np.array(words[leaving.size :], np.int64)
    found = codes.encode(kept, np.empty(0, np.uint8))
    assert found.tolist() == list(range(leaving.size, len(words)))


def test_slots_that_grew_are_spread_although_something_came_in_between() -> None:
    codes, words = WordCodes(), np.arange(30_000)
    expected = codes.acquire(pa.array(words)).tolist()
    broken = pytest.MonkeyPatch()
    with broken.context() as patch:
        patch.setattr(WordCodes, "_spread", interrupt_second_call())
        with pytest.raises(KeyboardInterrupt):
            codes.grow(200_000)
    assert codes.encode(words, np.empty(0, np.uint8)).tolist() == expected
    codes.forget(codes.release(np.arange(10, dtype=np.int32)))
    assert codes.size == words.size - 10


def interrupt_second_call() -> Callable[[WordCodes], None]:
    """What spreads nothing the first time, and is broken off the second time."""
    calls = iter([False, True])

    def spread(_codes: WordCodes) -> None:
        if next(calls):
            raise KeyboardInterrupt

    return spread
