"""What records of a table are: rows, operations, changelogs; in which order, and how many came."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from support.spark.driven_job import DrivenJob
from support.spark.driven_tables import table_plan
from support.streams import SECOND_US, batch_of, instant
from support.table_runs import TABLES
from windrow.connectors.contract import ORDER
from windrow.errors import DataError
from windrow.event_time import MIN_EVENT_TIME, START_OF_TIME
from windrow.spark.shuffle.table_packer import RecordForm
from windrow.spark.worker.segment_merging import SEGMENTS_LIMIT

ROWS = RecordForm()
LEFT = "SELECT a.k, t.s FROM a [10 SECONDS] LEFT JOIN t ON a.k = t.k"


class Run:
    """One query over the stream a and a table, batch by batch."""

    def __init__(self, text: str, folder: Path, table: str = "t", buckets: int = 1) -> None:
        self.table, self.job = (
            TABLES[table],
            DrivenJob(table_plan(text), folder, buckets, [TABLES[table]]),
        )
        self._now = 0

    def change(self, rows: list[dict[str, Any]], form: RecordForm = ROWS) -> None:
        schema = self.table.arrow
        if form.op is not None:
            schema = schema.append(pa.field(form.op, pa.string()))
        if form.changelog is not None:
            schema = pa.schema([("key", pa.binary()), ("value", pa.binary())])
        batch = pa.RecordBatch.from_pylist(rows, schema=schema)
        self.job.batch({}, changes={self.table.name: (form, [batch])})

    def later(self) -> list[dict[str, Any]]:
        """The result once the clock has passed all changes."""
        self._now += 4 * SECOND_US
        return self.job.batch({"a": batch_of("a", ({"k": 0, "ts": instant(self._now)},))})[
            "result"
        ].to_pylist()


def test_rows_of_a_table_are_there_before_any_row_of_a_stream(tmp_path: Path) -> None:
    run = Run("SELECT k, s FROM t UNION ALL SELECT k, s FROM a [1 SECOND]", tmp_path, buckets=3)
    run.change([{"k": number, "s": "x", "n": 0} for number in range(5)])
    for _ in range(2):
        shown = run.job.publication.result()
        assert sorted(shown["k"].to_pylist()) == [0, 1, 2, 3, 4]
        run.job.restart()
    assert START_OF_TIME < run.job.clock < MIN_EVENT_TIME
    told = run.job.batch({"a": batch_of("a", ({"k": 9, "ts": instant(0)},))})
    told = run.job.batch({"a": batch_of("a", ({"k": 9, "ts": instant(5 * SECOND_US)},))})
    # They are told as of the first instant, when there is one.
    assert sorted(set(told["answers"]["at"].to_pylist())) == [instant(0)]
    assert sorted(told["answers"]["k"].to_pylist()) == [0, 1, 2, 3, 4, 9]


def test_files_count_in_their_order_whatever_task_reads_them_first(tmp_path: Path) -> None:
    def part(name: str, *values: str) -> pa.RecordBatch:
        columns = {"k": [0] * len(values), "s": list(values), "n": [0] * len(values)}
        batch = pa.RecordBatch.from_pydict(columns, schema=TABLES["t"].arrow)
        return batch.append_column(ORDER, pa.array([name] * len(values)))

    run = Run(LEFT, tmp_path)
    batches = [part("2.csv", "c", "d"), part("1.csv", "a", "b")]
    run.job.batch({}, changes={"t": (ROWS, batches)})
    run.later()
    assert run.later()[0]["s"] == "d"


@pytest.mark.parametrize(
    ("form", "put", "gone"),
    [
        (
            "debezium-json",
            b'{"before": null, "after": {"k": 0, "s": "x"}, "op": "c"}',
            [b'{"before": {"k": 0}, "after": null, "op": "d"}', None],
        ),
        ("upsert-json", b'{"s": "x"}', [None]),
        ("changelog", b'{"op": "+I", "k": 0, "s": "x"}', [b'{"op": "-D", "k": 0}']),
    ],
)
def test_records_of_a_topic_insert_and_delete(
    form: str, put: bytes, gone: list[bytes | None], tmp_path: Path
) -> None:
    run = Run(LEFT, tmp_path)
    run.later()
    run.change([{"key": b"0", "value": put}], RecordForm(form))
    run.later()
    assert run.later()[0]["s"] == "x"
    run.change([{"key": b"0", "value": value} for value in gone], RecordForm(form))
    run.later()
    assert {row["s"] for row in run.later()} == {None}


@pytest.mark.parametrize(
    ("form", "record", "told"),
    [
        (RecordForm(op="op"), {"op": "?", "k": 0}, r"WD717.*'op' is '\?'"),
        (RecordForm(op="op"), {"op": None, "k": 0}, "WD717.*it is no row"),
        (RecordForm(op="op"), {"op": "+U", "k": None}, "WD712.*'k'"),
        (RecordForm("upsert-json"), {"key": b"0", "value": b"[]"}, "WD717.*no object"),
        (RecordForm("upsert-json"), {"key": b"x", "value": None}, "WD1"),
    ],
)
def test_a_record_that_cannot_be_read_is_named(
    form: RecordForm, record: dict[str, object], told: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=told):
        Run(LEFT, tmp_path).change([record], form)


@pytest.mark.parametrize("text", [LEFT, "SELECT a.k FROM a [2 SECONDS] JOIN t ON a.k < t.k"])
def test_rows_of_a_table_are_counted_once(text: str, tmp_path: Path) -> None:
    run = Run(text, tmp_path, buckets=2)
    run.change([{"k": number, "s": "x"} for number in range(4)])
    run.change([{"op": "-D", "k": 0}, {"op": "-D", "k": 7}], RecordForm(op="op"))
    run.later()
    run.later()
    ledger = run.job.publication.status.ledgers["t"]
    assert (ledger.rows_in, ledger.applied, ledger.waiting) == (6, 6, 0)
    assert run.job.publication.status.tables["t"]["rows"] == 3


def test_versions_that_come_late_or_early_are_counted(tmp_path: Path) -> None:
    text = "SELECT a.k, v.n FROM a [20 SECONDS] JOIN v ON a.k = v.k"
    run = Run(text, tmp_path, "v")
    run.later()
    run.later()
    times = (1 * SECOND_US, 30 * SECOND_US)
    run.change([{"k": 0, "n": 1, "ts": instant(each)} for each in times])
    run.later()
    ledger = run.job.publication.status.ledgers["v"]
    assert (ledger.rows_in, ledger.late, ledger.waiting, ledger.applied) == (2, 1, 1, 0)
    assert run.later()[0]["n"] == 1


def test_a_table_whose_rows_change_takes_no_more_state_each_time(tmp_path: Path) -> None:
    run = Run(LEFT, tmp_path)
    size = 12_000
    for turn in range(12):
        run.change([{"k": number, "s": f"{turn} of {number}"} for number in range(size)])
        run.later()
    (state,) = run.job.states
    sizes = [len(segment) for segment in state.segments.values()]
    assert sum(sizes) < 2.5 * max(sizes), "rows that others replaced are kept"
    run.job.lose_shards()
    assert run.later()[-1]["s"] == "11 of 0"
    assert run.job.publication.status.tables["t"]["rows"] == size


def test_small_batches_of_changes_are_put_together(tmp_path: Path) -> None:
    run = Run(LEFT, tmp_path)
    last = SEGMENTS_LIMIT + 20
    for turn in range(last + 1):
        run.change([{"k": turn % 3, "s": f"turn {turn}"}])
    (state,) = run.job.states
    assert len(state.segments) <= SEGMENTS_LIMIT + 1
    run.job.lose_shards()
    run.later()
    assert run.later()[-1]["s"] == f"turn {last // 3 * 3}"


def test_what_comes_after_the_life_of_a_query_is_not_kept(tmp_path: Path) -> None:
    run = Run("SELECT a.k, t.s FROM a [10 SECONDS] JOIN t ON a.k = t.k DURATION [0, 5]", tmp_path)
    run.change([{"k": 0, "s": "x"}])
    for _ in range(4):
        run.later()
    before = run.job.states[0].segments.copy()
    run.change([{"k": 0, "s": "y"}])
    assert run.job.states[0].segments == before
