"""Texts found by their bytes have the codes of a dictionary, whatever was forgotten."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.windows import known_texts
from windrow.windows.codes import TextCodes
from windrow.windows.known_texts import KnownTexts

# Short and long ones, beginnings of others, and characters of several bytes.
TEXTS = ["", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", "é", "zz\0", "zz", "x" * 63, "x" * 64]
TEXTS += [f"key-{number}" for number in range(30)]
batches = st.lists(
    st.tuples(st.lists(st.sampled_from(TEXTS), max_size=60), st.integers(0, 3), st.booleans()),
    max_size=8,
)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few texts are many, and the room for them is small."""
    monkeypatch.setattr(known_texts, "LEAST_BATCH", 4)
    monkeypatch.setattr(known_texts, "MOST_CODES", 16)
    monkeypatch.setattr(known_texts, "_SLOTS", 32)
    monkeypatch.setattr(known_texts, "MOST_WORDS", 40)
    monkeypatch.setattr(known_texts, "BATCHES_LET_BE", 1)


@given(batches)
def test_codes_are_those_of_a_dictionary(given_batches: list[tuple[list[str], int, bool]]) -> None:
    codes = TextCodes()
    meaning: dict[str | None, int] = {}
    users: list[np.ndarray] = []
    for texts, start, has_null in given_batches:
        # Four times each, or nothing is learned; a slice begins anywhere in its buffers.
        given_texts: list[str | None] = [*(["b"] * start), *texts * 4]
        if has_null:
            given_texts.append(None)
        found = codes.acquire(pa.array(given_texts, pa.string()).slice(start))
        wanted = given_texts[start:]
        assert codes.texts(found).to_pylist() == wanted
        for text, code in zip(wanted, found.tolist(), strict=True):
            assert meaning.setdefault(text, code) == code
        users.append(found)
        if len(users) > 2:
            gone = codes.release(users.pop(0))
            forgotten = codes.texts(gone).to_pylist()
            codes.forget(gone)
            for text in forgotten:
                del meaning[text]
        assert codes.size == len(meaning)


def test_texts_that_come_again_are_found_without_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, texts = TextCodes(), pa.array(["key-1", "a", "é"] * 8)
    first, before = codes.encode(texts), codes.nbytes
    assert codes._often.nbytes > 0
    assert before <= codes.nbytes
    monkeypatch.setattr(codes, "_looked_up", lambda _: pytest.fail("it is known"))
    assert codes.encode(texts).tolist() == first.tolist()


def test_what_is_known_takes_no_more_than_was_foretold() -> None:
    known, texts = KnownTexts(), pa.array([f"key-{number % 20}" for number in range(100)])
    foretold = known.growth_bytes(100)
    known.learn(
        pa.array([f"key-{number}" for number in range(20)]), np.arange(20, dtype=np.int32), texts
    )
    assert 0 < known.nbytes <= foretold
    found = known.codes(texts)
    assert found is not None
    wanted = [number % 20 if number % 20 < 16 else -1 for number in range(100)]
    assert all(each in (code, -1) for each, code in zip(found.tolist(), wanted, strict=True))
    assert (found >= 0).any()


def test_where_most_are_strange_it_is_let_be_for_a_while() -> None:
    known = KnownTexts()
    texts, others = pa.array(["a", "b"] * 8), pa.array(["c", "d"] * 8)
    known.learn(pa.array(["a", "b"]), np.array([0, 1], np.int32), texts)
    found = known.codes(others)
    assert found is not None
    assert set(found.tolist()) == {-1}
    known.learn(pa.array(["a", "b"]), np.array([0, 1], np.int32), texts)
    assert known.codes(texts) is None
    known.learn(pa.array(["a", "b"]), np.array([0, 1], np.int32), texts)
    found = known.codes(texts)
    assert found is not None
    assert found.tolist() == [0, 1] * 8
