"""Queries that go on from one process to Spark, back, and in other buckets: nobody sees it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from support.carried_runs import all_of, begun, ended, joined, told, undisturbed
from support.query_forms import FORMS, PUSHES
from support.sessions import session_of
from support.spark.carried_jobs import (
    begun_job,
    exported,
    plan_in_buckets,
    ran,
    taken_up,
    to_the_end,
)
from support.spark.driven_job import DictionaryState, DrivenJob
from support.spark.stream_files import Files, Sessions, embedded, random_batches
from support.streams import Action
from support.tree_forms import CLOSING_FORMS, TREE_FORMS, WINDOW_FORMS
from support.tree_rows import tree_actions
from windrow.carryover.carryover import follows_from_rows
from windrow.carryover.fitting import fitted
from windrow.carryover.state_file import read_state_file
from windrow.errors import CheckpointError
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.begun_checkpoint import begin_checkpoint, bucket_count
from windrow.spark.shuffle.splitting import routing_with
from windrow.storage import Storage

pytestmark = pytest.mark.filterwarnings(
    "ignore:query .* keeps every row", "ignore:stream .* has rows that count in no answer"
)

TREES = [*TREE_FORMS, *WINDOW_FORMS, *CLOSING_FORMS]
WITHOUT_ERROR = [name for name in FORMS if not name.startswith("error")]
JOIN = """SELECT a.k, COUNT(*) AS n, SUM(b.l) AS t FROM a [4 SECONDS], b [3 SECONDS]
          WHERE a.k = b.k GROUP BY a.k"""


def buckets_of(text: str, wanted: int) -> int:
    """So many, where its rows say all: otherwise their number stays that of one process."""
    return wanted if follows_from_rows(plan_in_buckets(text)) else 1


def check(text: str, actions: list[Action], cut: int, folder: Path, way: int) -> None:
    expected = all_of(undisturbed(text, actions))
    if way == 0:
        found = into_buckets(text, actions, cut, folder)
    elif way == 1:
        found = out_of_buckets(text, actions, cut, folder)
    else:
        found = into_other_buckets(text, actions, cut, folder)
    assert found is None or all_of(found) == expected


def into_buckets(text: str, actions: list[Action], cut: int, folder: Path):
    session, query = begun(text, actions[:cut])
    session.export_state("q", folder / "file")
    job = begun_job(text, folder / "file", folder / "checkpoint", buckets_of(text, 3))
    parts = [told(query), ran(job, actions[cut:]), to_the_end(job)]
    return _joined(parts)


def out_of_buckets(text: str, actions: list[Action], cut: int, folder: Path):
    plan = plan_in_buckets(text)
    job = DrivenJob(plan, folder / "job", bucket_count(plan, buckets_of(text, 2)))
    first = ran(job, actions[:cut])
    if first is None:
        return None
    exported(job, folder / "file")
    session = session_of()
    return _joined([first, ended(session, session.import_state(folder / "file"), actions[cut:])])


def into_other_buckets(text: str, actions: list[Action], cut: int, folder: Path):
    plan = plan_in_buckets(text)
    job = DrivenJob(plan, folder / "job", bucket_count(plan, buckets_of(text, 2)))
    first = ran(job, actions[:cut])
    if first is None:
        return None
    exported(job, folder / "file")
    other = begun_job(text, folder / "file", folder / "checkpoint", buckets_of(text, 3))
    return _joined([first, ran(other, actions[cut:]), to_the_end(other)])


def _joined(parts):
    whole = None
    for part in parts:
        if part is not None:
            whole = part if whole is None else joined(whole, part)
    return whole


@pytest.mark.parametrize("number", range(len(WITHOUT_ERROR)))
def test_a_form_goes_on(number: int, tmp_path: Path) -> None:
    name = WITHOUT_ERROR[number]
    cut = random.Random(name).randrange(1, len(PUSHES) + 1)
    check(FORMS[name].text, list(PUSHES), cut, tmp_path, number % 3)


@pytest.mark.parametrize("number", range(3, len(TREES), 11))
def test_a_tree_goes_on(number: int, tmp_path: Path) -> None:
    actions = tree_actions(number, 16)
    cut = random.Random(number).randrange(1, len(actions) + 1)
    check(TREES[number], list(actions), cut, tmp_path, number % 3)


@pytest.mark.slow
@pytest.mark.parametrize("way", range(3))
@pytest.mark.parametrize("number", range(len(TREES)))
def test_every_tree_goes_on_every_way(number: int, way: int, tmp_path: Path) -> None:
    actions = list(tree_actions(number, 20))
    check(TREES[number], actions, len(actions) // 2, tmp_path, way)


def test_a_first_batch_that_was_not_committed_begins_again(tmp_path: Path) -> None:
    session, query = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "file")
    job = begun_job(JOIN, tmp_path / "file", tmp_path / "checkpoint", 3)
    lost = ran(job, PUSHES[20:22])
    job.states, job.batch_id = [DictionaryState() for _ in job.states], 0
    taken_up(job, QueryCheckpoint(Storage(tmp_path / "checkpoint"), "q"))
    again = ran(job, PUSHES[20:22])
    assert lost is not None
    assert again is not None
    assert all_of(again) == all_of(lost)
    parts = [told(query), again, ran(job, PUSHES[22:]), to_the_end(job)]
    assert all_of(_joined(parts)) == all_of(undisturbed(JOIN, PUSHES))


def test_rows_of_a_split_key_are_handed_over_once(tmp_path: Path) -> None:
    plan = plan_in_buckets(JOIN)
    job = DrivenJob(plan, tmp_path / "job", 3)
    job.routing = routing_with(plan, {"a": [0, 1]}, job.routing, None)
    first = ran(job, PUSHES[:30])
    assert first is not None
    exported(job, tmp_path / "file")
    session = session_of()
    second = ended(session, session.import_state(tmp_path / "file"), PUSHES[30:])
    assert all_of(joined(first, second)) == all_of(undisturbed(JOIN, PUSHES))


def test_the_ledger_goes_on(tmp_path: Path) -> None:
    session, _ = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "file")
    job = begun_job(JOIN, tmp_path / "file", tmp_path / "checkpoint", 2)
    ran(job, PUSHES[20:])
    to_the_end(job)
    ledgers = job.publication.status.ledgers
    assert {name: each.rows_in for name, each in ledgers.items()} == {
        name: sum(len(push.rows) for push in PUSHES if push.stream == name) for name in "ab"
    }
    for ledger in ledgers.values():
        assert ledger.waiting == 0
        assert ledger.rows_in == ledger.applied + ledger.late


# ---- refused


def test_a_checkpoint_that_has_begun_takes_no_state(tmp_path: Path) -> None:
    session, _ = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "file")
    begun_job(JOIN, tmp_path / "file", tmp_path / "checkpoint", 2)
    carried = fitted(read_state_file(tmp_path / "file"), plan_in_buckets(JOIN))
    checkpoint = QueryCheckpoint(Storage(tmp_path / "checkpoint"), "q")
    with pytest.raises(CheckpointError, match="WC431"):
        begin_checkpoint(checkpoint, carried, 2)
    by_arrival = replace(carried, is_by_arrival=True)
    other = QueryCheckpoint(Storage(tmp_path / "other"), "q")
    with pytest.raises(CheckpointError, match="WC432"):
        begin_checkpoint(other, by_arrival, 2)
    assert other.begins is None


def test_sums_without_end_stay_in_as_many_buckets(tmp_path: Path) -> None:
    text = "SELECT k, SUM(l) AS t FROM a [UNBOUNDED] GROUP BY k"
    plan = plan_in_buckets(text)
    job = DrivenJob(plan, tmp_path / "job", 2)
    first = ran(job, PUSHES[:20])
    exported(job, tmp_path / "file")
    with pytest.raises(CheckpointError, match=r"(?s)WC430.*2 buckets.*in 3"):
        begun_job(text, tmp_path / "file", tmp_path / "three", 3)
    with pytest.raises(CheckpointError, match=r"(?s)WC430.*in 1"):
        session_of().import_state(tmp_path / "file")
    other = begun_job(text, tmp_path / "file", tmp_path / "two", 2)
    parts = [first, ran(other, PUSHES[20:]), to_the_end(other)]
    assert all_of(_joined(parts)) == all_of(undisturbed(text, PUSHES))


def test_a_lost_beginning_is_told(tmp_path: Path) -> None:
    session, _ = begun(JOIN, PUSHES[:20])
    session.export_state("q", tmp_path / "file")
    job = begun_job(JOIN, tmp_path / "file", tmp_path / "checkpoint", 2)
    (tmp_path / "checkpoint" / "q" / "begin" / "00001.bucket").unlink()
    with pytest.raises(CheckpointError, match="WC224"):
        ran(job, PUSHES[20:])


def test_a_query_with_an_error_is_not_taken(tmp_path: Path) -> None:
    job = DrivenJob(plan_in_buckets(FORMS["error"].text), tmp_path / "job", 2)
    ran(job, PUSHES[:10])
    with pytest.raises(CheckpointError, match=r"(?s)WC424.*ERROR"):
        exported(job, tmp_path / "file")


def test_an_order_by_columns_that_are_not_shown_is_kept_in_process_only(tmp_path: Path) -> None:
    text = "SELECT k FROM a [PARTITION BY k RANGE 2 SECONDS] ORDER BY l"
    session, _ = begun(text, PUSHES[:20])
    session.export_state("q", tmp_path / "file")
    with pytest.raises(CheckpointError, match="WC433"):
        begun_job(text, tmp_path / "file", tmp_path / "checkpoint", 1)
    assert session_of().import_state(tmp_path / "file").is_running


@pytest.mark.spark
@pytest.mark.long_spark
def test_one_of_several_goes_on_where_its_sources_stood(
    files: Files, sessions: Sessions, tmp_path: Path
) -> None:
    texts = {
        "q": "SELECT c.room, COUNT(*) AS n FROM c [5 SECONDS], h [8 SECONDS] "
        "WHERE h.room = c.room GROUP BY c.room",
        "r": "SELECT h.room, COUNT(*) AS n FROM h [7 SECONDS], c [5 SECONDS] "
        "WHERE h.room = c.room GROUP BY h.room",
    }
    batches = random_batches(4, seed=62)
    files.put_all(batches[:2])
    before = sessions.open(files, buckets=2)
    for name, text in texts.items():
        before.query(text, name=name)
    running = before.start(dict.fromkeys(texts, "memory"), trigger="available")
    running["q"].await_end()
    first = running["q"].answers()
    before.stop()
    before.export_state("q", tmp_path / "q.wstate")
    files.put_all(batches[2:])
    after = Sessions(sessions.spark, tmp_path / "other").open(files, buckets=3)
    sessions.opened.append(after)
    goes_on = after.import_state(tmp_path / "q.wstate").start("memory", trigger="available")
    goes_on.await_end()
    after.finish()
    expected, _ = embedded(texts["q"], batches)
    found = pa.concat_tables([first, goes_on.answers()])
    assert found.to_pylist() == expected.answers().to_pylist()


@pytest.mark.spark
@pytest.mark.long_spark
def test_a_query_goes_on_in_more_buckets(files: Files, sessions: Sessions, tmp_path: Path) -> None:
    text = """SELECT h.room, COUNT(*) AS n FROM h [8 SECONDS], c [5 SECONDS]
              WHERE h.room = c.room GROUP BY h.room"""
    batches = random_batches(4, seed=61)
    files.put_all(batches[:2])
    before = sessions.open(files, buckets=2)
    query = before.query(text, name="q").start("memory", trigger="available")
    query.await_end()
    first = query.answers()
    query.stop()
    before.export_state("q", tmp_path / "q.wstate")
    with pytest.raises(CheckpointError, match="WC431"):
        before.export_state("r", tmp_path / "r.wstate")
    rest = Files(files.spark, tmp_path / "rest")
    rest.put_all(batches[2:])
    after = Sessions(sessions.spark, tmp_path / "other").open(rest, buckets=3)
    sessions.opened.append(after)
    with pytest.raises(CheckpointError, match=r"(?s)WC437.*'h'.*positions=False"):
        after.import_state(tmp_path / "q.wstate")
    begun = after.import_state(tmp_path / "q.wstate", positions=False)
    goes_on = begun.start("memory", trigger="available")
    goes_on.await_end()
    after.finish()
    expected, _ = embedded(text, batches)
    found = pa.concat_tables([first, goes_on.answers()])
    assert found.to_pylist() == expected.answers().to_pylist()
    running = after.query(text, name="other").start("memory")
    with pytest.raises(CheckpointError, match=r"(?s)WC424.*running"):
        after.export_state("other", tmp_path / "running")
    running.stop()
