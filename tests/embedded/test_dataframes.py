"""Rows from and to pandas, Polars, DuckDB and what speaks Arrow: what goes in comes out."""

from __future__ import annotations

import math
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow
from windrow.dataframes import FRAMES, convert
from windrow.embedded import EmbeddedSession

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        *(("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int64()), ("s", pa.string())),
        *(("d", pa.float64()), ("p", pa.decimal128(10, 2)), ("o", pa.bool_()), ("y", pa.date32())),
    ]
)
# NULL beside NaN, a whole number that no double holds, and a decimal that no double holds.
TABLE = pa.table(
    {
        "ts": [MOMENT, MOMENT + timedelta(microseconds=1), MOMENT + timedelta(microseconds=2)],
        "k": [2**53 + 1, None, -1],
        "s": ["é", None, ""],
        "d": [math.nan, None, 0.1],
        "p": [Decimal("99999999.99"), None, Decimal("0.10")],
        "o": [True, None, False],
        "y": [date(2026, 1, 1), None, date(1969, 12, 31)],
    },
    schema=SCHEMA,
)


class OnlyStream:
    """What another Arrow library gives: nothing but the capsule of a stream."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    """Nothing but the capsule of one batch."""

    def __init__(self, table: pa.Table) -> None:
        (self._batch,) = table.to_batches()

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self._batch.__arrow_c_array__(requested_schema)


def session_and_rows() -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(memory="16 MB")
    session.stream("t", SCHEMA, time="ts")
    return session, session.query("SELECT ts, k, s, d, p, o, y FROM t [1 DAY]")


def exactly(table: pa.Table) -> list[list[str]]:
    """Every value by its text, which tells NULL from NaN; of times the moment counts."""
    return [[f"{type(value)} {value}" for value in row.values()] for row in table.to_pylist()]


def pushed(rows: object) -> pa.Table:
    session, query = session_and_rows()
    session.push("t", rows)
    session.finish()
    assert query.result().schema == SCHEMA
    return query.result()


FORMS = {
    "reader": lambda: TABLE.to_reader(max_chunksize=1),
    "pandas of Arrow types": lambda: TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda: pl.from_arrow(TABLE),
    "lazy polars": lambda: pl.from_arrow(TABLE).lazy(),
    "duckdb": lambda: duckdb.from_arrow(TABLE),
    "stream capsule": lambda: OnlyStream(TABLE),
    "array capsule": lambda: OnlyArray(TABLE),
    "columns": lambda: TABLE.to_pydict(),
    "columns of Arrow": lambda: dict(zip(TABLE.column_names, TABLE.columns, strict=True)),
    "columns of polars": lambda: pl.from_arrow(TABLE).to_dict(as_series=True),
    "columns of pandas": lambda: dict(TABLE.to_pandas(types_mapper=pd.ArrowDtype).items()),
    "string views": lambda: TABLE.set_column(2, "s", TABLE["s"].cast(pa.string_view())),
}


@pytest.mark.parametrize("form", FORMS)
def test_what_is_pushed_is_what_comes_out(form: str) -> None:
    assert exactly(pushed(FORMS[form]())) == exactly(TABLE)


@pytest.mark.parametrize("to", [None, *FRAMES])
def test_no_rows_are_rows_too(to: str | None) -> None:
    session, query = session_and_rows()
    session.push("t", convert(TABLE.slice(0, 0), to))
    session.push("t", {name: [] for name in TABLE.column_names})
    session.push("t", pa.table({name: pa.nulls(1) for name in TABLE.column_names}))
    session.finish()
    assert query.result().num_rows == 0
    (ledger,) = session.ledger().to_pylist()
    assert (ledger["rows_in"], ledger["bad_time"]) == (1, 1)


def test_columns_of_numpy() -> None:
    found = pushed(
        {
            "ts": np.array(["2026-01-01T12:00"] * 2, "datetime64[ns]"),
            "k": np.array([1, 2], np.int16),
            "s": np.array(["a", "b"]),
            "d": np.array([math.nan, 1.5]),
            "p": [Decimal("1.5"), None],
            "o": np.array([True, False]),
            "y": np.array(["2026-01-01", "NaT"], "datetime64[D]"),
        }
    ).to_pylist()
    assert [row["y"] for row in found] == [date(2026, 1, 1), None]
    assert math.isnan(found[0]["d"])  # NumPy has no NULL: NaN stays what it is


def test_nan_of_plain_pandas_is_a_missing_value_as_pandas_means_it() -> None:
    frame = pd.DataFrame({"ts": [MOMENT] * 2, "k": [1.0, math.nan], "d": [0.5, math.nan]})
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint, d double", time="ts")
    query = session.query("SELECT k, d FROM t [1 DAY]")
    session.push("t", frame)
    session.push("t", {"ts": frame["ts"], "k": frame["k"], "d": frame["d"]})
    session.finish()
    assert query.result()["k"].to_pylist() == [None, None, 1, 1]
    assert query.result()["d"].to_pylist() == [None, None, 0.5, 0.5]


def test_an_index_of_pandas_is_a_column_only_when_it_is_named_like_one() -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    query = session.query("SELECT ts, k FROM t [1 DAY]")
    frame = pd.DataFrame({"ts": [MOMENT] * 3, "k": [1, 2, 3]})
    session.push("t", frame[frame.k > 1])
    session.push("t", frame.set_index("ts"))
    session.push("t", frame.set_index(["k", "ts"]))
    session.finish()
    wanted = [1, 1, 2, 2, 2, 3, 3, 3]
    assert query.result().to_pylist() == [{"ts": MOMENT, "k": k} for k in wanted]


def test_zones_are_brought_to_utc_and_no_zone_counts_as_utc() -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    query = session.query("SELECT ts FROM t [1 DAY]")
    naive = MOMENT.replace(tzinfo=None)
    tokyo = pd.Timestamp(MOMENT).tz_convert("Asia/Tokyo")
    session.push("t", pd.DataFrame({"ts": [tokyo], "k": [1]}))
    session.push("t", pd.DataFrame({"ts": [naive], "k": [2]}))
    session.push("t", pl.DataFrame({"ts": [naive], "k": [3]}))
    zoned = pl.DataFrame({"ts": [MOMENT], "k": [4]}).with_columns(
        pl.col("ts").dt.convert_time_zone("America/New_York")
    )
    session.push("t", zoned)
    session.push("t", duckdb.sql("SELECT TIMESTAMP '2026-01-01 12:00:00' AS ts, 5 AS k"))
    session.push("t", duckdb.sql("SELECT TIMESTAMPTZ '2026-01-01 14:00:00+02' AS ts, 6 AS k"))
    session.finish()
    assert query.result()["ts"].to_pylist() == [MOMENT] * 6


NESTED = [
    pa.array([[1], [2]]),
    pa.array([{"a": 1}, {"a": 2}]),
    pa.array([b"a", b"\xff"]),
]


@pytest.mark.parametrize("column", NESTED, ids=lambda column: str(column.type))
@pytest.mark.parametrize("kind", ["bigint", "string", "double", "date", "decimal(10, 2)"])
@pytest.mark.parametrize("frame", ["arrow", "polars", "pandas", "duckdb"])
def test_what_no_column_holds_is_refused(column: pa.Array, kind: str, frame: str) -> None:
    session = windrow.connect()
    session.stream("t", f"ts timestamp, k {kind}", time="ts")
    table = pa.table({"ts": [MOMENT] * 2, "k": column})
    rows = table if frame == "arrow" else convert(table, frame)
    with pytest.raises(windrow.DataError) as caught:
        session.push("t", rows)
    assert caught.value.code == "WD103"
    assert session.ledger()["rejected"].to_pylist() == [2]


class Broken:
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise RuntimeError("the cable is cut")


TIMES = [MOMENT] * 3
REFUSED = {
    "a library's own failure": ("WD104", Broken(), 1),
    "a frame that cannot be collected": ("WD104", pl.LazyFrame({"x": [1]}).select("y"), 1),
    "columns of mixed values": (
        "WD104",
        pd.DataFrame({"ts": TIMES, "k": [1, "one", b"one"]}),
        3,
    ),
    "columns of different lengths": ("WD105", {"ts": TIMES, "k": [1, 2]}, 3),
    "a value beside columns": ("WD105", {"ts": TIMES, "k": 1}, 3),
    "a tuple too long": ("WD106", (MOMENT, 1, 2), 1),
    "a column too few": ("WD102", {"ts": TIMES}, 3),
    "a column too many": ("WD102", {"ts": TIMES, "k": [1] * 3, "x": [1] * 3}, 3),
    "a column twice": ("WD102", pa.table([TIMES, [1] * 3, [2] * 3], ["ts", "k", "k"]), 3),
    "a wrong value": ("WD103", {"ts": TIMES, "k": [1, 2.5, 3]}, 3),
    "a wrong array": ("WD103", {"ts": TIMES, "k": np.array([1.0, 2.5, 3.0])}, 3),
    "a reader with a wrong column": (
        "WD103",
        pa.table({"ts": TIMES, "k": [1.0, 2.5, 3.0]}).to_reader(),
        3,
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_whole_and_counted(what: str) -> None:
    code, rows, count = REFUSED[what]
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    with pytest.raises(windrow.DataError) as caught:
        session.push("t", rows)
    assert caught.value.code == code
    assert caught.value.hint
    (ledger,) = session.ledger().to_pylist()
    assert (ledger["rows_in"], ledger["rejected"]) == (count, count)


@pytest.mark.parametrize("to", FRAMES)
def test_results_go_through_a_frame_and_back_unchanged(to: str) -> None:
    session, query = session_and_rows()
    session.push("t", TABLE)
    session.finish()
    assert exactly(pushed(query.result(to=to))) == exactly(TABLE)


def test_types_of_frames() -> None:
    session, query = session_and_rows()
    session.push("t", TABLE)
    session.finish()
    frame = query.result(to="pandas")
    assert isinstance(frame, pd.DataFrame)
    assert frame["k"].dtype == pd.ArrowDtype(pa.int64())
    assert frame["k"].tolist()[0] == 2**53 + 1
    assert frame["ts"].dt.tz is not None
    polars = query.result(to="polars")
    assert polars.schema["p"] == pl.Decimal(10, 2)
    assert polars.schema["ts"] == pl.Datetime("us", "UTC")
    assert polars["d"].is_nan().to_list() == [True, None, False]
    relation = query.result(to="duckdb")
    assert relation.aggregate("COUNT(*), SUM(p)").fetchall() == [(3, Decimal("100000000.09"))]
    counted = "COUNT(*) FILTER (isnan(d)), COUNT(*) FILTER (d IS NULL)"
    assert relation.aggregate(counted).fetchall() == [(1, 1)]


def test_duckdb_finds_tables_by_their_names() -> None:
    session, query = session_and_rows()
    session.push("t", TABLE)
    session.finish()
    now = query.result()
    assert duckdb.sql("SELECT COUNT(*) FROM now WHERE k < 0").fetchall() == [(1,)]
    del now


@pytest.mark.parametrize("to", FRAMES)
def test_answers_and_changes_as_frames_are_given_once(to: str) -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    twins = [session.query("SELECT SUM(k) AS n FROM t [1 SECOND]", name=name) for name in "ab"]
    session.push("t", {"ts": [MOMENT, MOMENT + timedelta(seconds=3)], "k": [1, 2]})
    session.finish()
    for read in ("answers", "changes"):
        plain, framed = getattr(twins[0], read), getattr(twins[1], read)
        found = framed(to=to)
        back = pa.table(found) if to != "duckdb" else found.to_arrow_table()
        assert exactly(back) == exactly(plain())
        assert len(convert(framed(), "polars")) == 0
    limited = twins[0].changes(1, to="polars")
    assert limited.height == 0


@pytest.mark.parametrize("to", FRAMES)
def test_histories_answer_in_frames(to: str) -> None:
    session = windrow.connect()
    session.stream("t", "ts timestamp, k bigint", time="ts")
    session.history("t", measures=["k"], levels=[("1 second", "forever")])
    followed = session.query("SELECT SUM(k) AS n FROM HISTORY(t) [FROM '2026-01-01' TO NOW]")
    session.push("t", {"ts": [MOMENT, MOMENT + timedelta(seconds=3)], "k": [1, 2]})
    session.finish()
    text = "SELECT SUM(k) AS n FROM HISTORY(t) [FROM '2026-01-01' TO NOW]"
    for frame in (session.ask(text, to=to), followed.result(to=to)):
        assert convert(pa.table(frame), "polars")["n"].to_list() == [3]
    last = list(session.ask(text, True, to))[-1]
    assert pa.table(last)["n"].to_pylist() == [3]


def test_a_wrong_word_is_refused_before_anything_is_taken() -> None:
    session, query = session_and_rows()
    session.push("t", TABLE)
    session.finish()
    for read in (query.answers, query.result, query.changes):
        with pytest.raises(windrow.BindingError) as caught:
            read(to="panda")
        assert caught.value.code == "WB120"
    assert query.answers().num_rows > 0


@pytest.mark.parametrize("to", FRAMES)
def test_a_library_that_is_not_there_is_named(to: str, monkeypatch: pytest.MonkeyPatch) -> None:
    session, query = session_and_rows()
    session.push("t", TABLE)
    session.finish()
    monkeypatch.setitem(sys.modules, to, None)
    with pytest.raises(windrow.UnsupportedError) as caught:
        query.answers(to=to)
    assert caught.value.code == "WU320"
    assert f"pip install {to}" in caught.value.hint
    assert query.answers().num_rows > 0


# Column type, what is pushed as Arrow, and what becomes of it (None: it is refused).
CASTS = [
    ("bigint", pa.array([1.5]), None),
    ("bigint", pa.array([2.0]), 2),
    ("bigint", pa.array(["12"]), 12),
    ("tinyint", pa.array([300]), None),
    ("double", pa.array([2**53 + 1]), None),
    ("decimal(10, 2)", pa.array([Decimal("1.234")]), None),
    ("decimal(10, 2)", pa.array([0.124]), Decimal("0.12")),
    ("float", pa.array([0.1]), float(np.float32(0.1))),
    ("date", pa.array([MOMENT.replace(tzinfo=None)]), date(2026, 1, 1)),
    ("date", pa.array(["2026-01-01"]), date(2026, 1, 1)),
    ("date", pa.array([1]), None),
    ("string", pa.array(["a"]).dictionary_encode(), "a"),
]


@pytest.mark.parametrize(("kind", "column", "wanted"), CASTS, ids=str)
def test_what_a_column_takes_of_another_type(kind: str, column: pa.Array, wanted: object) -> None:
    session = windrow.connect()
    session.stream("t", f"ts timestamp, k {kind}", time="ts")
    query = session.query("SELECT k FROM t [1 DAY]")
    table = pa.table({"ts": [MOMENT], "k": column})
    if wanted is None:
        with pytest.raises(windrow.DataError, match="WD103"):
            session.push("t", table)
        return
    session.push("t", table)
    session.finish()
    assert query.result()["k"].to_pylist() == [wanted]
