"""Times that are numbers since 1970, fields that are no columns, and the first warning."""

from __future__ import annotations

import json
import warnings
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
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


@pytest.mark.parametrize(("number", "unit"), [(SECONDS, "s"), (SECONDS * 1000, "ms")])
@pytest.mark.parametrize("form", ["dict", "arrow"])
def test_without_a_unit_numbers_are_refused_and_the_unit_is_guessed(
    number: int, unit: str, form: str
) -> None:
    rows: Any = {"ts": number, "k": 1}
    if form == "arrow":
        rows = pa.table({"ts": [number], "k": pa.array([1], pa.int32())})
    with pytest.raises(windrow.DataError, match=f'unit="{unit}"') as caught:
        opened().push("s", rows)
    assert caught.value.code == "WD753"


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
