"""Folders of JSON lines, CSV and partitioned Parquet: each row once, whatever breaks off."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.sink_batches import BrokenError, Fault, query_batches, run_of, written, written_with
from windrow import sinks
from windrow.connectors.contract import Sink
from windrow.connectors.folders import partitions
from windrow.connectors.folders.partitions import partitions_of
from windrow.errors import BindingError, DataError
from windrow.storage import Storage

FORMS = ("jsonl", "csv", "parquet")


def sink_of(form: str, folder: Path, files: int = 1, by: tuple[str, ...] = ("k",)) -> Sink:
    made: Sink = getattr(sinks, form)(
        folder, feed="changes", batches_per_file=files, partition_by=by
    )
    return made


def rows_in(form: str, folder: Path) -> Counter[tuple[str, ...]]:
    """(at, change, k, n) of all files, as texts."""
    rows: list[dict[str, Any]] = []
    for file in sorted(folder.rglob(f"batch-*.{form}")):
        own = dict(part.split("=") for part in file.parent.relative_to(folder).parts)
        if form == "parquet":
            found = ds.dataset(file).to_table().to_pylist()
        elif form == "csv":
            with file.open(encoding="utf-8", newline="") as text:
                found = list(csv.DictReader(text))
        else:
            found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        rows += [{**row, **own} for row in found]
    return Counter((str(row["change"]), str(row["k"]), str(row["n"])) for row in rows)


def wanted(batches: list[dict[str, pa.Table]]) -> Counter[tuple[str, ...]]:
    rows = pa.concat_tables([batch["changes"] for batch in batches]).to_pylist()
    folders = {None: "__HIVE_DEFAULT_PARTITION__", 'q"uote': "q%22uote"}
    return Counter(
        (str(row["change"]), folders.get(row["k"], row["k"]), str(row["n"])) for row in rows
    )


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), files=st.integers(1, 4))
def test_each_row_is_there_once(
    form: str, seed: int, files: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("t")
    batches, plan = query_batches(seed, 8)
    written(sink_of(form, folder, files), plan, batches)
    assert rows_in(form, folder) == wanted(batches)


def patched(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """Every look at a folder, every file and every removal may fail."""
    for name in ("write", "remove", "read", "names", "folders", "sizes"):
        whole = getattr(Storage, name)

        def called(storage: Storage, *given: Any, whole: Any = whole) -> Any:
            return fault.around(whole)(storage, *given)

        monkeypatch.setattr(Storage, name, called)


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("form", "files"), [("jsonl", 2), ("parquet", 3), ("csv", 1)])
def test_any_call_may_fail(form: str, files: int, is_after: bool, tmp_path: Path) -> None:
    batches, plan = query_batches(11, 7)
    at = 0
    while True:
        at += 3
        folder = tmp_path / str(at)
        fault = Fault(at, OSError("no") if at % 2 else BrokenError(), is_after=is_after)
        written_with(fault, sink_of(form, folder, files), plan, batches, patched)
        assert rows_in(form, folder) == wanted(batches)
        if not fault.has_come:
            break
    assert at > 20


def test_files_of_many_batches_become_one(tmp_path: Path) -> None:
    batches, plan = query_batches(11, 30)
    written(sink_of("csv", tmp_path, 5, by=()), plan, batches)
    names = sorted(file.name for file in tmp_path.glob("batch-*"))
    count = sum(batch["changes"].num_rows > 0 for batch in batches)
    assert len(names) <= count // 5 + 5
    assert names[0] == "batch-000000000000-000000000004.csv"
    assert rows_in("csv", tmp_path).total() == wanted(batches).total()


def test_dates_and_hours_are_parts_of_the_time() -> None:
    at = pa.array([0, 3_600_000_000, 90_000_000_000], pa.timestamp("us", tz="UTC"))
    rows = pa.table({"at": at, "x": [1, 2, 3]})
    assert [folder for folder, _ in partitions_of(rows, ("date", "hour"))] == [
        "date=1970-01-01/hour=1970-01-01T00",
        "date=1970-01-01/hour=1970-01-01T01",
        "date=1970-01-02/hour=1970-01-02T01",
    ]


@pytest.mark.parametrize("by", [("room",), ("x",), ("at", "change", "k", "n", "x")])
def test_columns_that_cannot_name_folders_are_refused(by: tuple[str, ...], tmp_path: Path) -> None:
    _, plan = query_batches(1, 1)
    with pytest.raises(BindingError, match="WB833"):
        sink_of("jsonl", tmp_path, by=by).open_in_process(run_of(plan, None))
    assert list(tmp_path.iterdir()) == []


def test_no_batch_goes_to_very_many_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "PARTITIONS_LIMIT", 2)
    with pytest.raises(DataError, match=r"WD831.*3 folders"):
        list(partitions_of(pa.table({"k": [1, 2, 3], "x": [1, 2, 3]}), ("k",)))


def test_a_folder_of_another_query_or_run_is_refused(tmp_path: Path) -> None:
    batches, plan = query_batches(2, 4)
    written(sink_of("jsonl", tmp_path), plan, batches)
    for run in (run_of(plan, None, "other"), run_of(plan, None, "")):
        with pytest.raises(DataError, match=r"WD513.*query 'q' of another run"):
            sink_of("jsonl", tmp_path).open_in_process(run)
    (tmp_path / ".windrow.json").unlink()
    with pytest.raises(DataError, match=r"WD513.*elsewhere"):
        sink_of("jsonl", tmp_path).open_in_process(run_of(plan, None))
    assert rows_in("jsonl", tmp_path) == wanted(batches)


def test_a_run_without_state_begins_with_an_empty_folder(tmp_path: Path) -> None:
    batches, plan = query_batches(2, 6)
    for count in (6, 3):
        writer = sink_of("csv", tmp_path).open_in_process(run_of(plan, None, ""))
        for number, tables in enumerate(batches[:count]):
            writer.write(tables, number)
    assert rows_in("csv", tmp_path) == wanted(batches[:3])


@pytest.mark.parametrize("delimiter", ["", "ab", '"', "\n", "é"])
def test_a_wrong_delimiter_is_refused(delimiter: str) -> None:
    with pytest.raises(BindingError, match="WB832"):
        sinks.csv("out", delimiter=delimiter)


def test_nested_values_and_bytes_are_json_in_csv(tmp_path: Path) -> None:
    _, plan = query_batches(1, 1)
    rows = pa.table({"change": [1], "k": [b"\xff"], "n": [[1, None]], "x": ['a"b,\nc']})
    writer = sinks.csv(tmp_path, "changes", delimiter=";").open_in_process(run_of(plan, None))
    writer.write({"changes": rows}, 0)
    with (tmp_path / "batch-000000000000.csv").open(newline="") as text:
        assert list(csv.reader(text, delimiter=";")) == [
            ["change", "k", "n", "x"],
            ["1", "/w==", "[1, null]", 'a"b,\nc'],
        ]
