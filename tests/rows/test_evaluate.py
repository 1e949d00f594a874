"""The evaluator against a slow twin, row by row, and against DuckDB where meanings agree."""

from __future__ import annotations

import importlib
import math
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.slow_expressions import FAULT, slow
from windrow.errors import DataError
from windrow.plan.binder import bind
from windrow.plan.catalog import Catalog
from windrow.plan.expressions import FUNCTIONS, Call, ColumnRef, Expr, Literal
from windrow.rows.evaluate import (
    evaluate,
    evaluate_checked,
    evaluate_filter,
    evaluate_or_null,
    filter_checked,
)
from windrow.rows.scalar import registry
from windrow.rows.scalar.lambdas import HIGHER_ORDER
from windrow.rows.scalar.registry import FUNCTIONS as IMPLEMENTED
from windrow.rows.scalar.values import TAKE_FUNCTIONS
from windrow.schema import BOOLEAN, DOUBLE, StreamSchema, columns_of
from windrow.sql import parse_query

STREAM = StreamSchema(
    "s",
    columns_of(
        "ts timestamp, day date, b boolean, t tinyint, n int, k bigint, f float, d double, "
        "e double, p decimal(10, 2), q decimal(18, 4), w string, v string"
    ),
    "ts",
)
CATALOG = Catalog(STREAM)
NAN, INF = math.nan, math.inf
MIN, MAX = -(2**63), 2**63 - 1

doubles = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 2.675, NAN, INF, -INF, 1e300, 9.3e18]),
    st.floats(-1e6, 1e6),
)
integers = st.one_of(st.sampled_from([0, 1, -1, 7, MIN, MAX]), st.integers(-1000, 1000))
texts = st.one_of(
    st.sampled_from(
        ["", " ", "a", "ab%", "A_b\n", "12", " 7 ", "1.5", "1e3", "nan", "yes", "é\\ü"]
    ),
    st.text("ab%_\\\n x", max_size=5),
)


def decimals(precision: int, scale: int) -> st.SearchStrategy[Decimal]:
    top = 10**precision - 1
    return st.integers(-top, top).map(lambda unscaled: Decimal(unscaled).scaleb(-scale))


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "ts": st.none() | st.integers(-(10**15), 10**15),
            "day": st.none() | st.integers(-10_000, 10_000),
            "b": st.none() | st.booleans(),
            "t": st.none() | st.integers(-128, 127),
            "n": st.none() | st.integers(-(2**31), 2**31 - 1),
            "k": st.none() | integers,
            "f": st.none() | st.sampled_from([0.0, -0.0, 1.5, NAN, INF, -2.25]),
            "d": st.none() | doubles,
            "e": st.none() | doubles,
            "p": st.none() | decimals(10, 2),
            "q": st.none() | decimals(18, 4),
            "w": st.none() | texts,
            "v": st.none() | texts,
        }
    ),
    max_size=8,
)


def bound(text: str) -> Expr:
    return bind(parse_query(f"SELECT {text} AS x FROM s"), CATALOG).select[0].expression


def table_of(rows: list[dict[str, object]]) -> pa.Table:
    return pa.table(
        {
            column.name: pa.array([row.get(column.name) for row in rows], column.type.arrow)
            for column in STREAM.columns
        }
    )


def run(query: str | Expr, rows: list[dict[str, object]]) -> list[object]:
    expression = bound(query) if isinstance(query, str) else query
    table = table_of(rows)

    def leaf(reference: Expr) -> pa.Array:
        assert isinstance(reference, ColumnRef)
        return table[reference.column].combine_chunks()

    array = evaluate_or_null(expression, leaf, len(rows))
    assert array.type == expression.type.arrow
    assert len(array) == len(rows)
    array.validate(full=True)
    faults = evaluate_checked(expression, leaf, len(rows))[1]
    if expression.type.name == "BOOLEAN":
        kept, doubtful = filter_checked(expression, leaf, len(rows))
        assert kept.dtype == np.bool_
        if faults is None:
            assert doubtful is None
            assert kept.tolist() == [value is True for value in array.to_pylist()]
    if faults is not None:
        kinds = {"DATE": pa.int32(), "TIMESTAMP": pa.int64()}
        shown = array.cast(kinds.get(expression.type.name, array.type)).to_pylist()
        return [FAULT if flag else value for flag, value in zip(faults, shown, strict=True)]
    if expression.type.name == "TIMESTAMP":
        return array.cast(pa.int64()).to_pylist()
    return (
        array.cast(pa.int32()).to_pylist() if expression.type.name == "DATE" else array.to_pylist()
    )


