"""Rows between requests and the loop: bounded, kept once, and told when they are."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.connectors.http import inbox as inboxes
from windrow.connectors.http.connector import HttpSource
from windrow.connectors.http.inbox import FullError, GapError, Inbox, NotReadyError
from windrow.connectors.live import Position
from windrow.errors import UnsupportedError
from windrow.rows.file_rows import FileRows
from windrow.schema import StreamSchema, columns_of


def rows(*values: int) -> FileRows:
    return FileRows(pa.RecordBatch.from_pydict({"x": pa.array(values, pa.int64())}))


def open_inbox(most_bytes: int = 1_000) -> Inbox:
    made = Inbox(most_bytes)
    made.open(None)
    return made


def taken_of(inbox: Inbox) -> list[int]:
    found = inbox.take(1_000_000, 0)
    return (
        [] if found is None else [x for each in found[0] for x in each.rows.batch["x"].to_pylist()]
    )


def test_rows_are_kept_when_they_are_confirmed() -> None:
    inbox = open_inbox()
    first, _ = inbox.offer(rows(1), 10)
    second, _ = inbox.offer(rows(2, 3), 10)
    found = inbox.take(1, 0)
    assert found is not None
    batches, position = found
    assert [each.number for each in batches] == [1]
    assert inbox.nbytes == 20
    assert taken_of(inbox) == [2, 3]
    assert not first.done()
    inbox.confirm(position["batches"])
    assert (first.done(), second.done(), inbox.has_unconfirmed, inbox.nbytes) == (
        True,
        False,
        True,
        10,
    )
    inbox.confirm(2)
    assert (second.result(), inbox.nbytes) == (None, 0)


def test_what_waits_has_a_limit_until_it_is_confirmed() -> None:
    inbox = open_inbox(most_bytes=100)
    inbox.offer(rows(1), 500)  # more than all the room, where nothing else waits
    with pytest.raises(FullError):
        inbox.offer(rows(2), 1)
    assert taken_of(inbox) == [1]
    with pytest.raises(FullError):
        inbox.offer(rows(2), 1)
    inbox.confirm(1)
    inbox.offer(rows(2), 60)
    inbox.offer(rows(3), 40)
    with pytest.raises(FullError):
        inbox.offer(rows(4), 1)


def test_nothing_is_taken_before_it_is_open_or_afterwards() -> None:
    inbox = Inbox(100)
    with pytest.raises(NotReadyError):
        inbox.offer(rows(1), 1)
    inbox.open(None)
    waiting, _ = inbox.offer(rows(1), 1)
    inbox.close()
    assert isinstance(waiting.exception(timeout=0), NotReadyError)
    with pytest.raises(NotReadyError):
        inbox.offer(rows(1), 1)
    inbox.open({"batches": 0, "producers": []})  # the source was opened again
    inbox.offer(rows(2), 1)
    assert taken_of(inbox) == [2]


def test_a_producer_that_counts_is_heard_once() -> None:
    inbox = open_inbox()
    first, _ = inbox.offer(rows(7), 1, "p", 7)  # whatever it begins with
    again, is_repeated = inbox.offer(rows(7), 1, "p", 7)
    assert (again, is_repeated) == (first, True)
    with pytest.raises(GapError) as raised:
        inbox.offer(rows(9), 1, "p", 9)
    assert raised.value.expected == 8
    inbox.offer(rows(8), 1, "p", 8)
    inbox.offer(rows(1), 1, "other", 0)
    assert taken_of(inbox) == [7, 8, 1]
    inbox.confirm(3)
    again, is_repeated = inbox.offer(rows(7), 1, "p", 7)
    assert (again.done(), is_repeated) == (True, True)
    assert taken_of(inbox) == []


def test_a_position_knows_no_more_than_was_taken() -> None:
    inbox = open_inbox()
    for sequence in (1, 2, 3):
        inbox.offer(rows(sequence), 1, "p", sequence)
    found = inbox.take(2, 0)
    assert found is not None
    assert found[1] == {"batches": 2, "producers": [["p", 2]]}
    later = Inbox(1_000)  # another process, from there on
    later.open(found[1])
    with pytest.raises(GapError):
        later.offer(rows(4), 1, "p", 4)
    assert later.offer(rows(2), 1, "p", 2)[1]
    later.offer(rows(3), 1, "p", 3)
    assert taken_of(later) == [3]


def test_the_producer_that_was_silent_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inboxes, "PRODUCERS_LIMIT", 2)
    inbox = open_inbox()
    for producer, sequence in (("a", 1), ("b", 1), ("a", 2), ("c", 1)):
        inbox.offer(rows(sequence), 1, producer, sequence)
    assert inbox.offer(rows(2), 1, "a", 2)[1]
    assert not inbox.offer(rows(1), 1, "b", 1)[1]


STEPS = st.lists(st.sampled_from(["send", "take", "confirm", "crash"]), max_size=60)


class Sender:
    """A producer that sends a batch until it is kept, and the state of the session that it feeds.

    The position is written with the rows: a crash loses what has none.
    """

    def __init__(self) -> None:
        self.inbox = open_inbox(10_000)
        self.state: list[int] = []
        self.position: Position | None = None
        self.sequence = 1
        self.kept: Future[None] | None = None

    def send(self) -> None:
        self.note()
        self.kept, _ = self.inbox.offer(rows(self.sequence), 1, "p", self.sequence)
        self.note()

    def take(self) -> None:
        found = self.inbox.take(1, 0)
        if found is not None:
            self.state += [x for each in found[0] for x in each.rows.batch["x"].to_pylist()]
            self.position = found[1]

    def confirm(self) -> None:
        if self.position is not None:
            self.inbox.confirm(self.position["batches"])

    def crash(self) -> None:
        self.inbox.close()
        self.inbox = Inbox(10_000)
        self.inbox.open(self.position)

    def note(self) -> None:
        if self.kept is not None and self.kept.done() and self.kept.exception() is None:
            self.sequence, self.kept = self.sequence + 1, None


@given(STEPS)
def test_each_batch_counts_once_whatever_is_sent_again(steps: list[str]) -> None:
    sender = Sender()
    for step in [*steps, "send", "take", "take", "confirm"]:
        getattr(sender, step)()
    sender.note()
    assert sender.state == list(range(1, sender.sequence))


def test_it_is_for_the_service_alone() -> None:
    schema = StreamSchema("temp", columns_of("ts timestamp, x int"), "ts")
    source = HttpSource()
    for refused in (source.check, source.check_on_spark):
        with pytest.raises(UnsupportedError, match=r"WU515.*'temp'"):
            refused(schema)
    source.inbox.is_served = True
    source.check(schema)


def test_a_thread_that_waits_is_woken_by_an_offer() -> None:
    inbox = open_inbox()
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(inbox.take(10, 30)))
    waiting.start()
    inbox.offer(rows(1), 1)
    waiting.join(20)
    assert len(found) == 1
    assert found[0] is not None
