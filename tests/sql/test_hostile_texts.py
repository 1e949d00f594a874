"""Texts made to hurt: each ends in an error of ours, or in a statement, and soon."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.statement_texts import statements
from windrow.errors import WindrowError
from windrow.sql import parse_script, parse_statement, print_expression, print_statement
from windrow.sql.limits import MAX_DEPTH, MAX_TREE_DEPTH

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
