"""The examples as a reader runs them, and DuckDB to work the same things out from all rows."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from datetime import datetime
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

from support.command_line import events
from windrow.apps.cli import app

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "examples"
NAMES = sorted(path.name for path in GALLERY.iterdir() if path.is_dir())
REAL_DATA = ROOT.parent / "shared" / "data"

Rows = list[tuple[object, ...]]


def script_of(name: str) -> Path:
    """The one job of an example."""
    (path,) = (GALLERY / name).glob("*.wql")
    return path


def module_of(name: str, part: str) -> ModuleType:
    """A program of an example; each has a make_data of its own, which the others must not see."""
    folder = GALLERY / name
    made = _loaded(folder / "make_data.py")
    if part == "make_data":
        return made
    sys.modules["make_data"] = made
    try:
        return _loaded(folder / f"{part}.py")
    finally:
        del sys.modules["make_data"]


def program_of(name: str) -> ModuleType:
    """The program that uses the Python API."""
    (path,) = (GALLERY / name).glob("watch_*.py")
    return module_of(name, path.stem)


def output_of(module: ModuleType, *words: str) -> str:
    """What a program prints when it is called with these words."""
    printed = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(sys, "argv", [module.__name__, *words])
        module.main()
    return printed.getvalue()


def shown_output(name: str) -> str:
    """The first block of output in the example's README: that of its program."""
    text = (GALLERY / name / "README.md").read_text(encoding="utf-8")
    match = re.search(r"^```text\n(.*?)^```$", text, re.M | re.S)
    assert match, "the README shows no output"
    return match[1]


def job_answers(name: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Runs the job of an example in process; by query the answers, or the rows at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        output_of(module_of(name, "make_data"), f"example-data/{name}")
        done = CliRunner().invoke(app, ["run", str(script_of(name)), "--embedded", "--json"])
    assert done.exit_code == 0, done.stderr
    found: dict[str, list[dict[str, Any]]] = {}
    for event in events(done.stdout):
        if event["event"] in ("answer", "result"):
            found.setdefault(event["query"], []).append(event)
    return found


def rows_of(answers: pa.Table | Iterable[Mapping[str, Any]], *names: str) -> Rows:
    """Some columns of answers, in order; times as they are in UTC."""
    listed = answers.to_pylist() if isinstance(answers, pa.Table) else answers
    return sorted(tuple(_plain(row[name]) for name in names) for row in listed)


def worked_out(statement: str, **tables: pa.Table) -> Rows:
    """What DuckDB says, in order."""
    database = duckdb.connect(config={"threads": 1})
    database.execute("SET TimeZone = 'UTC'")
    for name, table in tables.items():
        database.register(name, table)
    found = database.execute(statement).fetchall()
    return sorted(tuple(_plain(value) for value in row) for row in found)


def ticks(tables: Iterable[pa.Table], every_s: int) -> pa.Table:
    """The multiples of a span from the first row to the last one, as answers come."""
    every_us = every_s * 1_000_000
    spans = [pc.min_max(table["ts"].cast(pa.int64())).as_py() for table in tables]
    first = -(-min(span["min"] for span in spans) // every_us) * every_us
    last = max(span["max"] for span in spans)
    instants = pa.array(range(first, last + 1, every_us), pa.int64())
    return pa.table({"t": instants.cast(pa.timestamp("us", tz="UTC"))})


def _plain(value: object) -> object:
    if isinstance(value, str) and re.match(r"\d{4}-\d\d-\d\dT", value):
        value = datetime.fromisoformat(value)
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}/{path.stem}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
