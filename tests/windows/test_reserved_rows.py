"""Rows on reserved addresses: as in ordinary arrays, never copied to grow, and counted exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.resident import resident_bytes
from windrow.event_time import END_OF_TIME
from windrow.windows import growing, moving, reserved, row_store
from windrow.windows.codes import NO_FLAGS, WordCodes
from windrow.windows.marks import Assignments
from windrow.windows.row_store import RowStore
from windrow.windows.window import Window

needs_addresses = pytest.mark.skipif(
    not reserved.CAN_RESERVE, reason="this system reserves no addresses: rows are in plain arrays"
)


@pytest.fixture(autouse=True)
def _few_rows() -> Iterator[None]:
    """Few rows are many: a hundred of them are on reserved addresses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_store, "FEW_ROWS", 100)
        patch.setattr(row_store, "GONE_ROWS", 64)
        patch.setattr(moving, "PIECE", 512)
        yield


class Rows:
    """A store with one window on it, and what they should hold."""

    def __init__(self) -> None:
        self.store = RowStore(2)
        self.window = Window(2, store=self.store, chosen=(0, 1))
        self.times: list[int] = []
        self.count = 0

    def push(self, count: int, *, is_back: bool = False, has_null: bool = False) -> None:
        numbers = np.arange(self.count, self.count + count)
        times = numbers[::-1].copy() if is_back else numbers
        valid = np.ones((2, count), np.uint8) if has_null else row_store.NO_MATRIX
        self.store.append(times, np.stack([times, -times]), valid)
        codes = (times % 1_000).astype(np.int32)
        self.window.append(times, codes, np.stack([times, -times]), valid)
        self.times += sorted(times.tolist())
        self.count += count

    def go(self, rows: int) -> None:
        """The clock passes all rows, and the oldest leave."""
        cursor = self.window.columns.cursor
        cursor[1] = self.store.end
        cursor[0] += rows
        self.times = self.times[rows:]

    def check(self) -> None:
        columns, store = self.window.columns, self.store
        places = slice(columns.head, store.end)
        assert store.times[places].tolist() == self.times
        assert store.times[store.end] == END_OF_TIME
        assert store.values[0, places].tolist() == self.times
        assert store.values[1, places].tolist() == [-each for each in self.times]
        assert columns.codes[places].tolist() == [each % 1_000 for each in self.times]
        assert not store.valid.size or store.valid[:, places].all()

    def resident(self) -> int:
        return sum(map(resident_bytes, self.store._columns()))


operations = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, 3_000), st.booleans(), st.booleans()),
        st.tuples(st.just("go"), st.integers(0, 100)),
        st.tuples(st.just("trim")),
        st.tuples(st.just("rewind"), st.integers(1, 2_000)),
        st.tuples(st.just("value")),
    ),
    max_size=14,
)


