"""kill -9 of a job in this process at some batches of its sink: every answer is there once."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.catalog.sql import SqlCatalog

from support.command_line import environment
from windrow.rows.json_texts import json_texts

pytestmark = pytest.mark.recovery

SINKS = {
    "sqlite": "sqlite('t', path = 'x.db', feed = 'changes')",
    "duckdb": "duckdb('t', path = 'x.duckdb', feed = 'changes')",
    "jsonl": "jsonl('t', feed = 'changes', partition_by = 'room', batches_per_file = 3)",
    "delta": "delta('t', feed = 'changes')",
    "iceberg": "iceberg('a.t', feed = 'changes', catalog.type = 'sql', "
    "catalog.uri = 'sqlite:///catalog.db', catalog.warehouse = 'file://FOLDER')",
}
JOB = """
CREATE STREAM temp (room STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts FROM csv('temp.csv');
CREATE QUERY q AS SELECT room, COUNT(*) AS n, MAX(celsius) AS top FROM temp [10 SECONDS]
  GROUP BY room INTO SINK;
"""
# The job, which is killed before or after the given batch is written.
PROGRAM = """
import os, signal, sys
import windrow.connectors.files.reading as reading
import windrow.connectors.files.csv_files as csv_files
from windrow.connectors import contract
from windrow.embedded.outlet import Outlet
for module in (reading, csv_files):
    if hasattr(module, "BATCH_ROWS"):
        module.BATCH_ROWS = 20
batch, when = int(sys.argv[1]), sys.argv[2]
whole = Outlet._opened
def opened(self):
    writer = whole(self)
    write = writer.write
    def written(tables, number):
        if number == batch and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        write(tables, number)
        if number == batch:
            os.kill(os.getpid(), signal.SIGKILL)
    writer.write = written
    return writer
if batch >= 0:
    Outlet._opened = opened
from windrow.apps.cli import main
sys.argv = ["windrow", "run", "job.wql", "--embedded", "--state", "state", "--json"]
main()
"""


def write_job(folder: Path, sink: str) -> None:
    folder.mkdir()
    rooms = ("hall", "roof", "lab")
    lines = [
        f"{rooms[n * n % 3]},2026-01-01T00:{n // 60:02}:{n % 60:02}Z,{20 + n % 7}"
        for n in range(160)
    ]
    (folder / "temp.csv").write_text("room,ts,celsius\n" + "\n".join(lines) + "\n")
    job = JOB.replace("SINK", SINKS[sink]).replace("FOLDER", str(folder))
    (folder / "job.wql").write_text(job)


def run(folder: Path, batch: int = -1, when: str = "after") -> int:
    command = [sys.executable, "-c", PROGRAM, str(batch), when]
    done = subprocess.run(
        command, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


def rows_in(sink: str, folder: Path) -> Counter[str]:
    table: Any
    if sink == "sqlite":
        connection = sqlite3.connect(folder / "x.db")
        found = connection.execute("SELECT at, change, room, n, top FROM t").fetchall()
        connection.close()
        return Counter(map(repr, found))
    if sink == "duckdb":
        with duckdb.connect(str(folder / "x.duckdb")) as opened:
            return Counter(map(repr, opened.execute("FROM t").fetchall()))
    if sink == "jsonl":
        files = sorted((folder / "t").rglob("*.jsonl"))
        return Counter(line for file in files for line in file.read_text().splitlines())
    if sink == "delta":
        table = pa.table(DeltaTable(str(folder / "t")).to_pyarrow_table())
    else:
        place = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": f"file://{folder}"}
        table = SqlCatalog("default", **place).load_table("a.t").scan().to_arrow()
    return Counter(str(text) for text in json_texts(table.to_struct_array()))


@pytest.mark.parametrize("sink", SINKS)
def test_a_few_kills_of_a_job_in_process(sink: str, tmp_path: Path) -> None:
    write_job(tmp_path / "whole", sink)
    assert run(tmp_path / "whole") == 0
    write_job(tmp_path / "killed", sink)
    for batch, when in ((0, "after"), (2, "before"), (4, "after")):
        assert run(tmp_path / "killed", batch, when) == -signal.SIGKILL
    assert run(tmp_path / "killed") == 0
    found = rows_in(sink, tmp_path / "killed")
    assert found == rows_in(sink, tmp_path / "whole")
    assert found.total() > 100
