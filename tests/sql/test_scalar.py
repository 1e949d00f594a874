"""Scalar expressions against sqlglot's own Spark parser, and their places."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot
from hypothesis import given
from sqlglot import exp

from support.statement_texts import expressions
from windrow.aggregate_functions import SQL_NAMES
from windrow.errors import QuerySyntaxError
from windrow.sql import parse_query, place_of, print_expression
from windrow.sql.functions import AGGREGATES, SCALARS


def parse(text: str) -> exp.Expression:
    return parse_query(f"SELECT {text} FROM t").items[0].expression


def by_sqlglot(text: str) -> exp.Expr:
    """What sqlglot reads, made alike where our tree differs on purpose."""
    holder = exp.Paren(this=sqlglot.parse_one(text, read="spark"))
    for node in reversed(list(holder.this.walk())):  # children first: parents take them over
        changed = _as_ours(node.copy())
        if changed != node:
            node.replace(changed)
    return holder.this


def _as_ours(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Cast):  # in Spark's dialect CAST is a TryCast without safe
        kind = exp.TryCast if node.args.get("safe") else exp.Cast
        safe = {"safe": True} if node.args.get("safe") else {}
        return kind(this=node.this, to=node.args["to"], **safe)
    if node.args.get("negate"):  # a NOT LIKE b is NOT (a LIKE b), as with IN and BETWEEN
        node.set("negate", None)
        return exp.Not(this=node)
    if isinstance(node, exp.Identifier):  # quotes depend on the name, not on the text
        node.set(
            "quoted", node.name in ("two words", "select", "order", "tick`ed", "every", "error")
        )
    return node


@pytest.mark.parametrize(
    "text",
    [
        *(
            "a + b * c - d / e % f",
            "a DIV b * c",
            "a - b - c",
            "(a - b) * c",
            "- a * b",
            "a || b || c",
        ),
        *("NOT a AND b OR c AND NOT d", "a = b AND c <> d OR e <=> f", "a + 1 > b * 2"),
        *("a IS NULL", "a IS NOT NULL AND b", "a IS DISTINCT FROM b", "a IS NOT TRUE"),
        *("a IN (1, 2, b + 1)", "a NOT IN (1)", "a BETWEEN 1 AND 2 AND b", "a NOT LIKE 'x'"),
        *("a RLIKE 'x'", "a NOT ILIKE b", "CASE a WHEN 1 THEN 2 ELSE 3 END", "COUNT(*)"),
        *("COUNT(DISTINCT a, b)", "SUM(DISTINCT a)", "CAST(a AS DECIMAL(10, 2))", "a::int", "1L"),
        "TRY_CAST(a AS INT)",
        *("DATE '2026-01-01'", "TIMESTAMP '2026-01-01 00:00:00'", "foo(a, b)", "t.a", "t.*", "*"),
        *("NULL", "TRUE", "'x'", "1.5e3", "-1", "- -a", "+a", "NOT NOT a", "IF(a, b, c)"),
    ],
)
def test_expressions_read_as_sqlglot_reads_them(text: str) -> None:
    assert parse(text) == by_sqlglot(text)


@given(expressions().filter(lambda text: "''" not in text and "`tick" not in text))
def test_generated_expressions_read_as_sqlglot_reads_them(text: str) -> None:
    assert parse(text) == by_sqlglot(text)


@pytest.mark.parametrize("name", [*sorted(AGGREGATES), "IF"])
def test_every_aggregate_becomes_its_node_and_prints_back(name: str) -> None:
    count = next(count for count in (1, 2, 3) if _is_call(name, count))
    call = parse(_call_text(name, count))
    assert not isinstance(call, exp.Anonymous)
    assert parse(print_expression(call)) == call
    entry = SQL_NAMES.get(name)
    is_own = entry is not None and (entry.is_of_trees or name in entry.synonyms)
    # Those have nodes of their own, and the two sqlglot does not know in Spark.
    if not is_own and name not in ("LISTAGG", "STRING_AGG"):
        assert call == by_sqlglot(_call_text(name, count))


def test_every_scalar_function_is_a_call_by_name_and_prints_back() -> None:
    for name in SCALARS - {"IF"}:
        call = parse(f"{name.lower()}(a, b)")
        assert isinstance(call, exp.Anonymous)
        assert call.this == name
        assert parse(print_expression(call)) == call


def _is_call(name: str, count: int) -> bool:
    try:
        parse(_call_text(name, count))
    except QuerySyntaxError:
        return False
    return True


def _call_text(name: str, count: int) -> str:
    return f"{name}({', '.join(['a', 'b', 'c'][:count])})"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3 - 4", 3),
        ("10 - 3 - 2", 5),
        ("NOT 1 = 2 AND 2 > 1", True),
        ("CASE WHEN 1 > 2 THEN 'a' ELSE 'b' END || 'c'", "bc"),
        ("5 IN (1, 5) OR NULL", True),
        ("NULL <=> NULL", True),
        ("'x' || 1 NOT LIKE 'x2'", True),
        ("6 % 4 BETWEEN 2 AND 2", True),
        ("1 / 0", None),
        ("TRY_CAST('x' AS int)", None),
        ("'it''s'", "it's"),
        ("coalesce(nullif(1, 1), least(4, 3), 9)", 3),
    ],
)
def test_what_is_printed_for_duckdb_has_the_value_of_spark(text: str, value: object) -> None:
    printed = print_expression(parse(text), "duckdb")
    assert duckdb.sql(f"SELECT {printed}").fetchall() == [(value,)]


def test_names_are_quoted_for_duckdb() -> None:
    assert print_expression(parse("t.desc + `two words`"), "duckdb") == '"t"."desc" + "two words"'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        *(("celsius > 5", "celsius"), ("temp.celsius", "temp"), ("5 + a", "5"), ("- a", "-")),
        *(("COUNT(*)", "COUNT"), ("'text' || a", "'text'"), ("(a)", "("), ("NOT a", "NOT")),
        *(("CASE WHEN a THEN b END", "CASE"), ("CAST(a AS int)", "CAST"), ("NULL", "NULL")),
        *(("`two words` = 1", "`two words`"), ("*", "*"), ("DATE '2026-01-01'", "DATE")),
        *(("a NOT IN (1)", "a"), ("foo(a)", "foo")),
    ],
)
def test_an_expression_knows_the_place_of_its_first_word(text: str, word: str) -> None:
    query = f"SELECT\n  {text}\nFROM t"
    place = place_of(parse_query(query).items[0].expression, query)
    assert place is not None
    assert (place.line, place.column, place.length) == (2, 3, len(word))


def test_an_expression_without_text_has_no_place() -> None:
    assert place_of(exp.column("a"), "") is None
