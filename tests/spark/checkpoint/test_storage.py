from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.streams import plan_of
from windrow import sinks
from windrow.connectors import writers
from windrow.errors import AdmissionError, BindingError, CheckpointError, DataError
from windrow.plan.fingerprint import fingerprint
from windrow.plan.model import QueryPlan
from windrow.spark.checkpoint.owner import CheckpointOwner
from windrow.spark.checkpoint.query_checkpoint import QueryCheckpoint
from windrow.spark.driver.kept_rows import KEPT_ROWS_LIMIT, KeptRows
from windrow.storage import Storage

PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")
SELECT = plan_of("SELECT a.k AS k, a.s AS s FROM a [1 MINUTE]")
TABLE = pa.table({"n": [1, 2]})
EMPTY = TABLE.slice(0, 0)
NO_CHECKPOINT: Any = None  # sinks that keep no batch id elsewhere need none


@pytest.mark.parametrize("as_uri", [False, True])
def test_files_are_written_whole_read_listed_and_removed(tmp_path: Path, as_uri: bool) -> None:
    storage = Storage(tmp_path.as_uri() if as_uri else tmp_path).inside("in")
    storage.write("b", b"two")
    storage.write("a", b"one")
    storage.write("a", b"1")
    assert storage.names() == ["a", "b"]
    assert storage.read("a") == b"1"
    storage.remove("a")
    storage.remove("a")
    assert storage.read("a") is None
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["b"]


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match="WC203"):
        Storage(tmp_path).read("folder")


def test_a_folder_that_cannot_be_written_to_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"WC206.*file/in cannot be written"):
        Storage(tmp_path / "file" / "in")
    (tmp_path / "folder").mkdir()
    with pytest.raises(CheckpointError, match=r"WC206.*folder cannot be written"):
        Storage(tmp_path).write("folder", b"")


def claim(checkpoint: QueryCheckpoint, plan: QueryPlan = PLAN, buckets: int = 2) -> None:
    checkpoint.claim(fingerprint(plan), buckets, 1, plan)


