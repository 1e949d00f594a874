"""Rows between requests and the loop: bounded, kept once, and told when they are."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windrow.connectors.http import intake as intakes
from windrow.connectors.http.intake import FullError, GapError, Intake, NotReadyError
from windrow.connectors.live import Position
from windrow.rows.file_rows import FileRows


def rows(*values: int) -> FileRows:
    return FileRows(pa.RecordBatch.from_pydict({"x": pa.array(values, pa.int64())}))


def open_intake(most_bytes: int = 1_000) -> Intake:
    made = Intake(most_bytes)
    made.open(None)
    return made


def taken_of(intake: Intake) -> list[int]:
    found = intake.take(1_000_000, 0)
    return (
        [] if found is None else [x for each in found[0] for x in each.rows.batch["x"].to_pylist()]
    )


def test_rows_are_kept_when_they_are_settled() -> None:
    intake = open_intake()
    first, _ = intake.offer(rows(1), 10)
    second, _ = intake.offer(rows(2, 3), 10)
    found = intake.take(1, 0)
    assert found is not None
    batches, position = found
    assert [each.number for each in batches] == [1]
    assert intake.nbytes == 20
    assert taken_of(intake) == [2, 3]
    assert not first.done()
    intake.settle(position["batches"])
    assert (first.done(), second.done(), intake.has_unsettled, intake.nbytes) == (
        True,
        False,
        True,
        10,
    )
    intake.settle(2)
    assert (second.result(), intake.nbytes) == (None, 0)


def test_what_waits_has_a_limit_until_it_is_settled() -> None:
    intake = open_intake(most_bytes=100)
    intake.offer(rows(1), 500)  # more than all the room, where nothing else waits
    with pytest.raises(FullError):
        intake.offer(rows(2), 1)
    assert taken_of(intake) == [1]
    with pytest.raises(FullError):
        intake.offer(rows(2), 1)
    intake.settle(1)
    intake.offer(rows(2), 60)
    intake.offer(rows(3), 40)
    with pytest.raises(FullError):
        intake.offer(rows(4), 1)


def test_nothing_is_taken_before_it_is_open_or_afterwards() -> None:
    intake = Intake(100)
    with pytest.raises(NotReadyError):
        intake.offer(rows(1), 1)
    intake.open(None)
    waiting, _ = intake.offer(rows(1), 1)
    intake.close()
    assert isinstance(waiting.exception(timeout=0), NotReadyError)
    with pytest.raises(NotReadyError):
        intake.offer(rows(1), 1)
    intake.open({"batches": 0, "producers": []})  # the source was opened again
    intake.offer(rows(2), 1)
    assert taken_of(intake) == [2]


def test_a_producer_that_counts_is_heard_once() -> None:
    intake = open_intake()
    first, _ = intake.offer(rows(7), 1, "p", 7)  # whatever it begins with
    again, is_repeated = intake.offer(rows(7), 1, "p", 7)
    assert (again, is_repeated) == (first, True)
    with pytest.raises(GapError) as raised:
        intake.offer(rows(9), 1, "p", 9)
    assert raised.value.expected == 8
    intake.offer(rows(8), 1, "p", 8)
    intake.offer(rows(1), 1, "other", 0)
    assert taken_of(intake) == [7, 8, 1]
    intake.settle(3)
    again, is_repeated = intake.offer(rows(7), 1, "p", 7)
    assert (again.done(), is_repeated) == (True, True)
    assert taken_of(intake) == []


def test_a_position_knows_no_more_than_was_taken() -> None:
    intake = open_intake()
    for sequence in (1, 2, 3):
        intake.offer(rows(sequence), 1, "p", sequence)
    found = intake.take(2, 0)
    assert found is not None
    assert found[1] == {"batches": 2, "producers": [["p", 2]]}
    later = Intake(1_000)  # another process, from there on
    later.open(found[1])
    with pytest.raises(GapError):
        later.offer(rows(4), 1, "p", 4)
    assert later.offer(rows(2), 1, "p", 2)[1]
    later.offer(rows(3), 1, "p", 3)
    assert taken_of(later) == [3]


def test_the_producer_that_was_silent_longest_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intakes, "PRODUCERS_LIMIT", 2)
    intake = open_intake()
    for producer, sequence in (("a", 1), ("b", 1), ("a", 2), ("c", 1)):
        intake.offer(rows(sequence), 1, producer, sequence)
    assert intake.offer(rows(2), 1, "a", 2)[1]
    assert not intake.offer(rows(1), 1, "b", 1)[1]


STEPS = st.lists(st.sampled_from(["send", "take", "settle", "crash"]), max_size=60)


class Sender:
    """A producer that sends a batch until it is kept, and the state of the session that it feeds.

    The position is written with the rows: a crash loses what has none.
    """

    def __init__(self) -> None:
        self.intake = open_intake(10_000)
        self.state: list[int] = []
        self.position: Position | None = None
        self.sequence = 1
        self.kept: Future[None] | None = None

    def send(self) -> None:
        self.note()
        self.kept, _ = self.intake.offer(rows(self.sequence), 1, "p", self.sequence)
        self.note()

    def take(self) -> None:
        found = self.intake.take(1, 0)
        if found is not None:
            self.state += [x for each in found[0] for x in each.rows.batch["x"].to_pylist()]
            self.position = found[1]

    def settle(self) -> None:
        if self.position is not None:
            self.intake.settle(self.position["batches"])

    def crash(self) -> None:
        self.intake.close()
        self.intake = Intake(10_000)
        self.intake.open(self.position)

    def note(self) -> None:
        if self.kept is not None and self.kept.done() and self.kept.exception() is None:
            self.sequence, self.kept = self.sequence + 1, None


@given(STEPS)
def test_each_batch_counts_once_whatever_is_sent_again(steps: list[str]) -> None:
    sender = Sender()
    for step in [*steps, "send", "take", "take", "settle"]:
        getattr(sender, step)()
    sender.note()
    assert sender.state == list(range(1, sender.sequence))


def test_a_thread_that_waits_is_woken_by_an_offer() -> None:
    intake = open_intake()
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(intake.take(10, 30)))
    waiting.start()
    intake.offer(rows(1), 1)
    waiting.join(20)
    assert len(found) == 1
    assert found[0] is not None
