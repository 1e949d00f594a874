"""A history in buckets on dictionaries: against all rows there ever were, and through restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import damaged_columns
from support.history_truth import KEYS, LEVELS, MEASURES, Question, check, questions
from support.oracle import assert_same_rows, rows_of
from support.runners import Model
from support.spark.history_buckets import Buckets
from support.spark.stream_files import COLUMNS, SECOND, rows
from support.streams import STREAMS, Action, Heartbeat, Push, batch_of, scenarios
from windrow.embedded import EmbeddedSession
from windrow.errors import BindingError, CheckpointError
from windrow.history.parquet_archive import ParquetArchive
from windrow.runtime.ledger import Ledger, total_ledger
from windrow.schema import StreamSchema, columns_of
from windrow.spark.driver.drawn_history import drawn_series, drawn_tree
from windrow.spark.worker import history_segments, segment_store
from windrow.spark.worker.history_output import HistoryOutput

keys_kept = st.sampled_from([(), ("s",), ("y",), ("s", "o"), KEYS])
levels_kept = st.sampled_from(LEVELS)
H = StreamSchema("h", columns_of(COLUMNS), "ts", SECOND)
LEVELS_OF_H: list[Any] = [("1 second", "20 seconds"), ("10 seconds", "1 minute")]
BY_ROOM = """SELECT room, COUNT(*) AS n, SUM(value) AS s, MIN(value) AS least,
             APPROX_PERCENTILE(value, 0.5) AS middle, COUNT(DISTINCT room) AS rooms
             FROM HISTORY(h) [FROM '1970-01-01' TO NOW] GROUP BY room"""


def one_by_one(actions: list[Action]) -> list[Action]:
    """A batch for each row: whether it is late is judged by row in this process, by batch here."""
    out: list[Action] = []
    for action in actions:
        if isinstance(action, Heartbeat):
            out.append(action)
        else:
            out += [Push(action.stream, (row,)) for row in action.rows]
    return out


def give(buckets: Buckets, action: Action) -> None:
    if isinstance(action, Heartbeat):
        buckets.advance(action.to_us)
    else:
        buckets.push(batch_of(action.stream, action.rows))


def of_a(count: int, keys: tuple[str, ...], levels: list[Any]) -> Buckets:
    return Buckets(STREAMS["a"], count, measures=MEASURES, by=keys, levels=levels)


@given(
    scenarios(most_rows=24, streams="a"), st.sampled_from([1, 3]), keys_kept, levels_kept, st.data()
)
def test_answers_hold_of_all_rows_there_ever_were(
    actions: list[Action], count: int, keys: tuple[str, ...], levels: list, data: st.DataObject
) -> None:
    buckets, model = of_a(count, keys, levels), Model()
    restart_at = data.draw(st.integers(0, 24))
    for number, action in enumerate(one_by_one(actions)):
        if number == restart_at:
            buckets.restart()
        give(buckets, action)
        model.take(action)
    is_finished = data.draw(st.booleans())
    if is_finished:
        buckets.finish()
    question: Question = data.draw(questions(actions, keys))
    stream = model.streams["a"]
    now = stream.newest if is_finished else stream.through
    until = now + 1 if question.until_us is None else question.until_us
    table = buckets.ask(question.of_history)
    forgets = levels[-1][1] not in (None, "forever")
    check(table, question, max(until, question.since_us), model.rows()["a"], forgets=forgets)


@given(scenarios(most_rows=24, streams="a"), st.sampled_from([1, 3]), levels_kept, st.data())
def test_answers_by_key_are_those_of_a_session_in_this_process(
    actions: list[Action], count: int, levels: list, data: st.DataObject
) -> None:
    buckets, session = of_a(count, ("s", "o"), levels), EmbeddedSession()
    columns = {column.name: str(column.type) for column in STREAMS["a"].columns}
    session.stream("a", columns, time="ts", lateness=STREAMS["a"].lateness_us / SECOND)
    session.history("a", measures=MEASURES, by=("s", "o"), levels=levels)
    for action in one_by_one(actions):
        give(buckets, action)
        if isinstance(action, Heartbeat):
            session.advance("a", to=action.to_us)
        else:
            session.push("a", batch_of("a", action.rows))
    question = data.draw(questions(actions, ("s", "o")))
    found, wanted = buckets.ask(question.of_history), session.ask(question.of_history)
    assert isinstance(wanted, pa.Table)
    assert found.schema == wanted.schema
    assert_same_rows(rows_of(found), rows_of(wanted))
    tables = buckets.ask_progressively(question.of_history)
    expected = list(session.ask(question.of_history, progressive=True))
    assert len(tables) == len(expected)
    for one, other in zip(tables, expected, strict=True):
        assert_same_rows(rows_of(one), rows_of(other))


@given(
    scenarios(most_rows=24, streams="a"), st.sampled_from([1, 3]), levels_kept, st.integers(1, 40),
    st.data(),
)  # fmt: skip
def test_what_is_drawn_is_what_a_session_in_this_process_draws(
    actions: list[Action], count: int, levels: list, points: int, data: st.DataObject
) -> None:
    buckets, session = of_a(count, ("s",), levels), EmbeddedSession()
    columns = {column.name: str(column.type) for column in STREAMS["a"].columns}
    session.stream("a", columns, time="ts", lateness=STREAMS["a"].lateness_us / SECOND)
    session.history("a", measures=MEASURES, by=("s",), levels=levels)
    for action in one_by_one(actions):
        give(buckets, action)
        if isinstance(action, Heartbeat):
            session.advance("a", to=action.to_us)
        else:
            session.push("a", batch_of("a", action.rows))
    session.histories()  # rows that were pushed one by one are in it from now on
    measure = data.draw(st.sampled_from([None, *MEASURES]))
    interval: tuple[int | None, int | None] = (None, None)
    if data.draw(st.booleans()):
        interval = (
            data.draw(st.integers(-SECOND, 9 * SECOND)),
            data.draw(st.integers(0, 99)) * SECOND,
        )
    wanted = session.past.series("a", measure, interval, points, [])
    found = drawn_series(buckets, measure, *interval, points, [])
    assert found.schema == wanted.schema
    assert_same_rows(rows_of(found), rows_of(wanted))
    assert drawn_tree(buckets, []).equals(session.past.tree("a", []))


def test_one_group_is_drawn_and_no_other() -> None:
    buckets = kept_of_h(3)
    for table in batches_of_h(4):
        buckets.push(table)
    buckets.finish()
    everything = drawn_series(buckets, "value", None, None, 50, [])
    groups = [drawn_series(buckets, "value", None, None, 50, [f"r{i}"]) for i in range(5)]
    assert (
        sum(pc.sum(each["count"]).as_py() for each in groups) == pc.sum(everything["count"]).as_py()
    )
    nodes = [drawn_tree(buckets, [f"r{i}"]).filter(pc.field("level") == 1) for i in range(5)]
    assert sum(pc.sum(each["rows"]).as_py() for each in nodes) == 64
    assert drawn_series(buckets, "value", None, None, 50, ["nobody"]).num_rows == 0
    with pytest.raises(BindingError, match="WB326"):
        drawn_tree(buckets, ["r1", "r2"])


def batches_of_h(count: int) -> list[pa.Table]:
    """Batches of nine seconds with a second of disorder; some rows late, some without a time.

    They are few: a quantile of many values is drawn at random.
    """
    return [
        rows(
            *((f"r{i % 5}", (9 * number + i % 9 - i % 2) * SECOND, float(i)) for i in range(16)),
            *((("r9", 9 * (number - 3) * SECOND, 1.0),) if number > 3 else ()),
            ("r0", None, 1.0),
            ("r0", 253_402_300_000 * SECOND, 1.0),
        )
        for number in range(count)
    ]


def kept_of_h(count: int, archive: Path | None = None, max_ahead: int | str = "auto") -> Buckets:
    return Buckets(
        replace(H, max_ahead=max_ahead), count, None if archive is None else str(archive),
        measures=["value"], by=["room"],
        levels=LEVELS_OF_H, quantiles=["value"], distincts=["room"],
    )  # fmt: skip


def total_of(outputs: Sequence[HistoryOutput]) -> Ledger:
    """What all buckets have counted."""
    return total_ledger(each.ledger for each in outputs)


def in_order(table: pa.Table) -> list[Any]:
    return sorted(table.to_pylist(), key=repr)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("spare", [0, 1 << 20], ids=["snapshots", "segments"])
@pytest.mark.parametrize("is_archived", [False, True], ids=["forgets", "archives"])
def test_restarts_do_not_show(
    count: int, spare: int, is_archived: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(history_segments, "SPARE_BYTES", spare)
    folders = [tmp_path / str(i) if is_archived else None for i in range(2)]
    steady, restarted = kept_of_h(count, folders[0]), kept_of_h(count, folders[1])
    rebuilt = []
    for number, table in enumerate(batches_of_h(14)):
        steady.push(table.slice(0, 9), table.slice(9))
        if number % 3 == 2:
            restarted.restart()
        outputs = restarted.push(table.slice(0, 9), table.slice(9))
        rebuilt.append(any(output.was_rebuilt for output in outputs))
        assert in_order(restarted.ask(BY_ROOM)) == in_order(steady.ask(BY_ROOM))
    assert rebuilt == [number % 3 == 2 for number in range(14)]
    steady.finish()
    restarted.restart()
    restarted.finish()
    assert in_order(restarted.ask(BY_ROOM)) == in_order(steady.ask(BY_ROOM))
    has_snapshot = [len(state.segments) < 14 for state in restarted.states]
    assert all(has_snapshot) == (spare == 0)


def test_a_batch_that_is_run_again_gives_the_same() -> None:
    first, second = kept_of_h(2), kept_of_h(2)
    for table in batches_of_h(6):
        before = [state.copy() for state in first.states]
        first.push(table)
        first.states = before  # the batch was not committed
        again = first.push(table)
        assert [asdict(each.ledger) for each in again] == [
            asdict(each.ledger) for each in second.push(table)
        ]
        assert in_order(first.ask(BY_ROOM)) == in_order(second.ask(BY_ROOM))


def test_the_archive_is_written_once_a_batch_and_a_repeated_batch_leaves_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[ParquetArchive] = []
    write = ParquetArchive.write

    def counted(archive: ParquetArchive, nodes: pa.Table) -> None:
        writes.append(archive)
        write(archive, nodes)

    monkeypatch.setattr(ParquetArchive, "write", counted)
    buckets = kept_of_h(3, tmp_path)
    for table in batches_of_h(14):
        before = [state.copy() for state in buckets.states]
        writes.clear()
        buckets.push(table)
        assert len(writes) == len(set(map(id, writes))) <= len(buckets.states)
        kept = files_in(tmp_path)
        buckets.states = before  # the batch was not committed, and the workers are others
        buckets.restart()
        buckets.push(table)
        assert files_in(tmp_path) == kept
    assert len(kept) > 3


def files_in(folder: Path) -> dict[str, pa.Table]:
    """What the files of an archive hold, by their names below it."""
    return {
        str(path.relative_to(folder)): pq.read_table(path) for path in folder.rglob("*.parquet")
    }


def test_a_worker_that_fell_behind_catches_up() -> None:
    buckets, steady = kept_of_h(1), kept_of_h(1)
    shelves = [buckets.shelf, type(buckets.shelf)()]
    for number, table in enumerate(batches_of_h(8)):
        buckets.shelf = shelves[number % 2]
        (output,) = buckets.push(table)
        steady.push(table)
        assert output.was_rebuilt == (number == 1)
    assert in_order(buckets.ask(BY_ROOM)) == in_order(steady.ask(BY_ROOM))


@pytest.mark.parametrize("count", [1, 3])
def test_every_row_is_counted(count: int) -> None:
    buckets = kept_of_h(count)
    given = 0
    for number, table in enumerate(batches_of_h(8)):
        ledger = total_of(buckets.push(table))
        given += table.num_rows
        assert ledger.rows_in == given
        assert ledger.bad_time == 2 * (number + 1)
        assert ledger.late == max(0, number - 3)
        assert ledger.waiting > 0
        parts = [ledger.applied, ledger.late, ledger.bad_time, ledger.waiting]
        assert sum(parts) == given
    ledger = total_of(buckets.finish())
    assert ledger.waiting == 0
    assert ledger.applied == given - ledger.late - ledger.bad_time
    after = total_of(buckets.push(rows(("r0", 1_000 * SECOND, 1.0))))
    assert after.late == ledger.late + 1


def test_progressive_answers_are_of_one_moment() -> None:
    buckets = kept_of_h(3)
    for table in batches_of_h(5):
        buckets.push(table)
    interval = "[FROM '1970-01-01 00:00:10' TO '1970-01-01 00:00:33.5']"
    question = f"SELECT SUM(value) AS s FROM HISTORY(h) {interval}"
    tables = buckets.ask_progressively(question)
    assert len(tables) == 3
    for coarse, fine in pairwise(tables):
        assert coarse["s_low"][0].as_py() <= fine["s_low"][0].as_py()
        assert coarse["s_high"][0].as_py() >= fine["s_high"][0].as_py()
    assert tables[-1]["exact"].to_pylist() == [True]


def test_state_that_cannot_be_used() -> None:
    buckets = kept_of_h(2)
    for table in batches_of_h(2):
        buckets.push(table)
    buckets.restart()
    other = Buckets(H, 2, measures=[], by=["room"], levels=LEVELS_OF_H)
    other.states = buckets.states
    with pytest.raises(CheckpointError, match=r"WC232.*fingerprint"):
        other.finish()
    buckets.states = buckets.states[::-1]
    with pytest.raises(CheckpointError, match=r"WC232.*bucket"):
        buckets.finish()
    buckets.states = buckets.states[::-1]
    buckets.states[0].segments.clear()
    with pytest.raises(CheckpointError, match="WC233"):
        buckets.finish()
    header = buckets.states[1].header
    assert header is not None
    buckets.states[1].header = header.replace(b'"fingerprint"', b'"fingerprinT"')
    with pytest.raises(CheckpointError, match="WC104"):
        buckets.step(1).run_batch([], buckets.states[1])


def test_large_snapshots_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_segments, "SPARE_BYTES", 0)
    monkeypatch.setattr(segment_store, "VALUE_BYTES_LIMIT", 1_000)
    buckets = kept_of_h(1)
    for table in batches_of_h(3):
        buckets.push(table)
    sizes = [len(data) for data in buckets.states[0].segments.values()]
    assert len(sizes) > 3
    assert max(sizes) == 1_000
    before = in_order(buckets.ask(BY_ROOM))
    buckets.restart()
    assert in_order(buckets.ask(BY_ROOM)) == before


@pytest.mark.parametrize("count", [1, 3])
def test_damaged_rows_are_set_aside_and_counted(count: int) -> None:
    buckets, twin = kept_of_h(count), kept_of_h(count)
    for table in batches_of_h(3):
        room = damaged_columns.texts([b"\xff", *table["room"].cast(pa.binary()).to_pylist()])
        longer = pa.concat_tables([table.slice(0, 1), table])
        place = longer.schema.get_field_index("room")
        ledger = total_of(buckets.push(longer.set_column(place, "room", room)))
        assert replace(ledger, bad_value=0, rows_in=ledger.rows_in - ledger.bad_value) == (
            total_of(twin.push(table))
        )
    assert ledger.bad_value == 3
    assert in_order(buckets.ask(BY_ROOM)) == in_order(twin.ask(BY_ROOM))


@pytest.mark.parametrize("count", [1, 3])
def test_rows_far_ahead_of_the_others_are_set_aside_and_counted(count: int) -> None:
    buckets, twin = kept_of_h(count, max_ahead=60 * SECOND), kept_of_h(count)
    for number in range(3):
        good = [("r0", (10 * number + second) * SECOND, 1.0) for second in range(10)]
        strange = [] if number == 0 else [("r0", 10_000 * number * SECOND, 1.0)]
        ledger = total_of(buckets.push(rows(*good, *strange)))
        other = total_of(twin.push(rows(*good)))
        assert replace(ledger, bad_time=0, rows_in=ledger.rows_in - ledger.bad_time) == other
    assert ledger.bad_time == 2
    assert in_order(buckets.ask(BY_ROOM)) == in_order(twin.ask(BY_ROOM))