@settings(max_examples=40)
@given(operations)
def test_rows_are_those_that_were_pushed_and_bytes_those_that_are_there(
    given_operations: list[Any],
) -> None:
    rows = Rows()
    for name, *given_values in given_operations:
        if name == "push":
            count, is_back, has_null = given_values
            after, most = rows.store.bytes_after(count)
            had_flags = rows.store.valid.size > 0
            rows.push(count, is_back=is_back, has_null=has_null)
            if count and (had_flags or not has_null):
                assert rows.store.nbytes_of_all <= min(most, after + 64)
        elif name == "go":
            rows.go(len(rows.times) * given_values[0] // 100)
        elif name == "trim":
            rows.store.trim()
        elif name == "rewind":
            mark, times = rows.store.mark(), list(rows.times)
            rows.push(given_values[0])
            rows.store.rewind(mark)
            rows.store.keep()
            rows.times, rows.count = times, rows.count - given_values[0]
        else:
            changes = Assignments()
            rows.store.add_value(changes)
            rows.store.make(changes)
            changes = Assignments()
            rows.store.keep_values([0, 1], changes)
            rows.store.make(changes)
        rows.check()
        if rows.store.is_reserved:
            assert rows.store.nbytes_of_all >= rows.resident()


@needs_addresses
def test_what_is_counted_is_what_is_resident_and_little_more_than_rows() -> None:
    rows = Rows()
    for _ in range(60):
        rows.push(1_000)
        rows.go(1_000 if len(rows.times) > 20_000 else 0)
    assert rows.store.nbytes_of_all == rows.resident()
    assert rows.store.nbytes_of_all <= 1.15 * 28 * len(rows.times)
    rows.store.trim()
    assert rows.store.nbytes_of_all == rows.resident() <= 1.03 * 28 * len(rows.times)
    rows.go(len(rows.times) - 10)
    rows.store.trim()
    assert not rows.store.is_reserved
    assert rows.store.nbytes_of_all < 4_000
    rows.check()


@needs_addresses
def test_growing_copies_nothing() -> None:
    rows = Rows()
    rows.push(5_000)
    columns = rows.store._columns()
    for _ in range(6):
        rows.push(5_000)
    assert all(a is b for a, b in zip(rows.store._columns(), columns, strict=True))
    rows.check()


@needs_addresses
@pytest.mark.parametrize("breaks_at", range(1, 40, 3))
def test_a_move_that_is_broken_off_loses_nothing(
    breaks_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = Rows()
    rows.push(2_000)
    rows.go(300)
    calls, give_back = [0], moving.give_back

    def breaking(*given_values: Any) -> bool:
        calls[0] += 1
        if calls[0] == breaks_at:
            raise KeyboardInterrupt
        return give_back(*given_values)

    monkeypatch.setattr(moving, "give_back", breaking)
    try:
        rows.store._move(rows.store.capacity)
    except KeyboardInterrupt:
        rows.store.complete()
    assert calls[0] >= 16
    rows.check()
    assert rows.store.nbytes_of_all == rows.resident()


@needs_addresses
def test_pages_of_rows_that_left_are_used_again() -> None:
    rows = Rows()
    rows.push(3_000)
    rows.go(0)
    rows.push(5_000)
    held, columns = rows.store.nbytes_of_all, rows.store._columns()
    for _ in range(20):
        rows.go(5_000)
        rows.push(5_000, is_back=True)
        rows.check()
        assert rows.store.nbytes_of_all == held >= rows.resident()
    assert all(a is b for a, b in zip(rows.store._columns(), columns, strict=True))
    assert rows.store.base == 100_000
    rows.push(10)  # a few rows for many that are held: these do not move
    assert rows.store.base == 100_000


class _Breaking(np.ndarray):
    """An array that breaks off a write: before it, or when it is done."""

    writes = 0

    def __setitem__(self, places: Any, values: Any) -> None:
        self.writes -= 1
        if self.writes == 1:
            raise KeyboardInterrupt
        super().__setitem__(places, values)
        if self.writes == 0:
            raise KeyboardInterrupt


@given(st.integers(1, 9), st.integers(0, 30), st.integers(0, 8), st.integers(1, 60))
def test_moving_down_can_be_broken_off_at_any_piece(
    way: int, held: int, first: int, writes: int
) -> None:
    start = first + way
    column = np.arange(2 * 50).reshape(2, 50).view(_Breaking)
    column.writes = writes
    move = moving.MoveDown(column, slice(start, start + held), way)
    for _ in range(2):
        try:
            move.finish()
        except KeyboardInterrupt:
            column.writes = 0
    expected = np.arange(2 * 50).reshape(2, 50)
    expected[:, first : first + held] = expected[:, start : start + held].copy()
    found = np.asarray(column)
    assert (found[:, : first + held] == expected[:, : first + held]).all()


def test_where_addresses_are_refused_rows_are_in_ordinary_arrays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(row_store, "reserved", lambda *_: None)
    rows = Rows()
    for _ in range(30):
        rows.push(500)
        rows.go(500 if len(rows.times) > 4_000 else 0)
        rows.check()
    assert not rows.store.is_reserved
    assert rows.store.nbytes_of_all <= 2 * 28 * len(rows.times)


@needs_addresses
def test_tables_of_codes_grow_in_place_by_parts() -> None:
    codes, words = WordCodes(), np.arange(200_000) * 7
    codes.encode(words[:50_000], NO_FLAGS)
    before = codes._word_of_code
    foretold = codes.nbytes + codes.growth_bytes(words.size - 50_000)
    found = codes.encode(words, NO_FLAGS)
    assert found.tolist() == list(range(words.size))
    assert codes._word_of_code.__array_interface__["data"] == before.__array_interface__["data"]
    assert codes.capacity <= words.size * 9 / 8
    assert codes.nbytes <= foretold
    assert codes.words(found[::1_000])[0].tolist() == words[::1_000].tolist()


def test_an_array_is_enlarged_with_or_without_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (growing.FEW_BYTES, 1 << 40):
        monkeypatch.setattr(growing, "FEW_BYTES", part)
        array = np.arange(20_000, dtype=np.int64).reshape(-1, 2)
        for size in (10_001, 12_000, 400_000):
            foretold = array.nbytes + growing.enlarging_bytes([array], size)
            array = growing.enlarged(array, size, fill=-1)
            assert array.nbytes <= foretold
            assert array.shape == (size, 2)
            assert array[:10_000].tolist() == np.arange(20_000).reshape(-1, 2).tolist()
            assert (array[10_000:] == -1).all()
        assert growing.enlarged(array, 5) is array
