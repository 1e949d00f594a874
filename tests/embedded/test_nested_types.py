"""Nested values, bytes and wide decimals through push, windows, answers and saved states."""

from __future__ import annotations

import math
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windrow
from support.tree_runs import TreeRunner
from windrow.connectors.files.connector import FileSource
from windrow.connectors.files.csv_files import check_header
from windrow.connectors.files.jsonl_files import read_jsonl
from windrow.errors import WindrowError
from windrow.plan.catalog import Catalog
from windrow.plan.relations.planner import tree_plan
from windrow.schema import ColumnType, StreamSchema, columns_of, type_named
from windrow.sql import parse_query
from windrow.windows.order_bytes import order_bytes
from windrow.windows.value_bytes import bytes_of_values, values_of_bytes

SCHEMA = (
    "ts timestamp, k string, xs array<int>, st struct<a: int, q: struct<z: string>>, "
    "m map<string, double>, b binary, d decimal(38, 3), items array<struct<p: string, n: bigint>>"
)
START = pd.Timestamp("2026-01-01", tz="UTC")

TEXTS = st.text("aé\0😀", max_size=3)
LEAVES: dict[str, st.SearchStrategy[Any]] = {
    "int": st.integers(-(2**31), 2**31 - 1),
    "double": st.floats() | st.sampled_from([0.0, -0.0]),
    "float": st.floats(width=32),
    "boolean": st.booleans(),
    "string": TEXTS,
    "binary": st.binary(max_size=3),
    "decimal(38, 3)": st.decimals(
        Decimal(-(10**34)), Decimal(10**34), places=3, allow_nan=False, allow_infinity=False
    ),
    "date": st.dates(),
    "timestamp": st.datetimes().map(lambda moment: pd.Timestamp(moment, tz="UTC")),
}
NAMES = (
    *LEAVES,
    *("array<int>", "array<array<string>>", "struct<a: double, b: array<float>>"),
    *("map<string, array<int>>", "array<struct<x: map<int, string>, y: boolean>>"),
    "struct<d: decimal(38, 3), e: struct<b: binary, t: timestamp>, f: date>",
)


def values(kind: ColumnType) -> st.SearchStrategy[Any]:
    """Values of Python of a type, NULL among them."""
    if kind.name == "ARRAY":
        found: st.SearchStrategy[Any] = st.lists(values(kind.element), max_size=3)
    elif kind.name == "MAP":
        keys = LEAVES[str(kind.key).lower()]
        found = st.dictionaries(keys, values(kind.value), max_size=2).map(lambda m: [*m.items()])
    elif kind.name == "STRUCT":
        found = st.fixed_dictionaries({name: values(part) for name, part in kind.parts})
    else:
        found = LEAVES[str(kind).lower()]
    return found | st.none()


def columns() -> st.SearchStrategy[pa.Array]:
    def of(name: str) -> st.SearchStrategy[pa.Array]:
        kind = type_named(name)
        return st.lists(values(kind), max_size=6).map(lambda listed: pa.array(listed, kind.arrow))

    return st.sampled_from(NAMES).flatmap(of)