def same(left: object, right: object) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return (
            left == right
            or (math.isnan(left) and math.isnan(right))
            or math.isclose(left, right, rel_tol=1e-15)
        )
    return left == right and (left is None) == (right is None)


EXPRESSIONS = [
    *("k + 1", "k - n", "k * k", "-k", "abs(k)", "t + t", "k / n", "k % 7", "k % n", "k * 3 - t"),
    *("CASE k WHEN 1 THEN NULL END * 7", "coalesce(NULL, CASE WHEN b THEN NULL END) + d"),
    *("coalesce(CASE WHEN b THEN CAST(NULL AS INT) ELSE NULL END, k)", "-coalesce(NULL, NULL)"),
    *("k IN (n, 7, k + 1)", "k NOT IN (n, t)", "k IN (n, NULL)", "NOT d IN (e, 1)"),
    *("k DIV 7", "k DIV n", "7 DIV k", "k DIV t", "p DIV 3", "k DIV -1", "d DIV 2", "NULL DIV k"),
    *(
        "d + e",
        "d - e",
        "d * e",
        "d / e",
        "d % e",
        "-d",
        "abs(d)",
        "f + d",
        "f * 2",
        "d / 0",
        "k / 2",
    ),
    *("p + q", "p - 1", "p * 2", "p * 1.5", "-p", "abs(p)", "p / 3", "p + n", "q * q", "p % 3"),
    *("p / q", "q / p", "q / 0.0003", "1 / p", "p / n", "p % q", "q % p", "q % 0.07", "k % p"),
    *("0.30 % 0.1", "1.00 / 3", "p / 0", "p % 0.0", "q / 1e0", "p / NULL", "n % q"),
    *("CASE WHEN k < 1000 THEN CAST(k AS SMALLINT) END", "coalesce(n, CAST(k AS INT))"),
    *("k < 100 AND k * k < 50", "k > 100 OR -k < 50", "k IS NULL OR NOT (k + 1 > 5)"),
    *("IF(k BETWEEN -100 AND 100, k * k, 0) + 1", "coalesce(k * k, 0)", "k * k IS NULL"),
    *("TRY_CAST(k AS TINYINT)", "TRY_CAST(w AS INT)", "TRY_CAST(d AS DECIMAL(4, 1)) + 1"),
    *("CASE WHEN NULL THEN k + 1 WHEN k * 2 > 3 THEN 1 ELSE k - 2 END", "-(-k)", "abs(k - 1)"),
    *("d < e", "d <= e", "d > e", "d >= e", "d = e", "d <> e", "d <=> e", "f = d", "f > 1"),
    *("d < 1", "d <= 1", "d > 1", "d >= 1", "d = 1", "d <> 1", "1 < d", "1 >= d", "d <=> NULL"),
    *("k < n", "k >= 7", "n > 0.5", "k = 1.0", "p > q", "p >= 0.005", "p = n", "t < 1000"),
    *(
        "w < v",
        "w = v",
        "w >= 'a'",
        "b = TRUE",
        "b < TRUE",
        "ts > '1990-01-01'",
        "day = '1970-01-02'",
    ),
    *("day < ts", "ts <> TIMESTAMP '1970-01-01 00:00:00'", "w <=> v"),
    *("b AND d > 1", "b OR d > 1", "NOT b", "b IS NULL", "b IS NOT TRUE", "b AND (k > 0 OR NULL)"),
    *("k IN (1, 7, -1)", "k NOT IN (1, NULL)", "d IN (0, 2.5)", "w IN ('a', '')", "p IN (1, 2.5)"),
    *("d IN (1e0, 0, NULL)", "k BETWEEN -10 AND 10", "d NOT BETWEEN 0 AND e"),
    *("CASE WHEN b THEN k WHEN d > 1 THEN n END", "CASE k WHEN 1 THEN 'one' ELSE w END"),
    *(
        "IF(b, p, 1.125)",
        "coalesce(k, n, 0)",
        "coalesce(w, 'none')",
        "nullif(d, 0)",
        "nullif(w, v)",
    ),
    *("least(d, e, 1)", "greatest(d, e)", "least(k, n)", "greatest(w, v, 'a')", "greatest(p, q)"),
    *("ceil(d)", "floor(d)", "ceil(p)", "floor(q)", "ceil(k)", "sqrt(d)", "sqrt(abs(d))"),
    *("sign(d)", "sign(k)", "signum(p)"),
    *(
        "round(d)",
        "round(d, 2)",
        "round(d, -2)",
        "round(p, 1)",
        "round(p)",
        "round(q, 9)",
        "round(q, -1)",
    ),
    *("round(p, -400)", "round(d, -400)", "round(k, -400)"),
    *("round(k)", "round(k, -1)", "round(k, -18)", "round(n, 2)"),
    *("upper(w)", "length(w)", "w || v", "concat(w, '-', v)", "trim(w)"),
    *("substring(w, 1, 2)", "substring(w, 0, 2)", "substring(w, 2)", "substring(w, -2)"),
    *("substring(w, -4, 3)", "substring(w, -2, 1)", "substring(w, -2, 9)", "substring(w, 2, 0)"),
    *("substring(w, 1, -1)", "substring(w, -3)", "substring(w, 9, 1)"),
    *(
        r"w LIKE 'a%'",
        r"w LIKE '_b%'",
        r"w LIKE '%\\%'",
        r"w LIKE 'a\\%_'",
        r"w LIKE '%a%b'",
        "w LIKE ''",
    ),
    *(r"w NOT LIKE '%\\\\%'", "w LIKE '%_'", "w LIKE 'a'"),
    *(
        "CAST(k AS INT)",
        "CAST(d AS BIGINT)",
        "CAST(d AS TINYINT)",
        "CAST(k AS DOUBLE)",
        "CAST(p AS INT)",
    ),
    *(
        "CAST(p AS DOUBLE)",
        "CAST(q AS DOUBLE)",
        "CAST(q AS DECIMAL(6, 1))",
        "CAST(p AS DECIMAL(12, 4))",
    ),
    *("CAST(d AS DECIMAL(8, 2))", "CAST(k AS DECIMAL(5, 2))", "CAST(t AS DECIMAL(18, 9))"),
    *("CAST(w AS BIGINT)", "CAST(w AS DOUBLE)", "CAST(w AS DECIMAL(4, 1))", "CAST(w AS BOOLEAN)"),
    *(
        "CAST(b AS INT)",
        "CAST(b AS STRING)",
        "CAST(d AS BOOLEAN)",
        "CAST(p AS BOOLEAN)",
        "CAST(f AS DOUBLE)",
    ),
    *("CAST(k AS STRING)", "CAST(p AS STRING)", "CAST(ts AS DATE)", "CAST(day AS TIMESTAMP)"),
    *(
        "CAST(ts AS BIGINT)",
        "CAST(ts AS DOUBLE)",
        "CAST(ts AS SMALLINT)",
        "CAST(b AS DECIMAL(3, 1))",
    ),
    *(
        "1 + 1",
        "NULL + k",
        "d / NULL",
        "7 % 0",
        "NULL",
        "9223372036854775807 + 1",
        "1 = 0",
        "CAST('x' AS INT)",
        "-5 % 3",
        "'a' || 'b'",
    ),
    *("round(2.675e0, 2)", "least(1, NULL)", "1 IN (1)", "upper('a')", "length('é')", "ln(d)"),
]


