"""The registry of aggregates says what is true of them: DuckDB is asked, and the docs."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from windrow.aggregate_functions import AGGREGATE_FUNCTIONS, SQL_NAMES, AggregateFunction, Takes
from windrow.sql.functions import aggregate_classes

LANGUAGE = Path(__file__).parents[1] / "docs" / "reference" / "language.md"
OVER_WINDOWS = [
    each for each in AGGREGATE_FUNCTIONS.values() if not (each.laws.in_sketch or each.is_of_trees)
]
each_function = pytest.mark.parametrize("function", OVER_WINDOWS, ids=lambda each: each.name)
VALUES = {Takes.TRUTH: ["true", "false", "true", "NULL"]}
NUMBERS = ["1", "5", "2", "2", "NULL"]


def value(function: AggregateFunction, rows: list[str]) -> object:
    """What DuckDB says of the function over these values."""
    kind = "BOOLEAN" if function.takes is Takes.TRUTH else "DOUBLE"
    listed = ", ".join(rows)
    text = f"SELECT {function.duckdb.format('x')} FROM (SELECT unnest([{listed}]::{kind}[]) AS x)"
    return duckdb.sql(text).fetchall()[0][0]


def rows_for(function: AggregateFunction) -> list[str]:
    return VALUES.get(function.takes, NUMBERS)


@each_function
def test_the_value_of_nothing(function: AggregateFunction) -> None:
    assert value(function, []) == (0 if function.is_count else None)


@each_function
def test_how_many_values_it_needs(function: AggregateFunction) -> None:
    for count in range(3):
        is_there = value(function, rows_for(function)[:count]) is not None
        assert is_there == (count >= function.fewest_values)


@each_function
def test_whether_equal_values_count_as_one(function: AggregateFunction) -> None:
    rows = rows_for(function)
    # Different values are counted once, but are not mergeable: both laws are needed to say so.
    is_same = value(function, rows) == value(function, [*rows, "5" if rows is NUMBERS else "true"])
    if not function.laws.is_collected:
        assert is_same == (function.laws.is_idempotent or not function.laws.is_mergeable)


@each_function
def test_whether_false_adds_no_more_than_null(function: AggregateFunction) -> None:
    if function.takes is Takes.TRUTH:
        rows = ["true", "false", "true"]
        is_same = value(function, rows) == value(
            function, [row.replace("false", "NULL") for row in rows]
        )
        assert is_same == (function.only_true or function.is_greatest)


def test_no_two_functions_share_a_class_of_the_parser() -> None:
    # A class that two share would stand for the last of them only.
    found = {each.name for each in aggregate_classes().values()}
    assert found == {each.name for each in SQL_NAMES.values()}


def test_the_forms_of_an_aggregate_are_there() -> None:
    forms = [form for each in AGGREGATE_FUNCTIONS.values() for form in (each.star, each.distinct)]
    assert {form for form in forms if form is not None} <= set(AGGREGATE_FUNCTIONS)


@pytest.mark.parametrize("name", sorted(SQL_NAMES))
def test_the_language_names_it(name: str) -> None:
    everyday = SQL_NAMES[name].sql_names
    page = LANGUAGE.read_text(encoding="utf-8")
    assert any(f"`{each}" in page for each in everyday)
