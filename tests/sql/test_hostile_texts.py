"""Texts made to hurt: each ends in an error of ours, or in a statement, and soon."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.statement_texts import statements
from windrow.errors import WindrowError
from windrow.sql import parse_script, parse_statement, print_expression, print_statement
from windrow.sql.limits import MAX_DEPTH, MAX_QUERY_DEPTH, MAX_TREE_DEPTH

HOSTILE = {
    "brackets": "(" * 100_000,
    "brackets that fit": "SELECT " + "(" * 60_000,
    "square brackets": "SELECT a FROM t " + "[" * 9_000,
    "or chain": "SELECT a FROM t WHERE " + " OR ".join(["a"] * 100_000),
    "or chain that fits": "SELECT a FROM t WHERE " + " OR ".join(["a"] * 4_900),
    "sum chain": "SELECT " + "+".join(["a"] * 4_900) + " FROM t",
    "nots": "SELECT " + "NOT " * 9_000 + "a FROM t",
    "minus signs": "SELECT " + "- " * 9_000 + "a FROM t",
    "mixed signs": "SELECT " + "NOT - " * 4_000 + "a FROM t",
    "cases": "SELECT " + "CASE WHEN " * 4_900,
    "calls": "SELECT " + "abs(" * 4_900,
    "casts": "SELECT a" + "::int" * 4_900,
    "comparisons": "SELECT a" + " = a" * 4_900,
    "in lists": "SELECT a" + " IN (1)" * 2_000,
    "negations": "SELECT a FROM t WHERE " + "NOT EXISTS (SELECT 1 FROM t WHERE " * 1_000,
    "queries in FROM": "SELECT a FROM " + "(SELECT a FROM " * 2_000,
    "queries as values": "SELECT " + "(SELECT " * 2_000,
    "queries in IN": "SELECT a IN " + "(SELECT a IN " * 2_000,
    "queries in brackets": "(" * 30 + "SELECT 1" + ")" * 30,
    "common tables": "WITH a AS (" * 1_000,
    "set operations": " UNION ".join(["SELECT 1"] * 3_000),
    "set operations in brackets": "(SELECT 1 UNION " * 1_000,
    "joins in brackets": "SELECT a FROM " + "(a JOIN " * 2_000,
    "grouping sets": "SELECT a FROM t GROUP BY " + "CUBE (a, b, c), " * 500 + "a",
    "rollups": "SELECT a FROM t GROUP BY ROLLUP (" + "a, " * 3_000 + "a)",
    "windows": "SELECT " + "sum(sum(a) OVER (ORDER BY " * 900,
    "open string": "SELECT '" + "\\'" * 30_000,
    "open comment": "SELECT " + "/*" * 30_000,
    "open name": "SELECT `" + "``" * 30_000,
    "long name": "SELECT " + "x" * 60_000,
    "long number": "SELECT " + "9" * 60_000,
    "long exponent": "SELECT a FROM t [1e" + "9" * 60_000 + " DAYS]",
    "large exponent": "SELECT a FROM t [1e999 DAYS]",
    "tiny exponent": "SELECT a FROM t [1e-999 DAYS]",
    "nul": "\0" * 60_000,
    "lone surrogates": "\ud800" * 20_000,
    "backslashes": "\\" * 60_000,
    "too long": "SELECT a FROM t WHERE x IN (" + "1," * 60_000 + "1)",
}


# They take a third of a second at most; what is not linear in the text would take minutes.
SOON_S = 20


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_soon_ends_in_an_error_of_ours(name: str) -> None:
    began = time.thread_time()
    with pytest.raises(WindrowError) as caught:
        parse_script(HOSTILE[name])
    assert time.thread_time() - began < SOON_S
    str(caught.value).encode()  # can be printed, whatever the text held


DEEP = {
    "brackets": "(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH,
    "calls": "abs(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH,
    "cases": "CASE WHEN " * MAX_DEPTH + "a" + " THEN 1 END" * MAX_DEPTH,
    "casts": "CAST(" * MAX_DEPTH + "a" + " AS int)" * MAX_DEPTH,
    "conditions": "if(a = b OR 1 + " * MAX_DEPTH + "1" + ", 1, 2)" * MAX_DEPTH,
    "signs": "- - abs(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH,
    "or chain": " OR ".join(["a"] * (MAX_TREE_DEPTH - 1)),
    "sum chain": "+".join(["a"] * (MAX_TREE_DEPTH - 1)),
}


@pytest.mark.parametrize("name", DEEP)
def test_the_deepest_allowed_text_can_be_printed_compared_and_copied(name: str) -> None:
    statement = parse_statement(f"SELECT {DEEP[name]} FROM t")
    assert parse_statement(print_statement(statement)) == statement
    expression = statement.items[0].expression  # type: ignore[union-attr]  # it is a Select
    assert expression.copy() == expression
    assert print_expression(expression, "duckdb")


_INNER = MAX_QUERY_DEPTH
DEEP_QUERIES = {
    "in FROM": "SELECT a FROM (" * _INNER + "SELECT 1" + ")" * _INNER,
    "as values": "SELECT 1 + (" * _INNER + "SELECT 1" + ")" * _INNER,
    "in IN": "SELECT a FROM t WHERE a OR b IN (" * _INNER + "SELECT 1" + ")" * _INNER,
    "in EXISTS": "SELECT a FROM t WHERE NOT EXISTS (" * _INNER + "SELECT 1" + ")" * _INNER,
    "in WITH": "WITH x AS (" * _INNER + "SELECT 1" + ") SELECT 2" * _INNER,
    "in brackets": "(" * _INNER + "SELECT 1" + ") LIMIT 1" * _INNER,
    "in parts": "SELECT 1 EXCEPT (" * _INNER + "SELECT 1" + ")" * _INNER,
    "in OVER": "SELECT sum(a) OVER (ORDER BY (" * _INNER + "SELECT 1" + "))" * _INNER,
    "in signs": "SELECT if(- - (a = b) OR (" * 10 + "SELECT 1" + "), 1, 2)" * 10,
    "in operators": "SELECT 1 + a * (" * _INNER + "SELECT " + "+".join("a" * 60) + ")" * _INNER,
    "joins": "SELECT a FROM " + "(a JOIN " * MAX_DEPTH + "b" + " ON c)" * MAX_DEPTH,
    "parts": " UNION ".join(["SELECT a FROM t"] * (MAX_TREE_DEPTH - 1)),
}


@pytest.mark.parametrize("name", DEEP_QUERIES)
def test_the_deepest_allowed_queries_can_be_printed_and_compared(name: str) -> None:
    statement = parse_statement(DEEP_QUERIES[name])
    again = parse_statement(print_statement(statement))
    assert again == statement
    assert hash(again) == hash(statement)


def test_many_flat_parts_are_allowed() -> None:
    values = ", ".join(map(str, range(4_000)))
    statement = parse_statement(f"SELECT a FROM t WHERE a IN ({values})")
    assert parse_statement(print_statement(statement)) == statement


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("latin-1")))
def test_any_text_ends_in_an_error_of_ours_or_a_statement(text: str) -> None:
    _parse_or_refuse(text)


_WORDS = """
    SELECT FROM WHERE GROUP BY HAVING AND OR NOT IN IS NULL CASE WHEN THEN END EXISTS BETWEEN AS
    t a * ( ) [ ] , ; . - + = < 5 0.5 'x' `y` EVERY ERROR DURATION RANGE ROWS SLIDE NOW PARTITION
    UNBOUNDED MINUTES JOIN LEFT ANTI ON HISTORY TO AT CREATE STREAM QUERY TIME SET EXPLAIN INTO CAST
    int COUNT DISTINCT :: || % OVER -- /* */ ' ` é
    WITH VALUES UNION INTERSECT EXCEPT ALL ORDER LIMIT OFFSET FETCH FIRST ONLY QUALIFY WINDOW w
    ROLLUP CUBE GROUPING SETS CROSS FULL SEMI NATURAL USING ANY FILTER PRECEDING INTERVAL VIEW
"""
_PIECES = st.sampled_from([*_WORDS.split(), "\0", "\n"])


@given(st.lists(_PIECES, max_size=40))
def test_any_row_of_words_ends_in_an_error_of_ours_or_a_statement(words: list[str]) -> None:
    _parse_or_refuse(" ".join(words))


@given(statements(), st.data())
def test_a_damaged_statement_ends_in_an_error_of_ours_or_a_statement(
    text: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 10))
    inserted = data.draw(st.text(max_size=3) | _PIECES)
    _parse_or_refuse(text[:at] + inserted + text[at + cut :])


def _parse_or_refuse(text: str) -> None:
    began = time.thread_time()
    try:
        parsed = parse_script(text)
    except WindrowError as error:
        refusal = error
    else:
        assert parse_script("; ".join(map(print_statement, parsed))) == parsed
        return
    assert refusal.hint
    assert refusal.place is not None
    str(refusal).encode()  # can be printed, whatever the text held
    assert time.thread_time() - began < SOON_S
