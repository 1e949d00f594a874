"""The scripts of the examples and of the documentation, over small files.

Its streams and tables are read from small files instead of what it names, and its answers are shown
instead of written: brokers and databases have tests of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from support.doc_pages import blocks_of
from support.gallery import NAMES, ROOT, script_of
from support.runners import exactly
from windrow.connectors.console import Console
from windrow.connectors.files.connector import FileSource
from windrow.jobs.job import Job, job_of
from windrow.jobs.watcher import JobWatcher
from windrow.schema import Column, ColumnType, StreamSchema

__all__ = ["GAPS", "ROWS", "SCRIPTS", "Seen", "small_job"]

ROWS = 60
VALUES = {"BROKER": "mqtt://broker.test", "OPS_HOOK": "https://hooks.test/ops"}
VARIABLE = re.compile(r"env\('(\w+)'\)")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Scripts that one of the runners does not run, each with the reason.
GAPS: dict[str, str] = {
    "docs/how-to/alerts.md:6": "alerts run in process only (WU833)",
    "docs/how-to/live-sources.md:40": "IDLE AFTER is for sources in process (WU752)",
    "docs/how-to/service.md:17": "IDLE AFTER is for sources in process (WU752)",
}


def scripts() -> Iterator[tuple[str, str]]:
    """Those of the examples, then those of pages: whatever declares a stream and asks something."""
    for name in NAMES:
        yield name, script_of(name).read_text(encoding="utf-8")
    for page in PAGES:
        for block in blocks_of(page):
            if block.language in ("sql", "wql") and "CREATE STREAM" in block.text:
                yield f"{page.relative_to(ROOT)}:{block.line}", block.text


SCRIPTS = dict(scripts())


@dataclass
class Seen(JobWatcher):
    """What a job has answered, by query."""

    tables: dict[str, list[pa.Table]] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def answered(self, query: str, answers: pa.Table) -> None:
        self.tables.setdefault(query, []).append(answers)

    def ended(self, query: str, result: pa.Table) -> None:
        self.tables.setdefault(query, []).append(result)

    def counted(self, ledger: pa.Table, bad_rows: Mapping[str, Any]) -> None:
        del bad_rows
        self.rows |= {row["stream"]: row["rows_in"] for row in ledger.to_pylist()}

    def told(self) -> dict[str, list[str]]:
        return {
            query: sorted(exactly(pa.concat_tables(tables)))
            for query, tables in self.tables.items()
            if sum(map(len, tables))
        }


def small_job(text: str, folder: Path) -> Job:
    """The job of a script over small files."""
    # What a script takes from the environment is for servers that are not asked here.
    named = {name: VALUES.get(name, "of-a-test") for name in VARIABLE.findall(text)}
    with mock.patch.dict(os.environ, named):
        job = job_of(text)
    for declared in (job.streams, job.tables):
        for name, each in declared.items():
            path = folder / name
            path.mkdir()
            pq.write_table(_rows(each.schema), path / "1.parquet")
            declared[name] = replace(each, source=FileSource("parquet", str(path)))
    for name, query in job.queries.items():
        job.queries[name] = replace(query, sink=Console())
    job.settings = replace(job.settings, checkpoint=None)
    return job


def _rows(schema: StreamSchema) -> pa.Table:
    columns = [
        pa.array([_value(column, schema.time, i) for i in range(ROWS)], column.type.arrow)
        for column in schema.columns
    ]
    return pa.Table.from_arrays(columns, schema=schema.arrow)


def _value(column: Column, time: str, i: int) -> Any:
    if column.name == time:
        moment = START + timedelta(seconds=20 * i)
        seconds = int(moment.timestamp())
        return seconds * 1_000_000 if column.type.is_integer else moment
    return _of_type(column.type, i)


def _of_type(kind: ColumnType, i: int) -> Any:
    number = 35 + i * 7 % 11
    if kind.name in ("STRING", "BINARY"):
        text = "abc"[i % 3]
        return text if kind.name == "STRING" else text.encode()
    if kind.name == "BOOLEAN":
        return i % 2 == 0
    if kind.name == "DATE":
        return date(2026, 1, 1 + i % 3)
    if kind.name.startswith("TIMESTAMP"):
        return START + timedelta(seconds=i)
    if kind.name == "DECIMAL":
        return Decimal(number)
    if kind.is_integer:
        return 1 + number % 5
    return None if kind.is_nested else float(number)