BOUND = {text: bound(text) for text in EXPRESSIONS}


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_every_row_is_what_the_slow_twin_says(rows: list[dict[str, object]]) -> None:
    stored = [as_stored(row) for row in rows]
    for text, expression in BOUND.items():
        expected = [slow(expression, row) for row in stored]
        for row, got, wanted in zip(stored, run(expression, rows), expected, strict=True):
            assert same(got, wanted), (text, row, got, wanted)


def as_stored(row: dict[str, object]) -> dict[str, object]:
    """The row with its FLOAT as the nearest single."""
    value = row["f"]
    return row | {"f": None if value is None else float(np.float32(value))}


# ---- DuckDB, where both mean the same -----------------------------------------------------------

DUCKDB = [
    *("k - n", "d + e", "d * e", "d < e", "d >= e", "d = e", "d <> 1", "k IN (1, NULL)", "d > 1"),
    *("CASE WHEN b THEN k WHEN d > 1 THEN n END", "b OR d > 1", "b AND NULL", "coalesce(d, e, 0)"),
    *("nullif(k, 1)", "k BETWEEN -10 AND 10", "w || v", "upper(w)", "length(w)", "w LIKE 'a%b'"),
    *("w < v", "p + p", "p > q", "p = n", "greatest(d, e)", "least(d, e)", "trim(w)", "k % 7"),
    *("substring(w, 2, 2)", "substring(w, 1)", "d IS NULL", "NOT b", "p - 1", "ts > '1990-01-01'"),
]


