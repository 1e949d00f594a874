"""Long texts in an order: as their bytes are, and one of them makes no other row longer."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.operators.relations import text_tails
from windrow.operators.relations.order_words import MOST_WORDS, KeyOrder, OrderWords
from windrow.operators.relations.text_tails import TextTails

PREFIX = "p" * (8 * MOST_WORDS)
TEXTS = st.one_of(
    st.none(),
    st.text("ab\0", max_size=3),
    st.builds(lambda tail: PREFIX + tail, st.text("ab\0", max_size=4)),
    st.builds(lambda tail: "p" * 60 + tail, st.text("p\0z", max_size=9)),
)


def order_of(text: str | None, *, is_descending: bool) -> tuple[bool, bytes]:
    body = b"" if text is None else text.encode()
    # NULL is first; the complement of all bytes, with an end above them, turns an order round.
    turned = bytes(255 - byte for byte in body).replace(b"\xff", b"\xfe\x01") + b"\xff"
    return text is not None, turned if is_descending else body


@given(batches=st.lists(st.lists(TEXTS, min_size=1, max_size=6), max_size=5), turn=st.booleans())
def test_words_are_in_the_order_of_texts(batches: list[list[str | None]], turn: bool) -> None:
    words = OrderWords([KeyOrder(pa.string(), is_descending=turn), KeyOrder(pa.int64())])
    known: list[str | None] = []
    rows = np.empty((0, words.width), np.int64)
    for batch in batches:
        forms = words.forms()
        numbers = pa.array(range(len(batch)), pa.int64())
        more = words.encode([pa.array(batch, pa.string()), numbers])
        if forms != words.forms():
            rows = words.widened(rows, forms)
        rows, known = np.concatenate([rows, more]), [*known, *batch]
        keys = [order_of(text, is_descending=turn) for text in known]
        key_width = words.width_of(1)
        for one in range(len(known)):
            for other in range(len(known)):
                mine, theirs = (tuple(rows[i, :key_width].tolist()) for i in (one, other))
                assert (mine < theirs) == (keys[one] < keys[other]), (known[one], known[other])
                assert (mine == theirs) == (known[one] == known[other])


def test_ends_are_numbered_anew_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_tails, "_LAST", 1 << 8)
    monkeypatch.setattr(text_tails, "_STEP", 4)
    tails, some = TextTails(), random.Random(5)
    held: dict[bytes, int] = {}
    for _ in range(60):
        new = [some.randbytes(2) for _ in range(some.randint(1, 3))]
        before = tails.numbering
        numbers = tails.numbers(new)
        if tails.numbering != before:
            moved = tails.renumbered(np.array([*held.values()], np.int64)).tolist()
            held = dict(zip(held, moved, strict=True))
        held |= dict(zip(new, numbers.tolist(), strict=True))
        assert sorted(held, key=held.__getitem__) == sorted(held)
        assert len({*held.values()}) == len(held)
    assert tails.numbering > 1


def test_ends_that_no_row_has_are_forgotten() -> None:
    words = OrderWords([KeyOrder(pa.string())])
    kept = words.encode([pa.array([PREFIX + "kept"])])
    for number in range(40):
        words.encode([pa.array([PREFIX + f"{number:03}" + "x" * 100_000])])
        words.forget_ends(lambda: kept)
    assert words.nbytes < 2_500_000
    assert np.array_equal(words.encode([pa.array([PREFIX + "kept"])]), kept)


def test_one_long_text_makes_no_other_row_longer() -> None:
    def held(longest: int) -> int:
        session = windrow.connect(memory="200 MB")
        session.stream("s", "ts timestamp, name string", time="ts")
        query = session.query("SELECT name FROM s [1 HOUR] ORDER BY name DESC LIMIT 3")
        names = ["z" * longest, *(f"n{number:05}" for number in range(2_000))]
        times = pa.array(np.arange(len(names)), pa.timestamp("us"))
        session.push("s", pa.table({"ts": times, "name": names}))
        assert query.result()["name"].to_pylist()[0] == "z" * longest
        return query.nbytes

    # Eight words for each of 4,096 rows, and the text itself a few times.
    assert held(10_000) - held(5) < 4_096 * 8 * (MOST_WORDS + 1) + 20 * 10_000