def test_a_checkpoint_knows_its_owner(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    assert checkpoint.claimed_buckets() is None
    claim(checkpoint)
    claim(checkpoint)
    assert checkpoint.claimed_buckets() == 2


@pytest.mark.parametrize(
    ("plan", "buckets", "words"),
    [(SELECT, 2, r"kind of query: aggregate, now select"), (PLAN, 3, "number of buckets is 2")],
)
def test_a_checkpoint_of_something_else_is_refused(
    tmp_path: Path, plan: QueryPlan, buckets: int, words: str
) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    with pytest.raises(CheckpointError, match=rf"WC210.*{words}"):
        claim(checkpoint, plan, buckets)


def test_another_version_is_named(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    path = tmp_path / "q" / "windrow.json"
    owner = CheckpointOwner.from_bytes(path.read_bytes(), "q")
    older = {"format": 2, "plan": {}}
    other = replace(owner, windrow="0.0.7", plan=older, fingerprint="x")
    path.write_bytes(other.to_bytes())
    with pytest.raises(CheckpointError, match=r"WC210.*format 2, written by Windrow 0\.0\.7"):
        claim(checkpoint)
    path.write_bytes(replace(owner, format=2, windrow="0.0.7").to_bytes())
    with pytest.raises(CheckpointError, match=r"WC210.*format 2, written by Windrow 0\.0\.7"):
        claim(checkpoint)


@pytest.mark.parametrize("text", ["{", "[]", json.dumps({"format": 3})])
def test_a_damaged_owner_is_refused(tmp_path: Path, text: str) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    (tmp_path / "q" / "windrow.json").write_text(text)
    with pytest.raises(CheckpointError, match="WC211"):
        claim(checkpoint)


def test_a_checkpoint_keeps_its_name(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    name = checkpoint.identity()
    claim(checkpoint)
    assert checkpoint.identity() == name
    path = tmp_path / "q" / "identity.txt"
    path.write_bytes(path.read_bytes().replace(name[:1].encode(), b"x", 1))
    with pytest.raises(CheckpointError, match=r"WC211.*identity\.txt.*damaged"):
        checkpoint.identity()
    path.unlink()
    with pytest.raises(CheckpointError, match=r"WC211.*lost identity\.txt"):
        claim(checkpoint)


def test_a_checkpoint_is_swept_in_all_its_places(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    for folder in ("", "control", "publish"):
        (tmp_path / "q" / folder / f".half.{'0' * 32}").write_bytes(b"")
    checkpoint.sweep()
    assert not [path for path in (tmp_path / "q").rglob("*") if path.is_file()]


def test_a_lost_owner_is_missed(tmp_path: Path) -> None:
    checkpoint = QueryCheckpoint(Storage(tmp_path), "q")
    claim(checkpoint)
    (tmp_path / "q" / "windrow.json").unlink()
    (tmp_path / "q" / "spark").mkdir()
    with pytest.raises(CheckpointError, match=r"WC211.*lost"):
        claim(checkpoint)


def test_a_replayed_batch_replaces_its_own_file(tmp_path: Path) -> None:
    writer = writers.writer_of(sinks.parquet(tmp_path / "out"), PLAN, NO_CHECKPOINT)
    writer.write({"answers": TABLE, "changes": EMPTY}, 3)
    writer.write({"answers": TABLE, "changes": EMPTY}, 3)
    writer.write({"answers": EMPTY, "changes": TABLE}, 4)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["batch-000000000003.parquet"]
    assert pq.read_table(tmp_path / "out").to_pylist() == TABLE.to_pylist()


def test_a_replayed_batch_without_rows_takes_its_file_away(tmp_path: Path) -> None:
    writer = writers.writer_of(sinks.parquet(tmp_path), PLAN, NO_CHECKPOINT)
    writer.write({"answers": TABLE}, 3)
    writer.write({"answers": EMPTY}, 3)
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_folder_with_batches_of_another_run_is_refused(tmp_path: Path) -> None:
    writer = writers.writer_of(sinks.parquet(tmp_path), PLAN, NO_CHECKPOINT)
    writer.begin(-1, "")
    writer.write({"answers": TABLE}, 3)
    (tmp_path / f".batch-000000000004.parquet.{'0' * 32}").write_bytes(b"half")
    writer.begin(3, "")
    assert not list(tmp_path.glob(".batch*"))
    for last_batch in (2, -1):
        with pytest.raises(CheckpointError, match=r"WC217.*batch-000000000003"):
            writer.begin(last_batch, "")


def test_two_queries_do_not_write_to_one_folder(tmp_path: Path) -> None:
    first, second = [
        writers.writer_of(sinks.parquet(tmp_path), PLAN, NO_CHECKPOINT) for _ in range(2)
    ]
    first.begin(-1, "one")
    with pytest.raises(CheckpointError, match="WC218"):
        second.begin(-1, "other")
    second.begin(-1, "one")  # the same query, in another session
    second.close()
    first.begin(-1, "other")


def test_parquet_takes_changes_when_asked(tmp_path: Path) -> None:
    writers.writer_of(sinks.parquet(tmp_path, feed="changes"), PLAN, NO_CHECKPOINT).write(
        {"answers": EMPTY, "changes": TABLE}, 0
    )
    assert pq.read_table(tmp_path).num_rows == 2


def test_console_prints_answers(capsys: pytest.CaptureFixture[str]) -> None:
    writer = writers.writer_of(sinks.sink_of("console"), PLAN, NO_CHECKPOINT)
    writer.write({"answers": EMPTY, "changes": EMPTY}, 0)
    writer.write({"answers": pa.table({"n": list(range(30))}), "changes": EMPTY}, 1)
    shown = capsys.readouterr().out
    assert "batch 0" not in shown
    assert "batch 1" in shown
    assert "... and 10 more" in shown


def test_memory_gives_what_came_since_the_last_call() -> None:
    writer = writers.MemoryWriter()
    writer.write({"answers": TABLE, "changes": EMPTY}, 0)
    writer.write({"answers": TABLE, "changes": EMPTY}, 0)
    writer.write({"answers": TABLE, "changes": TABLE}, 1)
    assert writer.take("answers", EMPTY).num_rows == 4
    assert writer.take("answers", EMPTY).num_rows == 0
    assert writer.take("changes", EMPTY).num_rows == 2


def test_memory_gives_so_many_changes_at_a_time() -> None:
    writer = writers.MemoryWriter()
    changes = pa.table({"at": pa.array([1, 1, 2, 2, 2], pa.timestamp("us", tz="UTC"))})
    writer.write({"changes": changes.slice(0, 3)}, 0)
    writer.write({"changes": changes.slice(3)}, 1)
    empty = changes.slice(0, 0)
    assert [writer.take("changes", empty, 3).num_rows for _ in range(3)] == [2, 3, 0]


def test_memory_lets_go_of_a_feed_that_nobody_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writers, "MEMORY_ROWS_LIMIT", 3)
    writer = writers.MemoryWriter()
    for batch_id in range(3):
        writer.write({"answers": EMPTY, "changes": TABLE}, batch_id)
    with pytest.raises(AdmissionError, match="WA410"):
        writer.take("changes", EMPTY)
    assert writer.take("answers", EMPTY).num_rows == 0
    writer.write({"answers": EMPTY, "changes": TABLE}, 3)
    assert writer.take("changes", EMPTY).num_rows == 2


def test_a_failing_callable_is_named() -> None:
    def fail(_table: pa.Table, _batch_id: int) -> None:
        raise ValueError("no room")

    with pytest.raises(DataError, match=r"WD410.*batch 7.*no room"):
        writers.writer_of(fail, PLAN, NO_CHECKPOINT).write({"answers": TABLE, "changes": EMPTY}, 7)


def test_a_function_takes_the_feed_that_it_asks_for() -> None:
    seen: list[tuple[int, int]] = []
    sink = sinks.foreach(lambda table, batch_id: seen.append((table.num_rows, batch_id)), "changes")
    writer = writers.writer_of(sinks.sink_of(sink), PLAN, NO_CHECKPOINT)
    assert writer.feeds == ("changes",)
    writer.write({"changes": TABLE}, 5)
    assert seen == [(2, 5)]


def test_upserts_come_only_where_something_changed() -> None:
    seen: list[tuple[list[dict[str, int]], list[dict[str, int]], int]] = []
    writer = writers.writer_of(
        sinks.upserts(lambda *given: seen.append((*map(pa.Table.to_pylist, given[:2]), given[2]))),
        PLAN,
        NO_CHECKPOINT,
    )
    changes = pa.table(
        {"at": [1, 1, 1], "change": [-1, 1, -1], "k": [1, 1, 2], "n": [1, 2, 1]},
    )
    for batch_id, table in enumerate([changes, changes.slice(0, 0), changes]):
        writer.write({"changes": table}, batch_id)
    one = ([{"k": 1, "n": 2}], [{"k": 2, "n": 1}])
    assert seen == [(*one, 0), (*one, 2)]


def test_a_key_that_does_not_tell_rows_apart_is_refused() -> None:
    writer = writers.writer_of(sinks.upserts(pytest.fail, key=["k"]), SELECT, NO_CHECKPOINT)
    came = pa.table({"at": [2], "change": [1], "k": [1], "s": ["new"]})
    both = pa.table({"k": [1, 1], "s": ["new", "old"]})
    with pytest.raises(DataError, match="WD411"):
        writer.write({"changes": came, "result": both}, 0)


def test_a_failing_upsert_is_named() -> None:
    def fail(_upserts: pa.Table, _deletes: pa.Table, _batch_id: int) -> None:
        raise ValueError("no room")

    changes = pa.table({"at": [1], "change": [1], "k": [1], "n": [1]})
    with pytest.raises(DataError, match=r"WD410.*batch 7.*no room"):
        writers.writer_of(sinks.upserts(fail), PLAN, NO_CHECKPOINT).write({"changes": changes}, 7)


@pytest.mark.parametrize("given", ["kafka", 3, None])
def test_what_is_no_sink_is_refused(given: object) -> None:
    with pytest.raises(BindingError, match="WB411"):
        sinks.sink_of(given)


def test_what_is_no_feed_is_refused() -> None:
    with pytest.raises(BindingError, match="WB410"):
        sinks.parquet("out", feed="rows")
    with pytest.raises(BindingError, match="WB410"):
        sinks.foreach(print, feed="rows")


def test_sinks_by_name() -> None:
    assert sinks.sink_of("memory") == sinks.memory()
    assert sinks.sink_of("console") == sinks.console()


def test_kept_rows_stay_within_their_limit() -> None:
    kept = KeptRows(TABLE.schema)
    assert kept.table().num_rows == 0
    for start in range(0, KEPT_ROWS_LIMIT + 2_500, 1_000):
        kept = kept.with_rows(pa.table({"n": list(range(start, start + 1_000))}))
    numbers = kept.table().column("n").to_pylist()
    assert numbers == list(range(KEPT_ROWS_LIMIT + 3_000))[-KEPT_ROWS_LIMIT:]
