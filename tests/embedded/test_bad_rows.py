"""Rows that a stream cannot hold: set aside and counted, or refused; never half of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow
from support import damaged_columns
from windrow.rows.bad_rows import BAD_ROWS_BYTES
from windrow.rows.damaged_values import NOT_UTF8, TOO_MANY_DIGITS

SECOND_US = 1_000_000
START_US = 1_760_000_000 * SECOND_US


def times(count: int, first: int = 0) -> pa.Array:
    made = [START_US + (first + i) * SECOND_US for i in range(count)]
    return pa.array(made, pa.int64()).cast(pa.timestamp("us", "UTC"))


def rows(*texts: bytes | None, first: int = 0) -> pa.Table:
    ts = times(len(texts), first)
    return pa.table({"ts": ts, "k": damaged_columns.texts(texts), "x": [1] * len(texts)})


def opened(**options: Any) -> windrow.Session:
    session = windrow.connect()
    session.stream("s", "ts timestamp, k string, x int", time="ts", **options)
    session.stream("other", "ts timestamp, k string, x int", time="ts")
    return session


def count_of(session: windrow.Session, stream: str = "s") -> windrow.Query:
    text = f"SELECT k, COUNT(*) AS n FROM {stream} [1 HOUR] GROUP BY k"
    return session.query(text, name=f"count_{stream}")


def counted(query: windrow.Query) -> dict[str | None, int]:
    return {row["k"]: row["n"] for row in query.result().to_pylist()}


def ledger(session: windrow.Session, stream: str = "s") -> dict[str, int]:
    row = next(each for each in session.ledger().to_pylist() if each["stream"] == stream)
    parts = ("applied", "late", "bad_time", "bad_value", "rejected", "waiting")
    assert row["rows_in"] == sum(row[part] for part in parts)
    return row


FORMS = {
    "string": lambda table: table,
    "large string": lambda table: table.cast(
        pa.schema([("ts", table["ts"].type), ("k", pa.large_string()), ("x", pa.int64())])
    ),
    "dictionary": lambda table: table.set_column(1, "k", table["k"].dictionary_encode()),
    "in pieces": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "batch": lambda table: table.to_batches()[0],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_text_that_is_not_utf8_is_set_aside_and_the_rest_goes_on(form: str) -> None:
    session = opened()
    count, other = count_of(session), count_of(session, "other")
    session.push("other", rows(b"a", b"b"))
    session.push("s", FORMS[form](rows(b"a", b"\xff\xfe", None, "é".encode(), b"a\xc3")))
    session.push("s", rows(b"a", first=5))
    session.finish()
    assert counted(count) == {"a": 2, None: 1, "é": 1}
    assert counted(other) == {"a": 1, "b": 1}
    assert (ledger(session)["bad_value"], ledger(session)["applied"]) == (2, 4)
    kept = session.bad_rows("s")
    assert kept["why"].to_pylist() == [NOT_UTF8] * 2
    assert kept["line"].to_pylist() == [2, 5]
    assert "xff" in kept["row"][0].as_py()


def test_a_damaged_text_refuses_the_push_where_fail_is_asked() -> None:
    session = opened(on_bad_row="fail")
    count = count_of(session)
    with pytest.raises(windrow.DataError, match=r"'k'.*UTF-8 \(row 2 of the push\)") as caught:
        session.push("s", rows(b"a", b"\xff"))
    assert caught.value.code == "WD103"
    session.push("s", rows(b"a"))
    session.finish()
    assert counted(count) == {"a": 1}
    assert (ledger(session)["rejected"], ledger(session)["applied"]) == (2, 1)


@pytest.mark.parametrize(
    "column",
    [
        damaged_columns.offsets_out_of_order(),
        damaged_columns.offsets_beyond_the_data(),
        damaged_columns.indices_beyond_the_dictionary(),
    ],
    ids=["offsets out of order", "offsets beyond the data", "indices beyond the dictionary"],
)
@pytest.mark.parametrize("policy", ["auto", "fail", "set aside"])
def test_buffers_that_point_elsewhere_refuse_the_push(column: pa.Array, policy: str) -> None:
    session = opened(on_bad_row=policy)
    count = count_of(session)
    with pytest.raises(windrow.DataError, match="WD103"):
        session.push("s", pa.table({"ts": times(2), "k": column, "x": [1, 2]}))
    session.push("s", rows(b"a"))
    session.finish()
    assert counted(count) == {"a": 1}
    assert (ledger(session)["rejected"], ledger(session)["applied"]) == (2, 1)


def test_a_decimal_with_more_digits_than_its_type_is_set_aside() -> None:
    session = windrow.connect()
    session.stream("s", "ts timestamp, price decimal(3, 0)", time="ts")
    total = session.query("SELECT SUM(price) AS total FROM s [1 HOUR]")
    prices = damaged_columns.too_many_digits([999, 10**9, -999, -(10**17)], 3)
    session.push("s", pa.table({"ts": times(4), "price": prices}))
    session.finish()
    assert total.result().to_pylist() == [{"total": Decimal(0)}]
    assert session.bad_rows("s")["why"].to_pylist() == [TOO_MANY_DIGITS] * 2
    assert ledger(session)["bad_value"] == 2


UNFIT: dict[str, tuple[Any, Sequence[int]]] = {
    "dicts": ([{"ts": START_US + i, "x": [1, "two", 3, 4.5][i]} for i in range(4)], [2, 4]),
    "columns": ({"ts": [START_US, START_US], "k": ["a", "b"], "x": [2**40, 1]}, [1]),
    "a table": (pa.table({"ts": times(3), "k": ["a", "b", "c"], "x": ["1", "x", "3"]}), [2]),
    "times": ([{"ts": "yesterday"}, {"ts": START_US}, {"ts": 1.5}], [1, 3]),
    "two columns": (pa.table({"ts": times(3), "k": rows(b"\xff", b"", b"")["k"],
                              "x": ["1", "2", "x"]}), [1, 3]),
    "names": ([{"ts": START_US, "z": 1}, {"ts": START_US}, 7], [1, 3]),
    "all": ([{"ts": START_US, "x": "a"}] * 2, [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("case", UNFIT)
def test_rows_with_values_that_do_not_fit_are_set_aside_where_asked(case: str) -> None:
    given, bad = UNFIT[case]
    session = opened(on_bad_row="set aside")
    count = session.query("SELECT COUNT(*) AS n FROM s [1 HOUR]")
    session.push("s", given)
    session.finish()
    assert session.bad_rows("s")["line"].to_pylist() == list(bad)
    row = ledger(session)
    assert (row["bad_value"], row["rejected"]) == (len(bad), 0)
    assert count.result()["n"].to_pylist() == [row["rows_in"] - len(bad)]


@pytest.mark.parametrize("case", [case for case in UNFIT if case != "names"])
def test_the_same_values_refuse_the_push_otherwise_and_the_row_is_named(case: str) -> None:
    given, bad = UNFIT[case]
    session = opened(on_bad_row="auto")
    with pytest.raises(windrow.DataError, match="WD103") as caught:
        session.push("s", given)
    if case != "two columns":  # its first bad row is one that is set aside
        assert f"(row {bad[0]} of the push)" in caught.value.message
    assert ledger(session)["rejected"] == ledger(session)["rows_in"]


def test_a_type_that_no_column_holds_is_no_fault_of_a_row() -> None:
    session = opened(on_bad_row="set aside")
    with pytest.raises(windrow.DataError, match="WD103"):
        session.push("s", pa.table({"ts": times(1), "k": ["a"], "x": [[1]]}))
    assert ledger(session)["rejected"] == 1


def test_of_bad_rows_the_newest_are_kept_up_to_a_limit() -> None:
    session = opened(on_bad_row="set aside")
    session.push("s", [{"ts": START_US, "x": "y" * 2000}] * 1200)
    kept = session.bad_rows("s")
    assert ledger(session)["bad_value"] == 1200
    assert 0 < kept.num_rows < 1200
    assert kept["line"][-1].as_py() == 1200
    assert kept.nbytes < BAD_ROWS_BYTES


def test_what_a_stream_does_with_bad_rows_has_three_names() -> None:
    with pytest.raises(windrow.BindingError, match="WB130"):
        opened(on_bad_row="ignore")


def test_metrics_count_bad_values() -> None:
    session = opened()
    session.push("s", rows(b"a", b"\xff"))
    wanted = 'windrow_rows_settled_total{query="",stream="s",outcome="bad_value"} 1'
    assert wanted in session.metrics()


def test_all_bad_rows_go_to_a_folder_where_one_is_named(tmp_path: Path) -> None:
    for _ in range(2):  # what is there stays
        session = opened(on_bad_row="set aside", bad_rows_into=tmp_path / "bad")
        session.push("s", [{"ts": START_US, "x": "one"}, {"ts": START_US}])
        session.push("s", [{"ts": None}])
        assert ledger(session)["bad_time"] == 1
    written = pq.read_table(tmp_path / "bad")
    assert written["column"].to_pylist() == ["x", "ts"] * 2


def test_a_folder_that_cannot_be_written_refuses_the_stream(tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("a file")
    with pytest.raises(windrow.DataError, match="WD514"):
        opened(bad_rows_into=tmp_path / "bad")


def test_rows_without_a_time_are_shown_among_the_bad_ones() -> None:
    session = opened()
    session.push("s", [{"ts": None, "x": 7}, {"ts": START_US, "x": 8}])
    (row,) = session.bad_rows("s").to_pylist()
    assert (row["column"], "'x': 7" in row["row"]) == ("ts", True)
