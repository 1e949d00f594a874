"""What sinks make of batches, without Spark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.streams import plan_of
from windrow import sinks
from windrow.connectors import memory
from windrow.connectors.contract import Writer
from windrow.connectors.memory import MemoryWriter
from windrow.connectors.parquet.writers import ParquetWriter
from windrow.errors import AdmissionError, BindingError, CheckpointError, DataError
from windrow.plan.model import QueryPlan

PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")
SELECT = plan_of("SELECT a.k AS k, a.s AS s FROM a [1 MINUTE]")
TABLE = pa.table({"n": [1, 2]})
EMPTY = TABLE.slice(0, 0)
NO_CHECKPOINT: Any = SimpleNamespace(is_lasting=True)  # nothing else of it is needed


def opened(sink: object, plan: QueryPlan = PLAN) -> Writer:
    return sinks.sink_of(sink).open_on_spark(plan, NO_CHECKPOINT)


def test_a_replayed_batch_replaces_its_own_file(tmp_path: Path) -> None:
    writer = opened(sinks.parquet(tmp_path / "out"))
    writer.write({"answers": TABLE, "changes": EMPTY}, 3)
    writer.write({"answers": TABLE, "changes": EMPTY}, 3)
    writer.write({"answers": EMPTY, "changes": TABLE}, 4)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["batch-000000000003.parquet"]
    assert pq.read_table(tmp_path / "out").to_pylist() == TABLE.to_pylist()


def test_a_replayed_batch_without_rows_takes_its_file_away(tmp_path: Path) -> None:
    writer = opened(sinks.parquet(tmp_path))
    writer.write({"answers": TABLE}, 3)
    writer.write({"answers": EMPTY}, 3)
    assert list(tmp_path.glob("*.parquet")) == []


def test_a_folder_with_batches_of_another_run_is_refused(tmp_path: Path) -> None:
    writer = opened(sinks.parquet(tmp_path))
    writer.begin(-1, "")
    writer.write({"answers": TABLE}, 3)
    (tmp_path / f".batch-000000000004.parquet.{'0' * 32}").write_bytes(b"half")
    writer.begin(3, "")
    assert not list(tmp_path.glob(".batch*"))
    for last_batch in (2, -1):
        with pytest.raises(CheckpointError, match=r"WC217.*batch-000000000003"):
            writer.begin(last_batch, "")


def test_a_run_without_a_checkpoint_replaces_such_a_run(tmp_path: Path) -> None:
    for mine in (False, True):  # the first run, and one more
        writer = ParquetWriter(sinks.parquet(tmp_path), is_lasting=False)
        writer.begin(-1, f"run {mine}")
        assert list(tmp_path.glob("*.parquet")) == []
        writer.write({"answers": TABLE}, 3)
        writer.begin(3, f"run {mine}")  # begun again after a failure: its own files stay
        assert len(list(tmp_path.glob("*.parquet"))) == 1
        writer.close()
    here = sinks.parquet(tmp_path).open("q", None)
    assert list(tmp_path.glob("*.parquet")) == []
    here.write({"answers": TABLE}, 5)
    lasting = ParquetWriter(sinks.parquet(tmp_path))
    with pytest.raises(CheckpointError, match="WC217"):
        lasting.begin(-1, "lasting")
    lasting.write({"answers": TABLE}, 7)
    with pytest.raises(CheckpointError, match="WC217"):
        ParquetWriter(sinks.parquet(tmp_path), is_lasting=False).begin(-1, "lasting")
    assert [path.name for path in tmp_path.glob("*.parquet")] == ["batch-000000000007.parquet"]


def test_two_queries_do_not_write_to_one_folder(tmp_path: Path) -> None:
    first, second = [opened(sinks.parquet(tmp_path)) for _ in range(2)]
    first.begin(-1, "one")
    with pytest.raises(CheckpointError, match="WC218"):
        second.begin(-1, "other")
    second.begin(-1, "one")  # the same query, in another session
    second.close()
    first.begin(-1, "other")


def test_parquet_takes_changes_when_asked(tmp_path: Path) -> None:
    opened(sinks.parquet(tmp_path, feed="changes")).write({"answers": EMPTY, "changes": TABLE}, 0)
    assert pq.read_table(tmp_path).num_rows == 2


def test_console_prints_answers(capsys: pytest.CaptureFixture[str]) -> None:
    writer = opened("console")
    writer.write({"answers": EMPTY, "changes": EMPTY}, 0)
    writer.write({"answers": pa.table({"n": list(range(30))}), "changes": EMPTY}, 1)
    shown = capsys.readouterr().out
    assert "batch 0" not in shown
    assert "batch 1" in shown
    assert "... and 10 more" in shown


def test_memory_gives_what_came_since_the_last_call() -> None:
    writer = MemoryWriter()
    writer.write({"answers": TABLE, "changes": EMPTY}, 0)
    writer.write({"answers": TABLE, "changes": EMPTY}, 0)
    writer.write({"answers": TABLE, "changes": TABLE}, 1)
    assert writer.take("answers", EMPTY).num_rows == 4
    assert writer.take("answers", EMPTY).num_rows == 0
    assert writer.take("changes", EMPTY).num_rows == 2


def test_memory_gives_so_many_changes_at_a_time() -> None:
    writer = MemoryWriter()
    changes = pa.table({"at": pa.array([1, 1, 2, 2, 2], pa.timestamp("us", tz="UTC"))})
    writer.write({"changes": changes.slice(0, 3)}, 0)
    writer.write({"changes": changes.slice(3)}, 1)
    empty = changes.slice(0, 0)
    assert [writer.take("changes", empty, 3).num_rows for _ in range(3)] == [2, 3, 0]


def test_memory_lets_go_of_a_feed_that_nobody_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "MEMORY_ROWS_LIMIT", 3)
    writer = MemoryWriter()
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
        opened(fail).write({"answers": TABLE, "changes": EMPTY}, 7)


def test_a_function_takes_the_feed_that_it_asks_for() -> None:
    seen: list[tuple[int, int]] = []
    sink = sinks.foreach(lambda table, batch_id: seen.append((table.num_rows, batch_id)), "changes")
    writer = opened(sink)
    assert writer.feeds == ("changes",)
    writer.write({"changes": TABLE}, 5)
    assert seen == [(2, 5)]


def test_upserts_come_only_where_something_changed() -> None:
    seen: list[tuple[list[dict[str, int]], list[dict[str, int]], int]] = []
    writer = opened(
        sinks.upserts(lambda *given: seen.append((*map(pa.Table.to_pylist, given[:2]), given[2]))),
    )
    changes = pa.table(
        {"at": [1, 1, 1], "change": [-1, 1, -1], "k": [1, 1, 2], "n": [1, 2, 1]},
    )
    for batch_id, table in enumerate([changes, changes.slice(0, 0), changes]):
        writer.write({"changes": table}, batch_id)
    one = ([{"k": 1, "n": 2}], [{"k": 2, "n": 1}])
    assert seen == [(*one, 0), (*one, 2)]


def test_a_key_that_does_not_tell_rows_apart_is_refused() -> None:
    writer = opened(sinks.upserts(pytest.fail, key=["k"]), SELECT)
    came = pa.table({"at": [2], "change": [1], "k": [1], "s": ["new"]})
    both = pa.table({"k": [1, 1], "s": ["new", "old"]})
    with pytest.raises(DataError, match="WD411"):
        writer.write({"changes": came, "result": both}, 0)


def test_a_failing_upsert_is_named() -> None:
    def fail(_upserts: pa.Table, _deletes: pa.Table, _batch_id: int) -> None:
        raise ValueError("no room")

    changes = pa.table({"at": [1], "change": [1], "k": [1], "n": [1]})
    with pytest.raises(DataError, match=r"WD410.*batch 7.*no room"):
        opened(sinks.upserts(fail)).write({"changes": changes}, 7)


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
