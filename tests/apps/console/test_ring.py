"""The ring of a feed against a twin that keeps every row in a list."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from windrow.apps.console.ring import CHUNK_ROWS, FeedRing

SCHEMA = pa.schema([("n", pa.int64())])


class SlowRing:
    """All rows ever, of which the newest are readable."""

    def __init__(self, rows_kept: int) -> None:
        self.rows: list[int] = []
        self.kept = rows_kept

    @property
    def first(self) -> int:
        return max(1, len(self.rows) - self.kept + 1)

    def read(self, after: int, limit: int) -> tuple[list[int], int, int, int]:
        after = after if after <= len(self.rows) else 0
        begin = max(after + 1, self.first)
        end = min(begin + limit, len(self.rows) + 1)
        return self.rows[begin - 1 : end - 1], end - 1, self.first, begin - after - 1


def table(values: list[int]) -> pa.Table:
    return pa.table({"n": pa.array(values, pa.int64())})


steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 40)),
        st.tuples(st.just("read"), st.tuples(st.integers(0, 300), st.integers(0, 60))),
        st.tuples(st.just("newest"), st.integers(0, 60)),
    ),
    max_size=60,
)


@given(steps, st.integers(1, 50))
def test_every_read_is_what_the_slow_twin_says(steps: list[tuple[str, object]], kept: int) -> None:
    ring, slow = FeedRing(SCHEMA, rows_kept=kept), SlowRing(kept)
    for kind, given_ in steps:
        if kind == "add":
            assert isinstance(given_, int)
            values = list(range(len(slow.rows), len(slow.rows) + given_))
            ring.add(table(values))
            slow.rows += values
        elif kind == "read":
            assert isinstance(given_, tuple)
            piece = ring.read(*given_)
            rows, next_, first, missed = slow.read(*given_)
            assert piece.table["n"].to_pylist() == rows
            assert (piece.next, piece.first, piece.missed) == (next_, first, missed)
        else:
            assert isinstance(given_, int)
            piece = ring.newest(given_)
            wanted = slow.rows[slow.first - 1 :]
            assert piece.table["n"].to_pylist() == wanted[max(0, len(wanted) - given_) :]
            assert (piece.next, piece.missed) == (len(slow.rows), 0)
    assert ring.last == len(slow.rows)


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 25), st.integers(1, 7))
def test_clients_who_read_in_pieces_read_the_whole_feed(
    sizes: list[int], limit: int, clients: int
) -> None:
    ring = FeedRing(SCHEMA, rows_kept=10_000)
    read: list[list[int]] = [[] for _ in range(clients)]
    places = [0] * clients
    total = 0
    for step, size in enumerate(sizes):
        ring.add(table(list(range(total, total + size))))
        total += size
        for client in range(clients):
            if step % (client + 1) == 0:  # some look less often
                piece = ring.read(places[client], limit * (client + 1))
                assert piece.missed == 0
                read[client] += piece.table["n"].to_pylist()
                places[client] = piece.next
    for client in range(clients):
        read[client] += ring.read(places[client], total).table["n"].to_pylist()
        assert read[client] == list(range(total))


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 20), st.integers(1, 9))
def test_who_is_too_slow_is_told_exactly_what_was_missed(
    sizes: list[int], kept: int, every: int
) -> None:
    ring = FeedRing(SCHEMA, rows_kept=kept)
    place, total, read, missed = 0, 0, 0, 0
    for step, size in enumerate(sizes):
        ring.add(table(list(range(total, total + size))))
        total += size
        if step % every == 0:
            piece = ring.read(place, kept)
            read, missed = read + piece.table.num_rows, missed + piece.missed
            place = piece.next
            assert read + missed == place
    piece = ring.read(place, kept)
    assert read + missed + piece.table.num_rows + piece.missed == total


def test_many_small_tables_are_put_together() -> None:
    ring = FeedRing(SCHEMA)
    for value in range(3 * CHUNK_ROWS):
        ring.add(table([value]))
    assert len(ring._chunks) < 30
    assert ring.read(0, 10**6).table["n"].to_pylist() == list(range(3 * CHUNK_ROWS))
    assert ring.nbytes == sum(chunk.nbytes for chunk in ring._chunks)


def test_bytes_are_bounded_too() -> None:
    ring = FeedRing(pa.schema([("s", pa.string())]), bytes_kept=100_000)
    for _ in range(100):
        ring.add(pa.table({"s": ["x" * 10_000]}))
        assert ring.nbytes <= 100_000 + 10_100
    piece = ring.read(0, 100)
    assert piece.missed == 100 - piece.table.num_rows > 80


def test_who_comes_from_another_feed_begins_anew() -> None:
    ring = FeedRing(SCHEMA)
    ring.add(table([1, 2]))
    assert ring.read(2, 10).table.num_rows == 0
    assert ring.read(7, 10).table["n"].to_pylist() == [1, 2]
