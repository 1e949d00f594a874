"""Delta and Iceberg tables in process: each batch once, whatever breaks off between commits."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.table import Transaction

from support.sink_batches import BrokenError, Fault, query_batches, run_of, written, written_with
from windrow import sinks
from windrow.connectors.contract import Sink
from windrow.connectors.delta import writer as delta_writer
from windrow.errors import CheckpointError

SYSTEMS = ("delta", "iceberg")
QUERY = "SELECT k, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY k"


def place(folder: Path) -> dict[str, str]:
    uri, warehouse = f"sqlite:///{folder}/catalog.db", f"file://{folder}"
    return {"type": "sql", "uri": uri, "warehouse": warehouse}


def sink_of(system: str, folder: Path) -> Sink:
    if system == "delta":
        return sinks.delta(folder / "t", "changes")
    options = {f"catalog.{name}": value for name, value in place(folder).items()}
    return sinks.iceberg("a.t", feed="changes", options=options)


def rows_in(system: str, folder: Path) -> Counter[tuple[Any, ...]]:
    if system == "delta":
        table = pa.table(DeltaTable(str(folder / "t")).to_pyarrow_table())
    else:
        table = SqlCatalog("default", **place(folder)).load_table("a.t").scan().to_arrow()
    return Counter(map(tuple, (row.values() for row in table.to_pylist())))


def wanted(batches: list[dict[str, pa.Table]]) -> Counter[tuple[Any, ...]]:
    rows = pa.concat_tables([batch["changes"] for batch in batches]).to_pylist()
    return Counter(map(tuple, (row.values() for row in rows)))


def patched(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """A commit may fail before it is made, and after it."""
    commit = fault.around(delta_writer.write_deltalake)
    monkeypatch.setattr(delta_writer, "write_deltalake", commit)
    whole = Transaction.commit_transaction

    def called(transaction: Transaction) -> Any:
        return fault.around(whole)(transaction)

    monkeypatch.setattr(Transaction, "commit_transaction", called)


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_commit_may_fail(system: str, is_after: bool, tmp_path: Path) -> None:
    batches, plan = query_batches(5, 4, QUERY)
    for at in (1, 2):
        folder = tmp_path / str(at)
        folder.mkdir()
        fault = Fault(at, OSError("no") if at % 2 else BrokenError(), is_after=is_after)
        written_with(fault, sink_of(system, folder), plan, batches, patched)
        assert fault.has_come
        assert rows_in(system, folder) == wanted(batches)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_without_state_adds_to_what_is_there(system: str, tmp_path: Path) -> None:
    batches, plan = query_batches(5, 3, QUERY)
    for _ in range(2):
        writer = sink_of(system, tmp_path).open_in_process(run_of(plan, None, ""))
        for number, tables in enumerate(batches):
            writer.write(tables, number)
    assert rows_in(system, tmp_path) == wanted(batches) + wanted(batches)


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_new_state_does_not_add_what_another_has_added(system: str, tmp_path: Path) -> None:
    batches, plan = query_batches(5, 2, QUERY)
    written(sink_of(system, tmp_path), plan, batches)
    with pytest.raises(CheckpointError, match=r"WC26[01]"):
        sink_of(system, tmp_path).open_in_process(run_of(plan, None, "other"))
