"""The slow twin on selects, DISTINCT and negations: by hand, and against DuckDB's own reading."""

from __future__ import annotations

import math

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.oracle import Oracle, Row, assert_same_rows
from support.streams import STREAMS, batch_of, instant, plan_of

Values = dict[str, object]
SECOND_US = 1_000_000


def tables_of(rows: dict[str, list[Values]]) -> dict[str, pa.Table]:
    """Rows that came at one second, unless they say when."""
    return {
        name: pa.Table.from_batches(
            [batch_of(name, tuple({"ts": instant(SECOND_US), **row} for row in rows.get(name, [])))]
        )
        for name in STREAMS
    }


def answer(text: str, at_us: int = SECOND_US, **rows: list[Values]) -> list[Row]:
    return Oracle(plan_of(text)).answer_at(tables_of(rows), at_us)


def test_a_joined_row_counts_as_often_as_it_is_there() -> None:
    text = (
        "SELECT {} a.s AS s, b.l + c.l AS l FROM a [5], b [5], c [5] WHERE a.k = b.k AND b.k = c.k"
    )
    rows: dict[str, list[Values]] = {
        "a": [{"k": 1, "s": "x"}, {"k": 1, "s": "x"}, {"k": None, "s": "x"}],
        "b": [{"k": 1, "l": 1}, {"k": 1, "l": 2}],
        "c": [{"k": 1, "l": 2}, {"k": 1, "l": 1}],
    }
    expected: list[Row] = [("x", 3)] * 4 + [("x", 2)] * 2 + [("x", 4)] * 2
    assert_same_rows(answer(text.format(""), **rows), expected)
    assert_same_rows(answer(text.format("DISTINCT"), **rows), [("x", 2), ("x", 3), ("x", 4)])


def test_distinct_takes_both_zeros_every_nan_and_null_as_one_each() -> None:
    values = [0.0, -0.0, math.nan, -math.nan, None, None, 1.0]
    found = answer("SELECT DISTINCT d FROM a [5]", a=[{"d": value} for value in values])
    assert_same_rows(found, [(None,), (0.0,), (1.0,), (math.nan,)])


def test_a_match_counts_only_while_it_is_in_its_window() -> None:
    text = "SELECT a.l AS l FROM a [9] LEFT ANTI JOIN b [2] ON a.k = b.k"
    a: list[Values] = [{"k": 1, "l": 10}, {"k": None, "l": 20}, {"k": 2, "l": 30}]
    b: list[Values] = [{"k": 1, "ts": instant(3 * SECOND_US)}, {"k": None}]
    seen = [[row[0] for row in answer(text, t * SECOND_US, a=a, b=b)] for t in (1, 3, 5, 6, 11)]
    assert seen == [[10, 20, 30], [20, 30], [20, 30], [10, 20, 30], []]


def test_counts_over_what_has_no_match() -> None:
    text = "SELECT COUNT(*) AS n FROM a [5] LEFT ANTI JOIN b [ROWS 1] ON a.k = b.k AND b.o"
    a: list[Values] = [{"k": 1}, {"k": 1}, {"k": 2}]
    assert answer(text, a=a, b=[{"k": 1, "o": False}, {"k": 2, "o": True}]) == [(2,)]
    # The last row counts in its window, but its condition does not hold.
    assert answer(text, a=a, b=[{"k": 2, "o": True}, {"k": 1, "o": False}]) == [(3,)]


# ---- what binding makes of a text, against DuckDB reading the text itself without its windows

MATCHES = [
    "n.k = a.k",
    "n.k = a.k AND a.l > 1",
    "a.l > 1",
    "n.l > 1",
    "n.k = a.l AND n.l = a.k",
    "n.k < a.k OR a.l = n.l",
    "(n.k < a.k AND a.l = n.l) AND n.k + a.k > 1",
    "NOT (n.k <> a.k)",
    "a.k = 1 OR n.l IS NULL",
    "n.k = 1 AND NULL",
    "1 = 0",
    "TRUE",
    "a.k IS NULL",
    "n.k = a.k AND a.k = n.l",
]
few = st.sampled_from([0, 1, 2, None])
rows_of_two = st.lists(st.fixed_dictionaries({"k": few, "l": few}), max_size=4)
PLAIN = duckdb.connect(config={"threads": 1})


def as_written(text: str, rows: dict[str, list[Values]]) -> list[Row]:
    for name, table in tables_of(rows).items():
        PLAIN.register(name, table)
    return PLAIN.execute(text.replace(" [5]", "")).fetchall()


@pytest.mark.parametrize("match", MATCHES)
@settings(max_examples=15)
@given(a=rows_of_two, b=rows_of_two, c=rows_of_two)
def test_negations_mean_what_is_written(
    match: str, a: list[Values], b: list[Values], c: list[Values]
) -> None:
    rows = {"a": a, "b": b, "c": c}
    exists = f"NOT EXISTS (SELECT 1 FROM b [5] AS n WHERE {match})"
    texts = [
        f"SELECT a.k, a.l FROM a [5] WHERE {exists}",
        f"SELECT a.k, c.l FROM a [5], c [5] WHERE a.k = c.k AND {exists}",
        f"SELECT DISTINCT a.l FROM a [5] WHERE a.k = 1 AND {exists} "
        f"AND NOT EXISTS (SELECT * FROM c [5] AS n WHERE {match})",
    ]
    for text in texts:
        assert_same_rows(answer(text, **rows), as_written(text, rows), text)
    joined = f"SELECT a.k, a.l FROM a [5] LEFT ANTI JOIN b [5] AS n ON {match}"
    same = f"SELECT a.k, a.l FROM a WHERE NOT EXISTS (SELECT 1 FROM b AS n WHERE {match})"
    assert_same_rows(answer(joined, **rows), as_written(same, rows), joined)


@given(a=rows_of_two, b=rows_of_two)
def test_names_within_not_exists_are_its_own_first(a: list[Values], b: list[Values]) -> None:
    rows = {"a": a, "b": b}
    for inner in (
        "SELECT 1 FROM b [5] WHERE k = a.l",
        "SELECT k FROM b [5] AS a WHERE k = l AND a.k = 1",
        "SELECT a.k FROM b [5] WHERE b.k = 1 AND a.l = l",
    ):
        text = f"SELECT k, l FROM a [5] WHERE NOT EXISTS ({inner})"
        assert_same_rows(answer(text, **rows), as_written(text, rows), text)