def plain(value: Any) -> Any:
    """A value that equals others as SQL says: NaN is one, and -0.0 is 0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((name, plain(each)) for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(plain(each) for each in value)
    return value


@given(columns(), st.integers(0, 3))
def test_values_come_back_from_their_bytes(column: pa.Array, start: int) -> None:
    column = column.slice(min(start, len(column)))
    data = bytes_of_values(column)
    found = values_of_bytes(data, column.type)
    found.validate(full=True)
    assert [plain(each) for each in found.to_pylist()] == [
        plain(each) for each in column.to_pylist()
    ]
    texts, given_values = data.to_pylist(), [plain(each) for each in column.to_pylist()]
    for one, value in zip(texts, given_values, strict=True):
        for other, another in zip(texts, given_values, strict=True):
            assert (one == other) == (value == another)


@given(st.lists(values(type_named("array<struct<x: double, s: string>>")), max_size=8))
def test_bytes_order_as_values_do(listed: list[Any]) -> None:
    kind = type_named("array<struct<x: double, s: string>>").arrow
    present = [value for value in listed if value is not None]
    found = order_bytes(pa.array(present, kind)).to_pylist()
    by_bytes = [present[i] for i in sorted(range(len(present)), key=lambda i: found[i])]
    assert [sort_key(each) for each in by_bytes] == sorted(sort_key(each) for each in present)


def sort_key(listed: list[dict[str, Any] | None]) -> list[Any]:
    return [
        (0,) if each is None else (1, number_key(each["x"]), text_key(each["s"])) for each in listed
    ]


def number_key(value: float | None) -> tuple[float, ...]:
    if value is None:
        return (0,)
    return (2,) if math.isnan(value) else (1, value + 0.0)


def text_key(value: str | None) -> tuple[Any, ...]:
    return (0,) if value is None else (1, value.encode())


def row(second: int, **given_values: Any) -> dict[str, Any]:
    empty = dict.fromkeys(["k", "xs", "st", "m", "b", "d", "items"])
    return {**empty, "ts": START + pd.Timedelta(seconds=second), **given_values}


ROWS = [
    row(
        second,
        k="ab"[second % 2],
        xs=None if second % 5 == 0 else [second, None, 3][: second % 4],
        st={"a": second % 2, "q": {"z": "ü"}} if second % 3 else None,
        m={"u": 1.5, "v": None} if second % 2 else {},
        b=b"\0\xff" if second % 2 else None,
        d=Decimal("123456789012345678901234567890.125") if second % 4 else Decimal("-0.001"),
        items=[{"p": "x", "n": second}, None, {"p": None, "n": 2**40}][: second % 4],
    )
    for second in range(20)
]


def session_with(*queries: str) -> tuple[Any, list[Any]]:
    session = windrow.connect()
    session.stream("s", SCHEMA, time="ts")
    return session, [session.query(text) for text in queries]


def as_values(table: pa.Table) -> Counter[Any]:
    return Counter(plain(tuple(each.values())) for each in table.to_pylist())


EVERYTHING = "SELECT * FROM s [10 SECONDS]"
EXPECTED = Counter(
    plain(tuple([*each["m"].items()] if name == "m" else each[name] for name in each))
    for each in (
        {name: each[name] for name in ("ts", "k", "xs", "st", "m", "b", "d", "items")}
        for each in ROWS[9:]
    )
)


def pushed(how: str) -> Any:
    if how == "dicts":
        return ROWS
    if how == "pandas":
        return pd.DataFrame(ROWS)
    table = pa.Table.from_pylist(
        [{**each, "m": [*each["m"].items()]} for each in ROWS],
        pa.schema([(name, kind_of(name)) for name in ROWS[0]]),
    )
    if how == "arrow":
        return table
    if how == "polars":
        pairs = pa.list_(pa.struct([("key", pa.string()), ("value", pa.float64())]))
        listed = [[{"key": k, "value": v} for k, v in each["m"].items()] for each in ROWS]
        place = table.schema.get_field_index("m")
        return pl.from_arrow(table.set_column(place, "m", pa.array(listed, pairs)))
    large = pa.large_list(pa.field("element", pa.int64()))
    place = table.schema.get_field_index("xs")
    return table.set_column(place, "xs", pa.array([each["xs"] for each in ROWS], large))


def kind_of(name: str) -> pa.DataType:
    return next(each.type for each in columns_of(SCHEMA) if each.name == name).arrow


@pytest.mark.parametrize("how", ["dicts", "arrow", "pandas", "polars", "other layouts"])
def test_all_ways_in(how: str) -> None:
    session, (query,) = session_with(EVERYTHING)
    session.push("s", pushed(how))
    session.finish()
    assert as_values(query.result()) == EXPECTED
    assert query.result(to="pandas").shape[0] == 11


def test_answers_do_not_depend_on_how_rows_are_pushed() -> None:
    texts = [
        EVERYTHING,
        "SELECT xs, b, d, COUNT(*) AS n FROM s [10 SECONDS] GROUP BY xs, b, d",
        "SELECT SUM(d) AS t, MIN(d) AS low, MAX(items) AS most, MAX(b) AS bytes, "
        "COUNT(DISTINCT st) AS different FROM s [10 SECONDS]",
        "SELECT DISTINCT st FROM s [10 SECONDS]",
        "SELECT xs FROM s [10 SECONDS] ORDER BY xs DESC LIMIT 3",
        "SELECT k, COLLECT_LIST(items) AS i FROM s [10 SECONDS] GROUP BY k",
        "SELECT k, x, o FROM s [10 SECONDS] LEFT JOIN UNNEST(xs) WITH ORDINALITY AS t (x, o) "
        "ON TRUE",
        "SELECT a.k, b.st FROM s [10 SECONDS] AS a LEFT JOIN s [4 SECONDS] AS b "
        "ON a.st = b.st AND a.k <> b.k",
        "SELECT k, MAX(xs) OVER (PARTITION BY k ORDER BY ts) AS m FROM s [10 SECONDS]",
    ]
    whole, ones = session_with(*texts), session_with(*texts)
    whole[0].push("s", ROWS)
    for each in ROWS:
        ones[0].push("s", each)
    for session, _ in (whole, ones):
        session.finish()
    for text, one, other in zip(texts, whole[1], ones[1], strict=True):
        assert as_values(one.changes()) == as_values(other.changes()), text
        assert as_values(one.result()) == as_values(other.result()), text


TWINS = {
    "SELECT st.a AS a, st.q.z AS z, items[1].p AS p, m['u'] AS u FROM s [10 SECONDS] "
    "WHERE SIZE(items) > 1": (
        "SELECT st.a, st.q.z, items[2].p, m['u'] FROM rows WHERE len(items) > 1"
    ),
    "SELECT k, t.n FROM s [10 SECONDS] CROSS JOIN UNNEST(items) AS t (p, n) WHERE t.n > 12": (
        "SELECT k, i.n FROM (SELECT k, unnest(items) AS i FROM rows) WHERE i.n > 12"
    ),
    "SELECT x, COUNT(*) AS n FROM s [10 SECONDS], UNNEST(xs) AS t (x) GROUP BY x": (
        "SELECT x, count(*) FROM (SELECT unnest(xs) AS x FROM rows) GROUP BY x"
    ),
    "SELECT st, COUNT(*) AS n, SUM(d) AS t FROM s [10 SECONDS] GROUP BY st": (
        "SELECT st, count(*), sum(d) FROM rows GROUP BY st"
    ),
    "SELECT k, COLLECT_LIST(xs) AS l FROM s [10 SECONDS] WHERE xs IS NOT NULL GROUP BY k": (
        "SELECT k, list(xs ORDER BY ts) FROM rows WHERE xs IS NOT NULL GROUP BY k"
    ),
    "SELECT LISTAGG(k, '-') AS l FROM s [10 SECONDS]": (
        "SELECT string_agg(k, '-' ORDER BY ts) FROM rows"
    ),
    "SELECT TRANSFORM(xs, x -> x + 1) AS a, FILTER(xs, x -> x > 2) AS b FROM s [10 SECONDS]": (
        "SELECT list_transform(xs, lambda x: x + 1), list_filter(xs, lambda x: x > 2) FROM rows"
    ),
    "SELECT a.k FROM s [10 SECONDS] AS a WHERE EXISTS "
    "(SELECT 1 FROM UNNEST(a.xs) AS t (x) WHERE t.x > 12)": (
        "SELECT k FROM rows WHERE len(list_filter(xs, lambda x: x > 12)) > 0"
    ),
}


@pytest.mark.parametrize("text", TWINS)
def test_duckdb_says_the_same_at_every_instant(text: str) -> None:
    session, (query,) = session_with(text)
    rows = pushed("arrow")
    for second in range(len(ROWS)):
        session.push("s", rows.slice(second, 1))
        session.advance("s", to=ROWS[second]["ts"])
        held = rows.take(list(range(max(0, second - 10), second + 1)))
        duck = duckdb.connect()
        duck.register("rows", held)
        wanted = duck.sql(TWINS[text]).to_arrow_table()
        assert as_values(query.result()) == as_values(wanted), second


def test_a_saved_state_goes_on_as_the_state_would() -> None:
    schema = StreamSchema("s", columns_of(SCHEMA), "ts")
    text = "SELECT k, xs, m, d, COUNT(*) OVER (PARTITION BY st) AS n FROM s [10 SECONDS]"
    plan = tree_plan(parse_query(text), Catalog(schema))
    rows = pushed("arrow").select(schema.arrow.names).combine_chunks().to_batches()[0]
    told = []
    for is_restarted in (False, True):
        runner = TreeRunner(plan)
        for second in range(len(ROWS)):
            at = int(ROWS[second]["ts"].value // 1000)
            runner.step({"s": rows.slice(second, 1)}, at)
            if is_restarted and second % 7 == 3:
                runner.restart()
        told.append((as_values(runner.publisher.changes()), as_values(runner.publisher.result())))
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"xs": 5}, "is not ARRAY<INT>"),
        ({"xs": [1.5]}, "not a whole number"),
        ({"st": {"other": 1}}, "has no field 'other'"),
        ({"m": [("a", 1.0), ("a", 2.0)]}, "the key 'a' twice"),
        ({"m": {None: 1.0}}, "the key NULL"),
        ({"b": "text"}, "not bytes"),
        ({"items": [{"n": "x"}]}, ""),
    ],
)
def test_values_that_no_column_holds(value: dict[str, Any], why: str) -> None:
    session, _ = session_with(EVERYTHING)
    with pytest.raises(WindrowError, match="WD103") as caught:
        session.push("s", [row(0, **value)])
    assert why in str(caught.value)


def test_damaged_values_inside_others_are_set_aside() -> None:
    texts = pa.array([b"\xff", b"a"], pa.binary()).view(pa.string())
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), texts)
    wide = pa.array([10**37, 7], pa.decimal128(38, 0))
    session = windrow.connect()
    session.stream("s", "ts timestamp, l array<string>, d decimal(38, 0)", time="ts")
    query = session.query("SELECT l, d FROM s [1 MINUTE]")
    times = [START, START + pd.Timedelta(seconds=1)]
    with pytest.warns(RuntimeWarning):
        session.push("s", {"ts": times, "l": lists, "d": wide})
    session.finish()
    assert query.result().to_pylist() == [{"l": ["a"], "d": Decimal(7)}]


def test_json_lines_hold_nested_values_and_csv_does_not(tmp_path: Path) -> None:
    lines = tmp_path / "rows.jsonl"
    lines.write_text(
        '{"ts": "2026-01-01T00:00:00Z", "xs": [1, null], "m": {"u": 1.5}, "b": "QUI="}\n'
        '{"ts": "2026-01-01T00:00:01Z", "st": {"a": 1, "q": {"z": "y"}}, "d": 12.5}\n'
    )
    schema = StreamSchema("s", columns_of(SCHEMA), "ts")
    ((found, _),) = read_jsonl(schema, FileSource("jsonl", str(lines)), lines)
    first, second = found.batch.to_pylist()
    assert (first["xs"], first["m"], first["b"]) == ([1, None], [("u", 1.5)], b"AB")
    assert (second["st"], second["d"]) == ({"a": 1, "q": {"z": "y"}}, Decimal("12.500"))
    with pytest.raises(WindrowError, match="WU723"):
        check_header(schema, FileSource("csv", "rows.csv"), tmp_path / "rows.csv")


REFUSED = {
    "SELECT m FROM s [1 MINUTE] GROUP BY m": "WB724",
    "SELECT DISTINCT m FROM s [1 MINUTE]": "WB724",
    "SELECT k FROM s [1 MINUTE] ORDER BY m": "WB724",
    "SELECT k FROM s [1 MINUTE] WHERE m = m": "WB724",
    "SELECT COLLECT_SET(m) AS x FROM s [1 MINUTE]": "WB724",
    "SELECT m FROM s [1 MINUTE] INTERSECT SELECT m FROM s [1 MINUTE]": "WB724",
    "SELECT k[0] AS x FROM s [1 MINUTE]": "WB725",
    "SELECT xs['a'] AS x FROM s [1 MINUTE]": "WB725",
    "SELECT m[1] AS x FROM s [1 MINUTE]": "WB725",
    "SELECT st.other FROM s [1 MINUTE]": "WB726",
    "SELECT k.other FROM s [1 MINUTE]": "WB726",
    "SELECT x FROM s [1 MINUTE], UNNEST(k) AS t (x)": "WB727",
    "SELECT x FROM s [1 MINUTE] LATERAL VIEW INLINE(xs) t AS x": "WB727",
    "SELECT TRANSFORM(xs, 5) AS x FROM s [1 MINUTE]": "WB728",
    "SELECT FILTER(xs, x -> x + 1) AS x FROM s [1 MINUTE]": "WB728",
    "SELECT x FROM s [1 MINUTE] RIGHT JOIN UNNEST(xs) AS t (x) ON TRUE": "WU721",
    "SELECT EXPLODE(xs) AS x, EXPLODE(items) AS y FROM s [1 MINUTE]": "WU721",
    "SELECT x FROM s [1 MINUTE] LEFT JOIN UNNEST(xs) AS t (x) ON x > 1": "WU721",
    "SELECT COLLECT_LIST(k) OVER (PARTITION BY k) AS x FROM s [1 MINUTE]": "WU722",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_by_name(text: str) -> None:
    with pytest.raises(WindrowError, match=REFUSED[text]):
        session_with(text)


def test_nested_values_do_not_fit_a_chosen_algorithm() -> None:
    session, _ = session_with()
    with pytest.raises(WindrowError, match="WU720"):
        session.query(
            "SELECT xs, COUNT(*) AS n FROM s [1 MINUTE] GROUP BY xs", algorithm="factorised"
        )


def test_values_that_are_collected_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "windrow.operators.relations.aggregates.collected_values.MAX_COLLECTED_BYTES"
    monkeypatch.setattr(module, 500)
    session, (query,) = session_with("SELECT COLLECT_LIST(k) AS x FROM s [1 MINUTE]")
    with pytest.warns(RuntimeWarning, match="WD720"):
        session.push("s", ROWS)
    with pytest.raises(WindrowError, match="WD720"):
        query.result()


@settings(max_examples=15)
@given(st.data())
def test_any_type_goes_through_a_window(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(NAMES))
    listed = data.draw(st.lists(values(type_named(name)), min_size=1, max_size=6))
    session = windrow.connect()
    session.stream("s", {"ts": "timestamp", "v": name}, time="ts")
    query = session.query("SELECT v FROM s [1 MINUTE]")
    times = [np.datetime64("2026-01-01") + np.timedelta64(i, "s") for i in range(len(listed))]
    session.push("s", {"ts": times, "v": listed})
    session.finish()
    column = pa.array(listed, type_named(name).arrow).to_pylist()
    assert Counter(map(plain, query.result()["v"].to_pylist())) == Counter(map(plain, column))