@settings(max_examples=30, deadline=None)
@given(ROWS)
def test_values_are_those_of_duckdb(rows: list[dict[str, object]]) -> None:
    tame = [row | {"k": None if row["k"] is None else row["k"] // 4} for row in rows]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("s", table_of(tame))
        expected = connection.sql(f"SELECT {', '.join(DUCKDB)} FROM s").fetchall()
    for column, text in enumerate(DUCKDB):
        for row, got, answer in zip(tame, run(text, tame), expected, strict=True):
            assert same(got, answer[column]), (text, row, got, answer[column])


# ---- single facts -------------------------------------------------------------------------------


def test_overflow_is_a_fault_in_its_row_only() -> None:
    rows = [{"k": MAX}, {"k": 1}, {"k": None}, {"k": MIN}]
    assert run("k + 1", rows) == [FAULT, 2, None, MIN + 1]
    assert run("k * 2", rows) == [FAULT, 2, None, FAULT]
    assert run("-k", rows) == [-MAX, -1, None, FAULT]


@pytest.mark.parametrize(
    ("text", "row", "words"),
    [
        ("1 + k * k", {"k": MAX}, f"k * k has no value of type BIGINT where k is {MAX}"),
        ("-k", {"k": MIN}, f"-k has no value of type BIGINT where k is {MIN}"),
        ("abs(k)", {"k": MIN}, "ABS(k) has no value of type BIGINT"),
        ("round(k, -1)", {"k": MAX}, "ROUND(k, -1) has no value"),
        ("ceil(d)", {"d": 1e19}, "CEIL(d) has no value of type BIGINT where d is 1e+19"),
        ("floor(d)", {"d": NAN}, "FLOOR(d) has no value of type BIGINT where d is nan"),
        ("CAST(k AS TINYINT)", {"k": 128}, "CAST(k AS TINYINT) has no value where k is 128"),
        ("CAST(d AS BIGINT)", {"d": INF}, "CAST(d AS BIGINT) has no value where d is inf"),
        ("CAST(w AS INT)", {"w": "12x"}, "CAST(w AS INT) has no value where w is '12x'"),
        ("CAST(q AS DECIMAL(4, 2))", {"q": Decimal(100)}, "CAST(q AS DECIMAL(4, 2)) has no value"),
        ("CAST(ts AS TINYINT)", {"ts": 10**9}, "no value where ts is 1970-01-01 00:16:40"),
        ("q / 0.0001", {"q": Decimal(10**13)}, "q / 0.0001 has no value of type DECIMAL(18, 6)"),
        ("k > 0 AND k + 1 > 0", {"k": MAX}, "k + 1 has no value"),
    ],
)
def test_a_fault_names_the_expression_and_the_row(text: str, row: dict, words: str) -> None:
    table = table_of([{}, row])
    leaf = lambda part: table[part.column].combine_chunks()  # noqa: E731
    with pytest.raises(DataError) as caught:
        (evaluate_filter if " AND " in text else evaluate)(bound(text), leaf, 2)
    assert caught.value.code == "WD304"
    assert words in caught.value.message
    assert caught.value.hint


def test_nan_is_larger_than_all_and_equal_to_itself() -> None:
    rows = [{"d": NAN, "e": INF}, {"d": NAN, "e": NAN}, {"d": 1.0, "e": NAN}]
    assert run("d > e", rows) == [True, False, False]
    assert run("d = e", rows) == [False, True, False]
    assert run("d >= 40", rows) == [True, True, False]


def test_rounding_goes_by_the_digits_shown() -> None:
    rows = [{"d": value} for value in (2.675, 0.125, -0.125, 2.5, -2.5, 1e22, NAN)]
    assert run("round(d, 2)", rows)[:6] == [2.68, 0.13, -0.13, 2.5, -2.5, 1e22]
    assert run("round(d)", rows)[3:5] == [3.0, -3.0]


def test_power_follows_java() -> None:
    rows = [
        {"d": 1.0, "e": NAN},
        {"d": 2.0, "e": 10.0},
        {"d": -1.0, "e": INF},
        {"d": NAN, "e": 0.0},
    ]
    result = run("power(d, e)", rows)
    assert [same(got, want) for got, want in zip(result, [NAN, 1024.0, NAN, 1.0], strict=True)] == [
        True
    ] * 4


def test_the_sign_of_a_zero_is_its_own() -> None:
    found = run("sign(d)", [{"d": value} for value in (-0.0, 0.0, -2.5, INF, NAN, None)])
    assert [str(value) for value in found] == ["-0.0", "0.0", "-1.0", "1.0", "nan", "None"]


def test_exp_of_one() -> None:
    assert run("exp(d)", [{"d": 0.0}, {"d": None}]) == [1.0, None]


def test_lower_keeps_null() -> None:
    assert run("lower(w)", [{"w": "ÄB"}, {"w": None}]) == ["äb", None]


def test_sliced_columns_are_read_at_their_offset() -> None:
    column = pa.array(
        [Decimal("1.10"), Decimal("2.20"), None, Decimal("4.40")], pa.decimal128(10, 2)
    )
    expression = bound("CAST(p AS DOUBLE)")
    assert evaluate(expression, lambda _: column[1:], 3).to_pylist() == [2.2, None, 4.4]
    numbers = pa.array([1.0, 50.0, 3.0, 60.0])
    assert evaluate_filter(bound("d >= 40"), lambda _: numbers[1:], 3).tolist() == [
        True,
        False,
        True,
    ]


def test_nan_is_found_in_a_list() -> None:
    column = ColumnRef(0, "d", DOUBLE)
    listed = Call("in", (column, Literal(NAN, DOUBLE), Literal(-0.0, DOUBLE)), BOOLEAN)
    rows = [{"d": NAN}, {"d": 0.0}, {"d": 1.0}, {"d": None}]
    assert run(listed, rows) == [True, True, False, None]
    compared = Call("<", (column, Literal(NAN, DOUBLE)), BOOLEAN)
    assert run(compared, rows) == [False, True, True, None]


def test_every_function_of_the_language_runs() -> None:
    # TRY and HAS_VALUE look at faults, not at values; bodies of functions are no values either.
    assert {*IMPLEMENTED, *HIGHER_ORDER, "try", "has_value"} == FUNCTIONS
    assert set(HIGHER_ORDER) == TAKE_FUNCTIONS


def test_no_function_is_in_two_families() -> None:
    tables = [
        getattr(importlib.import_module(f"windrow.rows.scalar.{file}"), table)
        for file, table in registry._FAMILIES
    ]
    assert len(IMPLEMENTED) == sum(len(each) for each in tables)


def test_a_plain_column_is_not_copied() -> None:
    column = pa.array([1.0, 2.0])
    assert evaluate(bound("d"), lambda _: column, 2) is column


def test_empty_batches_have_the_right_type() -> None:
    for text in EXPRESSIONS:
        assert run(text, []) == []


def test_decimal_to_double_is_the_nearest_double() -> None:
    rows = [{"q": Decimal(unscaled).scaleb(-4)} for unscaled in range(10**13, 10**13 + 2000)]
    rows.append({"q": Decimal("99999999999999.9999")})
    assert run("CAST(q AS DOUBLE)", rows) == [float(row["q"]) for row in rows]
