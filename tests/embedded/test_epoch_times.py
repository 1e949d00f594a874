"""Times that are numbers since 1970, fields that are no columns, and the first warning."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow
from windrow.embedded.job import run_embedded
from windrow.jobs.job import job_of
from windrow.rows.epoch_times import as_instants, instant_of_number

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECONDS = int(MOMENT.timestamp())
SCALES = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}


def opened(**options: Any) -> windrow.Session:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k int", time="ts", **options)
    return session


def times_in(session: Any, rows: Any) -> list[datetime]:
    query = session.query("SELECT ts FROM s [1 DAY]")
    session.push("s", rows)
    session.finish()
    return query.result()["ts"].to_pylist()


@pytest.mark.parametrize("unit", list(SCALES))
@pytest.mark.parametrize("form", ["dict", "many dicts", "columns", "arrow", "float"])
def test_numbers_are_times_where_the_unit_is_known(unit: str, form: str) -> None:
    number = SECONDS * SCALES[unit]
    rows: Any = {
        "dict": {"ts": number, "k": 1},
        "many dicts": [{"ts": number, "k": 1}] * 20,
        "columns": {"ts": [number, MOMENT], "k": [1, 1]},
        "arrow": pa.table({"ts": pa.array([number, None]), "k": pa.array([1, 2], pa.int32())}),
        "float": {"ts": [float(number)], "k": [1]},
    }[form]
    assert set(times_in(opened(unit=unit), rows)) == {MOMENT}


def test_a_column_of_integers_is_one_of_times_by_its_unit() -> None:
    session = windrow.connect()
    session.stream("s", "ts bigint, k int", time="ts", unit="ms")
    assert times_in(session, {"ts": SECONDS * 1000 + 1, "k": 1}) == [
        MOMENT + timedelta(milliseconds=1)
    ]


# Rows with a number as their time, in every way that they can be given.
GIVEN: dict[str, Callable[[int], Any]] = {
    "dict": lambda number: {"ts": number, "k": 1},
    "many dicts": lambda number: [{"ts": number, "k": 1}] * 20,
    "columns": lambda number: {"ts": [number], "k": [1]},
    "numpy": lambda number: {"ts": np.array([number]), "k": np.array([1], np.int32)},
    "arrow": lambda number: pa.table({"ts": [number], "k": pa.array([1], pa.int32())}),
    "chunks with NULL": lambda number: pa.table(
        {"ts": pa.chunked_array([[number], [None]]), "k": pa.array([1, 2], pa.int32())}
    ),
    "uint64": lambda number: pa.table(
        {"ts": pa.array([number], pa.uint64()), "k": pa.array([1], pa.int32())}
    ),
}


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
@pytest.mark.parametrize("form", GIVEN)
def test_without_a_unit_numbers_are_refused_and_the_unit_is_guessed(unit: str, form: str) -> None:
    rows = GIVEN[form](SECONDS * SCALES[unit])
    with pytest.raises(windrow.DataError, match=f'unit="{unit}"') as caught:
        opened().push("s", rows)
    assert caught.value.code == "WD753"


@pytest.mark.parametrize("form", GIVEN)
def test_without_a_unit_integers_that_look_like_microseconds_are_these(form: str) -> None:
    session = opened(on_bad_row="set aside")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the row without a time
        assert set(times_in(session, GIVEN[form](SECONDS * 10**6))) == {MOMENT}


def test_one_number_of_another_unit_refuses_the_whole_push() -> None:
    mixed = [SECONDS * 10**6, SECONDS * 1000]
    for times in (mixed, pa.array(mixed), [None, *mixed]):
        with pytest.raises(windrow.DataError, match='unit="ms"'):
            opened().push("s", {"ts": times, "k": [1] * len(times)})
    with pytest.raises(windrow.DataError, match="WD753"):
        opened().push("s", {"ts": [float(SECONDS * 10**6)], "k": [1]})


@pytest.mark.parametrize("unit", ["sec", "S", 1])
def test_a_unit_is_one_of_four(unit: Any) -> None:
    with pytest.raises(windrow.BindingError, match="WB754"):
        opened(unit=unit)


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)), st.sampled_from(list(SCALES)))
def test_a_column_is_as_its_values(values: list[int | None], unit: str) -> None:
    found = as_instants(pa.array(values, pa.int64()), unit).cast(pa.int64()).to_pylist()
    assert found == [None if v is None else instant_of_number(v, unit) for v in values]


def test_numbers_in_files_are_times_too(tmp_path: Path) -> None:
    lines = [{"ts": SECONDS * 1000 + n, "k": n} for n in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (tmp_path / "b.csv").write_text("ts,k\n" + "\n".join(f"{x['ts']},{x['k']}" for x in lines))
    for source in (f"jsonl('{tmp_path}/a.jsonl')", f"csv('{tmp_path}/b.csv')"):
        columns = "(ts TIMESTAMP, k INT) TIME ts"
        told = _run(f"CREATE STREAM s {columns} UNIT ms FROM {source}")
        assert told == [{"n": 3, "last": MOMENT + timedelta(milliseconds=2)}]
        with pytest.raises(windrow.DataError, match=r"line [12], column 1 .*milliseconds"):
            _run(f"CREATE STREAM s {columns} FROM {source}")


@pytest.mark.parametrize("unit", SCALES)
@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_files_without_a_unit_have_microseconds_or_are_refused(
    unit: str, kind: str, tmp_path: Path
) -> None:
    numbers = [(SECONDS + n) * SCALES[unit] for n in range(3)]
    rows = [{"ts": number, "k": k} for k, number in enumerate(numbers)]
    path = tmp_path / f"rows.{kind}"
    if kind == "parquet":
        table = pa.table({"ts": numbers, "k": pa.array(range(3), pa.int32())})
        pq.write_table(table, path)
    elif kind == "csv":
        path.write_text("ts,k\n" + "\n".join(f"{row['ts']},{row['k']}" for row in rows))
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    text = f"CREATE STREAM s (ts TIMESTAMP, k INT) TIME ts FROM {kind}('{path}')"
    if unit == "us":
        assert _run(text) == [{"n": 3, "last": MOMENT + timedelta(seconds=2)}]
        return
    with pytest.raises(windrow.DataError, match="unit"):
        _run(text)


def test_fields_of_files_that_are_no_columns_may_be_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"ts": "2026-01-01", "k": 1, "extra": 2}')
    stream = "CREATE STREAM s (ts TIMESTAMP, k INT) TIME ts"
    source = f"FROM jsonl('{tmp_path}/a.jsonl')"
    assert _run(f"{stream} {source}")[0]["n"] == 1
    with pytest.raises(windrow.DataError, match="line 1: it has the field 'extra'"):
        _run(f"{stream} UNKNOWN FIELDS REFUSE {source}")


def _run(stream: str) -> list[dict[str, Any]]:
    ended: list[Any] = []

    class Watcher:
        def __getattr__(self, name: str) -> Any:
            return (lambda _, table: ended.append(table)) if name == "ended" else lambda *_: None

    query = "CREATE QUERY q AS SELECT COUNT(*) AS n, MAX(ts) AS last FROM s [1 DAY] INTO memory()"
    run_embedded(job_of(f"{stream}; {query}"), Watcher())  # type: ignore[arg-type]
    return ended[0].to_pylist()


def test_fields_of_a_push_that_are_no_columns() -> None:
    row = {"ts": MOMENT, "k": 1, "extra": 2}
    with pytest.raises(windrow.DataError, match="unknown_fields"):
        opened().push("s", row)
    for rows in (row, [row] * 20, {name: [value] for name, value in row.items()}):
        assert set(times_in(opened(unknown_fields="ignore"), rows)) == {MOMENT}
    with pytest.raises(windrow.BindingError, match="WB754"):
        opened(unknown_fields="drop")


# ---- warnings


def test_the_first_late_and_the_first_bad_row_are_told_at_the_line_that_pushed() -> None:
    session = opened(on_bad_row="set aside")
    session.push("s", {"ts": [MOMENT] * 20, "k": [1] * 20})
    with pytest.warns(windrow.WindrowWarning, match=r"session\.late\('s'\)") as caught:
        session.push("s", {"ts": [MOMENT - timedelta(1)], "k": [1]})
    assert caught[0].filename == __file__
    with pytest.warns(windrow.WindrowWarning, match=r"session\.ledger\(\).*bad_rows\('s'\)"):
        session.push("s", {"ts": [MOMENT], "k": ["one"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        session.push("s", {"ts": [MOMENT - timedelta(1)], "k": ["one"]})
        session.push("s", {"ts": [MOMENT - timedelta(1)], "k": [1]})
    assert session.ledger()["late"].to_pylist() == [2]


def test_rows_that_wait_are_told_where_one_reads() -> None:
    session = opened()
    session.push("s", {"ts": MOMENT, "k": 1})
    session.push("s", {"ts": MOMENT - timedelta(1), "k": 1})
    with pytest.warns(windrow.WindrowWarning, match="1 late") as caught:
        session.ledger()
    assert caught[0].filename == __file__
