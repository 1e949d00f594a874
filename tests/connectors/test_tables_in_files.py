"""Tables of SQLite and DuckDB: the result, or all that was added, whatever comes between."""

from __future__ import annotations

import math
import sqlite3
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from support.sink_batches import BrokenError, Fault, query_batches, run_of, written, written_with
from support.streams import plan_of
from windrow import sinks
from windrow.connectors.contract import Sink
from windrow.connectors.sql_tables.duckdb_file import DuckdbFile
from windrow.connectors.sql_tables.sqlite_file import SqliteFile
from windrow.errors import BindingError, CheckpointError, DataError, UnsupportedError

SYSTEMS = ("sqlite", "duckdb")
FEEDS = ("upserts", "changes", "answers")
PLAN = plan_of("SELECT a.k AS k, COUNT(*) AS n FROM a [1 MINUTE] GROUP BY a.k")


def sink_of(
    system: str, folder: Path, feed: str = "upserts", table: str = "t", **more: Any
) -> Sink:
    made: Callable[..., Sink] = getattr(sinks, system)
    return made(folder / f"x.{system}", table, feed, **more)


def rows_in(system: str, folder: Path, query: str = "SELECT * FROM t") -> list[tuple[Any, ...]]:
    file = str(folder / f"x.{system}")
    if system == "duckdb":
        with duckdb.connect(file) as connection:
            return connection.execute(query).fetchall()
    connection = sqlite3.connect(file)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def counted(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Rows, whatever their order; NaN equals itself."""
    return Counter(tuple(map(plain, row)) for row in rows)


def plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    return value


def wanted(batches: list[dict[str, pa.Table]], feed: str) -> list[tuple[Any, ...]]:
    tables = [batches[-1]["result"]] if feed == "upserts" else [batch[feed] for batch in batches]
    columns = [pa.concat_tables(tables).to_pydict()]
    names = [name for name in columns[0] if name != "at"]
    return list(zip(*(columns[0][name] for name in names), strict=True))


@pytest.mark.parametrize("system", SYSTEMS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10_000), feed=st.sampled_from(FEEDS))
def test_the_table_has_what_the_query_has_given(
    system: str, seed: int, feed: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("t")
    batches, plan = query_batches(seed, 6)
    written(sink_of(system, folder, feed), plan, batches)
    names = ", ".join(name for name in columns(feed))
    assert counted(rows_in(system, folder, f"SELECT {names} FROM t")) == counted(
        wanted(batches, feed)
    )


def columns(feed: str) -> tuple[str, ...]:
    first = {"changes": ("change",), "answers": ("level", "error_bound")}.get(feed, ())
    return (*first, "k", "n", "x")


def patched_sqlite(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    """Every call of a connection may fail."""
    connect = sqlite3.connect

    class Failing:
        def __init__(self, connection: sqlite3.Connection) -> None:
            self._connection = connection
            self.execute = fault.around(connection.execute)
            self.executemany = fault.around(connection.executemany)
            self.close = connection.close

        @property
        def in_transaction(self) -> bool:
            return self._connection.in_transaction

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **b: Failing(connect(*a, **b)))


def patched_duckdb(monkeypatch: pytest.MonkeyPatch, fault: Fault) -> None:
    connect = duckdb.connect

    class Failing:
        def __init__(self, connection: Any) -> None:
            self._connection = connection
            for name in ("execute", "begin", "commit", "register"):
                setattr(self, name, fault.around(getattr(connection, name)))

        def __getattr__(self, name: str) -> Any:
            return getattr(self._connection, name)

    monkeypatch.setattr(duckdb, "connect", lambda *a, **b: Failing(connect(*a, **b)))


# A file of DuckDB takes longer to make than one of SQLite: fewer calls are tried.
STEPS = {"sqlite": 0, "duckdb": 3}
PATCHES = {"sqlite": patched_sqlite, "duckdb": patched_duckdb}
CLIENTS_OWN = {"sqlite": sqlite3.OperationalError, "duckdb": duckdb.IOException}


@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_any_call_may_fail(system: str, is_after: bool, tmp_path: Path) -> None:
    batches, plan = query_batches(7, 4)
    at = -STEPS[system]
    while True:
        at += STEPS[system] + 1
        folder = tmp_path / str(at)
        folder.mkdir()
        error = CLIENTS_OWN[system]("no") if at % 2 else BrokenError()
        fault = Fault(at, error, is_after=is_after)
        written_with(fault, sink_of(system, folder), plan, batches, PATCHES[system])
        assert counted(rows_in(system, folder, "SELECT k, n, x FROM t")) == counted(
            wanted(batches, "upserts")
        )
        if not fault.has_come:
            break
    assert at > 15


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_batch_that_comes_again_is_known(system: str, tmp_path: Path) -> None:
    batches, plan = query_batches(5, 4)
    table = next(batch for batch in batches if batch["answers"].num_rows)
    for _ in range(2):
        writer = sink_of(system, tmp_path, "answers").open_in_process(run_of(plan, 1))
        for _ in range(2):
            writer.write(table, 4)
        writer.close()
    assert len(rows_in(system, tmp_path)) == table["answers"].num_rows
    writer = sink_of(system, tmp_path, "answers").open_in_process(run_of(plan, 1))
    with pytest.raises(CheckpointError, match="WC252"):
        writer.write(table, 3)


@pytest.mark.parametrize("system", SYSTEMS)
def test_rows_of_others_are_refused(system: str, tmp_path: Path) -> None:
    batches, plan = query_batches(3, 4)
    written(sink_of(system, tmp_path), plan, batches)
    with pytest.raises(CheckpointError, match=r"WC250.*another checkpoint"):
        sink_of(system, tmp_path).open_in_process(run_of(plan, None, "other"))
    with pytest.raises(CheckpointError, match=r"WC253"):
        sink_of(system, tmp_path, table="new").open_in_process(run_of(plan, 3))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_without_state_begins_anew(system: str, tmp_path: Path) -> None:
    batches, plan = query_batches(5, 6)
    for feed, table in (("upserts", "u"), ("changes", "c")):
        for _ in range(2):
            sink = sink_of(system, tmp_path, feed, table=table)
            writer = sink.open_in_process(run_of(plan, None, ""))
            for number, tables in enumerate(batches):
                writer.write(tables, number)
            writer.close()
    assert counted(rows_in(system, tmp_path, "SELECT k, n, x FROM u")) == counted(
        wanted(batches, "upserts")
    )
    added = sum(batch["changes"].num_rows for batch in batches)
    assert len(rows_in(system, tmp_path, "SELECT * FROM c")) == 2 * added


@pytest.mark.parametrize("system", SYSTEMS)
def test_tables_that_would_change_values_are_refused(system: str, tmp_path: Path) -> None:
    kind = {"sqlite": SqliteFile, "duckdb": DuckdbFile}[system]
    database: Any = kind(str(tmp_path / f"x.{system}"))
    database.one("CREATE TABLE {} (k text, n integer)", ("narrow",))
    database.one("CREATE TABLE {} (n bigint, more text, K bigint)", ("wide",))
    database.one("CREATE TABLE {} (k date, n text)", ("other",))
    database.close()
    wide = sink_of(system, tmp_path, table="wide").open_in_process(run_of(PLAN, None))
    changes = pa.table({"at": [1], "change": [1], "k": [7], "n": [2]})
    wide.write({"changes": changes}, 0)
    wide.close()
    assert rows_in(system, tmp_path, "SELECT k, n, more FROM wide") == [(7, 2, None)]
    for name in ("other", "narrow") if system == "duckdb" else ("other",):
        with pytest.raises(BindingError, match=r"WB447.*column 'k|n'"):
            sink_of(system, tmp_path, table=name).open_in_process(run_of(PLAN, None))
    with pytest.raises(BindingError, match=r"WB447.*no column 'at'"):
        sink_of(system, tmp_path, "changes", table="wide").open_in_process(run_of(PLAN, None))


@pytest.mark.parametrize("system", SYSTEMS)
def test_wrong_descriptions_are_refused(system: str, tmp_path: Path) -> None:
    made = getattr(sinks, system)
    with pytest.raises(BindingError, match="WB444"):
        made("x", "t", "rows")
    with pytest.raises(BindingError, match="WB446"):
        made("x", "t", "answers", ["k"])
    with pytest.raises(BindingError, match="WB830"):
        made(":memory:", "t")
    with pytest.raises(BindingError, match="WB831"):
        made("x", "a.b.c")
    plan = plan_of("SELECT a.k AS k FROM a [1 MINUTE]")
    with pytest.raises(BindingError, match="WB423"):
        sink_of(system, tmp_path).open_in_process(run_of(plan, None))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_file_that_is_none_is_named(system: str, tmp_path: Path) -> None:
    (tmp_path / f"x.{system}").write_bytes(b"no database at all" * 1_000)
    with pytest.raises(DataError, match=rf"WD830.*x\.{system}, table t"):
        sink_of(system, tmp_path).open_in_process(run_of(PLAN, None))
    with pytest.raises(DataError, match="WD830"):
        sink_of(system, tmp_path / "nowhere").open_in_process(run_of(PLAN, None))


def test_questions_about_the_past_have_no_key(tmp_path: Path) -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, x int", time="ts")
    session.history("s", measures=["x"], levels=[("1 second", "forever")])
    text = "SELECT SUM(x) AS x FROM HISTORY(s) [FROM '2026-01-01' TO NOW] EVERY (1 SECOND)"
    plan: Any = session.plan_of(text)
    with pytest.raises(UnsupportedError, match="WU830"):
        sinks.sqlite(tmp_path / "x.db", "t").open_in_process(run_of(plan, None))
    writer = sinks.sqlite(tmp_path / "x.db", "t", "changes").open_in_process(run_of(plan, None))
    writer.close()


ALL_TYPES = pa.table(
    {
        "at": pa.array([0, 1], pa.timestamp("us", tz="UTC")),
        "change": pa.array([1, 1], pa.int8()),
        "b": [True, None],
        "d": pa.array(["1.10", None], pa.string()).cast(pa.decimal128(10, 2)),
        "day": pa.array([1, None], pa.date32()),
        "local": pa.array([1, None], pa.timestamp("us")),
        "bytes": pa.array([b"\x00\xff", None]),
        "span": pa.array([90_000_000, None], pa.duration("us")),
        "list": pa.array([[1.5, None], None], pa.list_(pa.float64())),
        "struct": pa.array([{"a": 1}, None], pa.struct([("a", pa.int32())])),
        "f": pa.array([math.nan, -math.inf]),
    }
)


def test_values_of_all_types_reach_sqlite(tmp_path: Path) -> None:
    database = SqliteFile(str(tmp_path / "x.sqlite"))
    database.prepare(("t",), ALL_TYPES.schema, None)
    database.add(("t",), ALL_TYPES)
    database.close()
    first, second = rows_in("sqlite", tmp_path)
    assert first == (
        *("1970-01-01 00:00:00.000000", 1, 1, "1.10", "1970-01-02", "1970-01-01 00:00:00.000001"),
        *(b"\x00\xff", 90_000_000, "[1.5, null]", '{"a": 1}', "NaN"),
    )
    assert second == ("1970-01-01 00:00:00.000001", 1, *[None] * 8, -math.inf)


def test_values_of_all_types_reach_duckdb(tmp_path: Path) -> None:
    database = DuckdbFile(str(tmp_path / "x.duckdb"))
    database.prepare(("t",), ALL_TYPES.schema, None)
    database.add(("t",), ALL_TYPES)
    database.close()
    with duckdb.connect(str(tmp_path / "x.duckdb")) as connection:
        found = connection.sql("SELECT * EXCLUDE (f) FROM t").to_arrow_table()
        told = found.drop_columns(["span"]).to_pylist()
        assert told == ALL_TYPES.drop_columns(["f", "span"]).to_pylist()
        spans = connection.execute("SELECT span FROM t").fetchall()
        assert spans == [(timedelta(seconds=90),), (None,)]
        assert connection.execute("SELECT isnan(f) FROM t").fetchall() == [(True,), (False,)]


def test_two_queries_may_add_to_one_table_of_one_file(tmp_path: Path) -> None:
    batches, plan = query_batches(5, 4)
    for system in SYSTEMS:
        writers = [
            sink_of(system, tmp_path, "answers").open_in_process(
                run_of(plan, None).__class__(name, plan, None, "state")
            )
            for name in ("one", "two")
        ]
        for number, tables in enumerate(batches):
            for writer in writers:
                writer.write(tables, number)
        for writer in writers:
            writer.close()
        rows = sum(batch["answers"].num_rows for batch in batches)
        assert len(rows_in(system, tmp_path)) == 2 * rows
