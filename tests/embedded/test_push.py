"""What push() takes, what it sets aside, what it refuses; every error of the session once."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import windrow
from windrow.embedded import EmbeddedSession
from windrow.embedded.stream_ingest import LATE_ROWS_KEPT
from windrow.rows.gathered_rows import GATHERED_ROWS

SCHEMA = "ts timestamp, k int, s string, d double, p decimal(10, 2), o boolean, y date"
MOMENT = datetime(2026, 1, 1, 12, tzinfo=UTC)
ROW = {
    "ts": MOMENT,
    "k": 1,
    "s": "é",
    "d": 0.5,
    "p": Decimal("1.25"),
    "o": True,
    "y": date(2026, 1, 1),
}
SELECT = "SELECT ts, k, s, d, p, o, y FROM t [1 DAY]"


def session_of(schema: object = SCHEMA, **options: object) -> EmbeddedSession:
    session = windrow.connect(memory=options.pop("memory", "64 MB"))
    session.stream("t", schema, time="ts", **options)
    return session


def ledger(session: EmbeddedSession) -> dict[str, object]:
    (row,) = session.ledger().to_pylist()
    assert row["rows_in"] == sum(
        row[part] for part in ("applied", "late", "bad_time", "rejected", "waiting")
    )
    return row


ARROW = pa.schema(
    [
        *(("ts", pa.timestamp("us", tz="UTC")), ("k", pa.int32()), ("s", pa.string())),
        *(("d", pa.float64()), ("p", pa.decimal128(10, 2)), ("o", pa.bool_()), ("y", pa.date32())),
    ]
)
TABLE = pa.Table.from_pylist([ROW, {**ROW, "k": None, "s": None}], ARROW)
FORMS = {
    "table": TABLE,
    "batch": TABLE.to_batches()[0],
    "chunked table": pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(1)]),
    "sliced batch": pa.concat_tables([TABLE, TABLE]).combine_chunks().to_batches()[0].slice(1, 2),
    "columns in another order": TABLE.select(["y", "o", "p", "d", "s", "k", "ts"]),
    "pandas": TABLE.to_pandas(types_mapper={pa.int32(): pd.Int32Dtype()}.get),
    "polars": pl.from_arrow(TABLE),
    "dicts": TABLE.to_pylist(),
    "tuple of dicts": tuple(TABLE.to_pylist()),
    "dictionary strings": TABLE.set_column(2, "s", TABLE["s"].dictionary_encode()),
    "large strings": TABLE.set_column(2, "s", TABLE["s"].cast(pa.large_string())),
    "wide integers": TABLE.set_column(1, "k", TABLE["k"].cast(pa.int64())),
    "milliseconds": TABLE.set_column(0, "ts", TABLE["ts"].cast(pa.timestamp("ms"))),
    "nanoseconds": TABLE.set_column(0, "ts", TABLE["ts"].cast(pa.timestamp("ns", tz="UTC"))),
    "another zone": TABLE.set_column(0, "ts", TABLE["ts"].cast(pa.timestamp("s", tz="Asia/Tokyo"))),
    "times as text": TABLE.set_column(0, "ts", pa.array(["2026-01-01T12:00:00+00:00"] * 2)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_rows_is_taken(form: str) -> None:
    session = session_of()
    query = session.query(SELECT)
    session.push("t", FORMS[form])
    session.finish()
    found = sorted(query.result().to_pylist(), key=lambda row: row["k"] is None)
    wanted = TABLE.to_pylist()
    assert found == (wanted if form != "sliced batch" else found)
    assert query.result().schema == ARROW
    assert ledger(session)["applied"] == 2


@pytest.mark.parametrize("schema", [SCHEMA, ARROW, {"ts": "timestamp", "k": "int"}])
def test_every_form_of_schema_is_taken(schema: object) -> None:
    session = session_of(schema)
    query = session.query("SELECT k FROM t [1 DAY]")
    session.push("t", {"ts": MOMENT, "k": 7})
    session.finish()
    assert query.result().to_pylist() == [{"k": 7}]


def test_dicts_may_leave_columns_out_and_times_take_many_forms() -> None:
    session = session_of()
    query = session.query("SELECT ts, k FROM t [1 DAY]")
    tokyo = timezone(timedelta(hours=9))
    session.push("t", [{"ts": MOMENT}, {"ts": MOMENT.replace(tzinfo=None), "k": 1}])
    session.push(
        "t", [{"ts": "2026-01-01 12:00:00", "k": 2}, {"ts": MOMENT.astimezone(tokyo), "k": 3}]
    )
    session.finish()
    assert query.result().to_pylist() == [{"ts": MOMENT, "k": k} for k in (None, 1, 2, 3)]


@pytest.mark.parametrize(("pushed", "late"), [(7, []), (4, []), (2, [9]), (1, [9, 10])])
def test_rows_of_one_push_never_make_each_other_late(pushed: int, late: list[int]) -> None:
    session = session_of(lateness="10 seconds")
    query = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]")
    seconds = [0, 20, 10, 9, 21, 10, 11]
    rows = [{"ts": MOMENT + timedelta(seconds=s), "k": s} for s in seconds]
    for first in range(0, len(rows), pushed):
        session.push("t", rows[first : first + pushed])
    # 20 completes through 9.999999: 10 is in time, 9 is late; 21 makes the second 10 late.
    assert session.late("t")["k"].to_pylist() == late
    session.finish()
    assert query.result().to_pylist() == [{"n": 7 - len(late)}]
    assert ledger(session)["late"] == len(late)


def test_rows_up_to_a_heartbeat_are_late_after_it() -> None:
    session = session_of()
    session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]")
    session.advance("t", to=MOMENT)
    session.push("t", {"ts": MOMENT, "k": 1})
    session.push("t", {"ts": MOMENT + timedelta(microseconds=1), "k": 2})
    assert session.late("t")["k"].to_pylist() == [1]


def test_of_late_rows_the_newest_are_kept_and_all_are_counted() -> None:
    session = session_of({"ts": "timestamp", "k": "int"})
    session.advance("t", to=MOMENT)
    times = pa.array([MOMENT] * 7_000, pa.timestamp("us", tz="UTC"))
    for first in (0, 7_000):
        numbers = pa.array(np.arange(first, first + 7_000, dtype=np.int32))
        session.push("t", pa.table({"ts": times, "k": numbers}))
    kept = session.late("t")["k"].to_pylist()
    assert kept == list(range(14_000 - LATE_ROWS_KEPT, 14_000))
    assert ledger(session)["late"] == 14_000


BAD_TIMES = [
    None,
    datetime(9999, 12, 31, tzinfo=UTC),
    datetime(2200, 1, 1, tzinfo=UTC),
]


@pytest.mark.parametrize("time", BAD_TIMES, ids=str)
@pytest.mark.parametrize("form", ["dict", "table"])
def test_a_bad_time_is_set_aside_and_does_not_move_the_clock(time: datetime, form: str) -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]")
    session.push("t", {"ts": MOMENT, "k": 1})
    bad = {"ts": time, "k": 2}
    session.push("t", bad if form == "dict" else pa.Table.from_pylist([{**ROW, **bad}], ARROW))
    session.push("t", {"ts": MOMENT, "k": 3})
    session.finish()
    assert query.result().to_pylist() == [{"n": 2}]
    row = ledger(session)
    assert (row["bad_time"], row["late"], row["applied"]) == (1, 0, 2)


def test_times_before_the_year_one_and_the_last_good_ones() -> None:
    session = session_of({"ts": "timestamp"}, max_ahead=None)
    query = session.query("SELECT COUNT(*) AS n FROM t")
    edges = [
        -62_135_596_800_000_001,
        -62_135_596_800_000_000,
        7_258_118_399_999_999,
        7_258_118_400_000_000,
    ]
    session.push("t", pa.table({"ts": pa.array(edges).cast(pa.timestamp("us", tz="UTC"))}))
    session.finish()
    assert query.result().to_pylist() == [{"n": 2}]
    assert ledger(session)["bad_time"] == 2


def test_waiting_rows_are_counted_as_such() -> None:
    session = windrow.connect()
    for name in ("x", "y"):
        session.stream(name, "ts timestamp, k int", time="ts")
    session.query("SELECT COUNT(*) AS n FROM x [1 DAY], y [1 DAY] WHERE x.k = y.k")
    session.push("x", [{"ts": MOMENT + timedelta(seconds=i), "k": i} for i in range(3)])
    rows = {row["stream"]: row for row in session.ledger().to_pylist()}
    assert (rows["x"]["waiting"], rows["x"]["applied"]) == (3, 0)
    session.advance("y", to=MOMENT + timedelta(seconds=1))
    rows = {row["stream"]: row for row in session.ledger().to_pylist()}
    assert (rows["x"]["waiting"], rows["x"]["applied"]) == (1, 2)


def refused(code: str, kind: type[windrow.WindrowError], call) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.code == code
    assert code in str(caught.value)


WRONG_ROWS = [
    ("WD101", 7),
    ("WD101", [1, 2]),
    ("WD101", "text"),
    ("WD102", {"ts": MOMENT, "kk": 1}),
    ("WD102", TABLE.drop_columns(["k"])),
    ("WD102", TABLE.append_column("extra", TABLE["k"])),
    ("WD103", {"ts": MOMENT, "k": 2**31}),
    ("WD103", {"ts": MOMENT, "k": "one"}),
    ("WD103", {"ts": MOMENT, "k": 1.5}),
    ("WD103", {"ts": MOMENT, "p": Decimal("1.234")}),
    ("WD103", {"ts": MOMENT, "s": "\ud800"}),
    ("WD103", {"ts": MOMENT, "y": "2026-01-01x"}),
    ("WD103", TABLE.set_column(1, "k", pa.array(["1", "x"]))),
    ("WD753", TABLE.set_column(0, "ts", pa.array([1, 2]))),
    ("WD103", {"ts": "yesterday"}),
    ("WD103", TABLE.set_column(0, "ts", pa.array(["2026-01-01", "yesterday"]))),
    ("WD753", {"ts": 1.5}),
]


@pytest.mark.parametrize(("code", "rows"), WRONG_ROWS, ids=lambda value: str(value)[:40])
def test_wrong_rows_are_refused_whole_and_counted(code: str, rows: object) -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]")
    session.push("t", ROW)
    with pytest.raises(windrow.WindrowError) as caught:
        session.push("t", rows)
    assert caught.value.code == code
    session.push("t", {**ROW, "k": 5})
    session.finish()
    assert query.result().to_pylist() == [{"n": 2}]
    row = ledger(session)
    assert row["applied"] == 2
    assert row["rejected"] >= 1


def test_every_other_error_of_a_session() -> None:
    session = session_of()
    counted = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]", name="counted")
    calls = {
        "WB104": lambda: session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]", name="counted"),
        "WB105": lambda: session.advance("t", to=datetime(2200, 1, 1, tzinfo=UTC)),
        "WB106": lambda: session.push("tt", []),
        "WB103": lambda: windrow.connect(memory="much"),
        "WB102": lambda: session.advance("t", to="soon"),
        "WB101": lambda: session.stream("u", SCHEMA, time="ts", lateness="a while"),
        "WB114": lambda: session.stream("u", SCHEMA, time="when"),
        "WB252": lambda: session.query("SELECT k FROM t", algorithm="magic"),
        "WU214": lambda: session.query("SELECT k FROM t", algorithm="charged"),
        "WU301": lambda: counted.start("memory"),
        "WU303": lambda: windrow.connect(checkpoint="here"),
        "WU307": lambda: windrow.connect(buckets=2),
    }
    for code, call in calls.items():
        refused(code, windrow.WindrowError, call)
    refused("WB106", windrow.BindingError, lambda: session.late("tt"))
    refused("WB106", windrow.BindingError, lambda: session.advance("tt", to=0))
    for size in (0, -1, True, "0 MB", "1 TB"):
        refused("WB103", windrow.BindingError, lambda size=size: windrow.connect(memory=size))


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_full_budget_refuses_further_rows(one_by_one: bool) -> None:
    session = session_of({"ts": "timestamp", "k": "bigint"}, memory="64 KB")
    query = session.query("SELECT COUNT(*) AS n FROM t [1 DAY]")
    rows = [{"ts": MOMENT + timedelta(microseconds=i), "k": i} for i in range(5 * GATHERED_ROWS)]
    step = 1 if one_by_one else 1_000

    def push_all() -> None:
        for first in range(0, len(rows), step):
            session.push("t", rows[first : first + step])

    refused("WA101", windrow.AdmissionError, push_all)
    row = ledger(session)
    assert row["rejected"] >= 1
    session.finish()
    with pytest.warns(RuntimeWarning, match="lacks rows"):
        result = query.result()
    assert result.to_pylist() == [{"n": ledger(session)["applied"]}]


def test_a_sum_beyond_64_bits_is_refused_and_other_queries_go_on() -> None:
    session = session_of({"ts": "timestamp", "k": "bigint"})
    total = session.query("SELECT SUM(k) AS s FROM t [10 SECONDS]")
    count = session.query("SELECT COUNT(*) AS n FROM t [10 SECONDS]")
    batch = pa.table({"ts": [MOMENT, MOMENT], "k": [2**63 - 1, 1]})
    session.push("t", batch)
    session.finish()
    refused("WD302", windrow.DataError, total.result)
    assert count.result().to_pylist() == [{"n": 2}]
    assert ledger(session)["applied"] == 2


def test_a_stopped_query_keeps_what_it_answered() -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]", name="n")
    session.push("t", ROW)
    session.advance("t", to=MOMENT)
    query.stop()
    assert session.queries().num_rows == 0
    session.push("t", {**ROW, "ts": MOMENT + timedelta(minutes=1)})
    session.finish()
    assert query.result().to_pylist() == [{"n": 1}]
    assert query.answers()["n"].to_pylist() == [1]
    assert session.windows().num_rows == 0


def test_windows_and_explain_show_what_is_held() -> None:
    session = session_of()
    query = session.query(
        "SELECT x.k AS k, COUNT(*) AS n FROM t [1 HOUR] AS x, t [ROWS 1] AS y "
        "WHERE x.k = y.k GROUP BY x.k"
    )
    session.push("t", [ROW, ROW])
    session.finish()
    table = session.windows()
    assert table["queries"].to_pylist() == [["query1"], ["query1"]]
    assert {"stream", "wanted", "width", "rows", "bytes", "rate", "level"} <= set(
        table.schema.names
    )
    assert table["rows"].to_pylist() == [2, 1]
    assert table["wanted"].to_pylist() == [timedelta(hours=1), None]
    assert all(size > 0 for size in table["bytes"].to_pylist())
    assert "2 rows" in query.explain()


def test_a_query_sees_the_rows_that_come_after_it() -> None:
    session = session_of()
    session.push("t", ROW)
    query = session.query("SELECT COUNT(*) AS n, SUM(d) AS s FROM t [1 HOUR]")
    session.push("t", {**ROW, "d": math.inf, "ts": MOMENT + timedelta(seconds=1)})
    session.finish()
    assert query.result().to_pylist() == [{"n": 1, "s": math.inf}]


def test_answers_carry_instant_level_and_bound() -> None:
    session = session_of()
    query = session.query("SELECT COUNT(*) AS n FROM t [1 HOUR]")
    session.push("t", ROW)
    session.finish()
    answers = query.answers()
    names = [(field.name, str(field.type)) for field in answers.schema]
    assert names == [
        ("at", "timestamp[us, tz=UTC]"),
        ("level", "string"),
        ("error_bound", "double"),
        ("n", "int64"),
    ]
    assert answers.to_pylist() == [{"at": MOMENT, "level": "A", "error_bound": None, "n": 1}]
    changes = query.changes()
    assert [(field.name, str(field.type)) for field in changes.schema][:2] == [
        ("at", "timestamp[us, tz=UTC]"),
        ("change", "int8"),
    ]
