"""Columns in every type and encoding that libraries store them in: what is taken, what refused."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow
from windrow.dataframes import FRAMES
from windrow.embedded import EmbeddedSession

MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
NAIVE = MOMENT.replace(tzinfo=None)
TOKYO = timezone(timedelta(hours=9))


def session_of(kind: str) -> tuple[EmbeddedSession, windrow.Query]:
    session = windrow.connect(memory="16 MB")
    session.stream("t", f"ts timestamp, x {kind}", time="ts")
    return session, session.query("SELECT x FROM t [1 DAY]")


def taken(kind: str, rows: object) -> list[object]:
    session, query = session_of(kind)
    session.push("t", rows)
    session.finish()
    return query.result()["x"].to_pylist()


def refused(kind: str, rows: object) -> windrow.DataError:
    session, _ = session_of(kind)
    with pytest.raises(windrow.DataError) as caught:
        session.push("t", rows)
    assert caught.value.hint
    (ledger,) = session.ledger().to_pylist()
    assert ledger["rows_in"] == ledger["rejected"] >= 1
    return caught.value


WORDS = pa.array(["a", None, "b"])
VIEWS = WORDS.cast(pa.string_view())
STORED = {
    "large strings": WORDS.cast(pa.large_string()),
    "views": VIEWS,
    "dictionary": WORDS.dictionary_encode(),
    "dictionary of large strings": WORDS.cast(pa.large_string()).dictionary_encode(),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array([0, None, 1], pa.uint8()), pa.array(["a", "b"], pa.string_view())
    ),
    "NULL in the dictionary": pa.DictionaryArray.from_arrays([0, 1, 2], WORDS),
    "runs": pa.RunEndEncodedArray.from_arrays([1, 2, 3], WORDS),
    "chunks with dictionaries of their own": pa.chunked_array(
        [WORDS.slice(0, 2).dictionary_encode(), WORDS.slice(2).dictionary_encode()]
    ),
    "binary": WORDS.cast(pa.binary()),
    "category of pandas": pd.Series(["a", None, "b"], dtype="category"),
    "string of pandas": pd.Series(["a", None, "b"], dtype="string"),
    "Arrow string of pandas": pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
    "category of Polars": pl.Series(["a", None, "b"], dtype=pl.Categorical),
    "enum of Polars": pl.Series(["a", None, "b"], dtype=pl.Enum(["b", "a"])),
}


@pytest.mark.parametrize("stored", STORED)
def test_texts_are_taken_however_they_are_stored(stored: str) -> None:
    column = STORED[stored]
    assert taken("string", {"ts": [MOMENT] * 3, "x": column}) == [None, "a", "b"]
    if isinstance(column, pd.Series):
        assert taken("string", pd.DataFrame({"x": column, "ts": MOMENT})) == [None, "a", "b"]
    elif isinstance(column, pl.Series):
        frame = pl.DataFrame({"x": column}).with_columns(ts=pl.lit(MOMENT))
        for rows in (frame, frame.lazy()):
            assert taken("string", rows) == [None, "a", "b"]
    else:
        assert taken("string", pa.table({"x": column, "ts": [MOMENT] * 3})) == [None, "a", "b"]


TEXTS = [
    ("date", "2026-01-02", date(2026, 1, 2)),
    ("timestamp", "2026-01-02T09:00:00+09:00", datetime(2026, 1, 2, tzinfo=UTC)),
    ("bigint", "9007199254740993", 2**53 + 1),
    ("double", "1.5", 1.5),
    ("decimal(10, 2)", "1.25", Decimal("1.25")),
    ("boolean", "true", True),
]


@pytest.mark.parametrize(("kind", "text", "value"), TEXTS, ids=lambda each: str(each))
def test_texts_are_read_as_what_they_say(kind: str, text: str, value: object) -> None:
    forms = [
        pa.table({"ts": [MOMENT], "x": [text]}),
        pa.table({"ts": [MOMENT], "x": pa.array([text], pa.large_string())}),
        pl.DataFrame({"ts": [MOMENT], "x": [text]}),
        pd.DataFrame({"ts": [MOMENT], "x": [text]}),
        duckdb.sql(f"SELECT TIMESTAMP '2026-01-01' AS ts, '{text}' AS x"),
        {"ts": [MOMENT], "x": [text]},
        json.loads(json.dumps([{"ts": "2026-01-01", "x": text}])),
    ]
    for rows in forms:
        assert taken(kind, rows) == [value]
    for rows in ({"ts": MOMENT, "x": "a lot"}, pa.table({"ts": [MOMENT], "x": ["a lot"]})):
        assert (refused(kind, rows).code, "'x'" in refused(kind, rows).message) == ("WD103", True)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_times_of_every_unit_and_zone(unit: str, zone: str | None) -> None:
    column = pa.array([MOMENT]).cast(pa.timestamp(unit, tz="UTC")).cast(pa.timestamp(unit, zone))
    table = pa.table({"ts": column, "x": column})
    relation = duckdb.from_arrow(table)
    for rows in (table, table.to_pandas(), pl.from_arrow(table), relation, table.to_pylist()):
        assert taken("timestamp", rows) == [MOMENT]
        assert taken("date", rows) == [MOMENT.date()]


def test_a_date_is_that_of_utc_whatever_zone_a_time_is_written_in() -> None:
    late = datetime(2026, 1, 2, 1, tzinfo=TOKYO)
    for rows in (
        {"ts": MOMENT, "x": late},
        pa.table({"ts": [MOMENT], "x": pa.array([late], pa.timestamp("us", tz="Asia/Tokyo"))}),
    ):
        assert taken("date", rows) == [date(2026, 1, 1)]


@pytest.mark.parametrize("unit", ["s", "ms"])
@pytest.mark.parametrize("sign", [1, -1])
def test_times_beyond_microseconds_are_bad_as_event_times_and_refused_elsewhere(
    unit: str, sign: int
) -> None:
    far = pa.array([0, sign * 2**62]).cast(pa.timestamp(unit))
    session, query = session_of("int")
    session.push("t", pa.table({"ts": far, "x": [1, 2]}))
    session.finish()
    assert query.result()["x"].to_pylist() == [1]
    assert session.ledger()["bad_time"].to_pylist() == [1]
    assert refused("timestamp", pa.table({"ts": [MOMENT] * 2, "x": far})).code == "WD103"


VALUES = [
    ("timestamp", np.datetime64("2026-01-02"), datetime(2026, 1, 2, tzinfo=UTC)),
    ("timestamp", np.datetime64("NaT"), None),
    ("timestamp", date(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)),
    ("timestamp", pd.Timestamp("2026-01-01 21:00", tz="Asia/Tokyo"), MOMENT),
    ("timestamp", pd.NaT, None),
    ("date", np.datetime64("2026-01-02T10:00"), date(2026, 1, 2)),
    ("date", pd.NaT, None),
    ("bigint", pd.NA, None),
    ("bigint", np.int8(7), 7),
    ("double", Decimal("1.5"), 1.5),
    ("double", np.float32(1.5), 1.5),
    ("decimal(10, 2)", 1.25, Decimal("1.25")),
    ("decimal(10, 2)", 7, Decimal("7.00")),
    ("string", np.str_("a"), "a"),
    ("string", pd.NA, None),
]


@pytest.mark.parametrize(("kind", "value", "wanted"), VALUES, ids=lambda each: repr(each))
def test_values_of_numpy_and_pandas_in_a_dict(kind: str, value: object, wanted: object) -> None:
    assert taken(kind, {"ts": MOMENT, "x": value}) == [wanted]
    assert taken(kind, [{"ts": MOMENT, "x": value}, {"ts": MOMENT}]) == (
        [None, wanted] if wanted is not None else [None, None]
    )


def test_a_record_without_a_time_is_set_aside() -> None:
    frame = pd.DataFrame({"ts": [MOMENT, pd.NaT], "x": pd.array([1, None], dtype="Int64")})
    session, query = session_of("int")
    session.push("t", frame.to_dict("records"))
    session.finish()
    assert query.result()["x"].to_pylist() == [1]
    assert session.ledger()["bad_time"].to_pylist() == [1]


@pytest.mark.parametrize("width", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
def test_whole_numbers_go_into_decimals_that_hold_them(width: pa.DataType) -> None:
    table = pa.table({"ts": [MOMENT], "x": pa.array([99], width)})
    assert taken("decimal(4, 2)", table) == [Decimal("99.00")]
    assert taken("decimal(18, 16)", table) == [Decimal("99.0000000000000000")]
    assert refused("decimal(3, 2)", table).code == "WD103"


ONLY_IN_THEIR_OWN = {
    "list": pa.array([["a"]]),
    "large list": pa.array([["a"]], pa.large_list(pa.string())),
    "struct": pa.array([{"a": 1}]),
    "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
    "span": pa.array([timedelta(seconds=1)]),
}


@pytest.mark.parametrize("what", ONLY_IN_THEIR_OWN)
@pytest.mark.parametrize("kind", ["bigint", "string", "timestamp", "boolean"])
def test_what_a_column_does_not_hold_is_refused_in_words(what: str, kind: str) -> None:
    error = refused(kind, pa.table({"ts": [MOMENT], "x": ONLY_IN_THEIR_OWN[what]}))
    assert error.code == "WD103"
    own = "only INTERVAL DAY TO SECOND holds" if what == "span" else f"{kind.upper()} does not hold"
    assert error.message.endswith(f", which {own}")


EMPTY = [
    pd.DataFrame({"ts": [], "x": []}),
    pd.DataFrame(columns=["x", "ts"]),
    pd.DataFrame({"ts": pd.Series(dtype="float64"), "x": pd.Series(dtype="category")}),
    pl.DataFrame({"ts": [], "x": []}),
    pl.DataFrame(schema={"ts": pl.String, "x": pl.List(pl.Int8)}),
    pa.table({"ts": pa.chunked_array([], pa.int8()), "x": pa.chunked_array([], pa.int8())}),
    duckdb.sql("SELECT 1 AS ts, 'a' AS x WHERE FALSE"),
    {"ts": np.array([]), "x": pd.Series(dtype="float64")},
    [],
]


@pytest.mark.parametrize("rows", EMPTY, ids=lambda rows: type(rows).__name__)
@pytest.mark.parametrize("kind", ["bigint", "string", "decimal(10, 2)", "timestamp"])
def test_without_rows_types_do_not_matter(rows: object, kind: str) -> None:
    assert taken(kind, rows) == []


@pytest.mark.parametrize("to", FRAMES)
def test_every_table_of_a_session_goes_into_every_frame(to: str) -> None:
    session, _ = session_of("int")
    session.history("t", measures=["x"], levels=[("1 second", "1 hour"), ("1 minute", "forever")])
    session.push("t", {"ts": [MOMENT, MOMENT - timedelta(days=1)], "x": [1, 2]})
    tables = ("streams", "windows", "queries", "decisions", "ledger", "histories")
    for table in [*(getattr(session, name)() for name in tables), session.late("t")]:
        frame = windrow.dataframes.convert(table, to)
        assert [*frame.columns] == table.column_names
        assert len(frame) == table.num_rows


def test_what_a_library_says_in_parts_is_told_in_words() -> None:
    mixed = pd.DataFrame({"ts": [MOMENT] * 2, "x": ["a", 1]})
    error = refused("string", mixed)
    assert error.code == "WD104"
    assert "; Conversion failed for column x" in error.message
