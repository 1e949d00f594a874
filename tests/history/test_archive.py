"""Nodes that leave memory stay answerable from the archive, together with what is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.history_comparison import asked, check
from support.past_rows import MEASURES, STORAGES, Advance, specs, steps, take
from windrow.history.history import History
from windrow.history.nodes.table import schema_of_nodes
from windrow.history.parquet_archive import ParquetArchive
from windrow.history.spec import START_COLUMN, HistorySpec, levels_of
from windrow.schema import STRING, Column


class ListArchive:
    """All nodes in one list."""

    def __init__(self, spec: HistorySpec) -> None:
        self.tables = [schema_of_nodes(spec).empty_table()]

    def write(self, nodes: pa.Table) -> None:
        assert nodes.schema == self.tables[0].schema
        self.tables.append(nodes)

    def read(self, since_us: int, until_us: int) -> pa.Table:
        del since_us, until_us
        return pa.concat_tables(self.tables)


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
@given(st.data())
def test_archived_nodes_are_answered_as_those_in_memory(storage: Any, data: st.DataObject) -> None:
    spec = data.draw(specs(grouped=data.draw(st.booleans())))
    given_steps = data.draw(steps())
    archive = ListArchive(spec)
    history = History(spec, storage, archive)
    rows = take(history, given_steps)
    at = data.draw(st.sampled_from([None, *spec.granularities_us]))
    for _ in range(2):
        since, until = data.draw(asked(given_steps))
        check(history.snapshot(since, until, at_us=at), rows, is_one=not spec.keys)
        top = spec.granularities_us[-1]
        whole = history.snapshot(since // top * top, until // top * top + top, at_us=at)
        assert whole.is_exact
        check(whole, rows, is_one=not spec.keys)
        total = history.snapshot(since, until, at_us=at, total=True)
        check(total, rows, is_one=True)
    for table in archive.tables[1:]:
        starts = table.column(START_COLUMN).cast(pa.int64()).to_pylist()
        assert max(starts) < history.storage.regions.begin_us


def test_a_parquet_directory(tmp_path: Path) -> None:
    keys = (Column("k", STRING),)
    spec = HistorySpec(levels_of([(1, 4), (4, 8), (16, 16)]), MEASURES, keys, split_above=2)
    archive = ParquetArchive(tmp_path / "nodes", spec)
    assert archive.read(0, 100).num_rows == 0
    history = History(spec, archive=archive)
    rows = take(
        history,
        [
            [(time, "ab"[time % 2] if time % 7 else None, time / 3, time) for time in range(100)],
            Advance(60),
            Advance(99),
        ],
    )
    assert history.storage.regions.begin_us == 80
    assert sorted(int(path.stem) for path in (tmp_path / "nodes").iterdir()) == [0, 16, 32, 48, 64]
    for since, until in ((0, 100), (16, 96), (32, 33), (5, 90), (70, 99)):
        check(history.snapshot(since, until), rows, is_one=False)
    assert history.snapshot(16, 96).is_exact
    assert not history.snapshot(17, 96).is_exact


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    spec = HistorySpec(levels_of([(1, 0), (16, 0)]), MEASURES)
    batch = [(time, None, 1.0, 1) for time in range(64)]
    for advances in ([20, 40, 63], [63]):
        history = History(spec, archive=ParquetArchive(tmp_path, spec))
        take(history, [batch, *(Advance(instant) for instant in advances)])
        assert history.snapshot(0, 48).bounds("count").value == 48


def test_a_file_whose_node_reaches_into_the_interval_is_read(tmp_path: Path) -> None:
    spec = HistorySpec(levels_of([(1, 0), (16, 0)]), MEASURES)
    archive = ParquetArchive(tmp_path, spec)
    take(History(spec, archive=archive), [[(20, None, 1.0, 1), (40, None, 1.0, 1)], Advance(63)])
    assert archive.read(25, 26).num_rows == 1
    assert archive.read(25, 48).num_rows == 2
    assert archive.read(0, 16).num_rows == 0


def test_what_was_forgotten_may_be_of_any_group() -> None:
    spec = HistorySpec(levels_of([(1, 0), (16, 16)]), MEASURES, (Column("k", STRING),))
    history = History(spec)
    rows = take(
        history,
        [
            [(1, "a", 1.0, 1), (2, "a", -2.0, 1), (3, "gone", 5.0, 1), (60, "a", 4.0, 1)],
            Advance(60),
        ],
    )
    assert history.storage.regions.begin_us == 32
    answer = history.snapshot(0, 100)
    check(answer, rows, is_one=False)
    assert not answer.is_exact
    count = answer.bounds("count")
    assert (count.low, count.high) == (1, 4)
    total = answer.bounds("sum", "v")
    assert (total.low, total.high) == (pytest.approx(2.0), pytest.approx(10.0))
    together = history.snapshot(0, 100, total=True)
    assert together.is_exact
    check(together, rows, is_one=True)
    assert answer.inside is not None
    assert history.snapshot(answer.inside.since_us, answer.inside.until_us).is_exact
