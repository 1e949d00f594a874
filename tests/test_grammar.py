"""The page of the grammar and the parser say the same, and its examples run."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given

from support.doc_pages import blocks_of
from support.grammar_texts import Grammar
from support.statement_texts import statements
from windrow.errors import QuerySyntaxError, UnsupportedError
from windrow.jobs.job import job_of
from windrow.sql import parse_script
from windrow.sql.words import RESERVED

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "reference" / "grammar.md"
TEXTS = 400
STREAMS = """
CREATE STREAM temp (location STRING, ts TIMESTAMP, celsius DOUBLE) TIME ts FROM jsonl('temp.jsonl');
CREATE STREAM smoke (location STRING, ts TIMESTAMP, strength DOUBLE) TIME ts FROM jsonl('s.jsonl');
CREATE HISTORY ON temp (celsius) LEVELS (1 SECOND FOR 1 HOUR, 1 MINUTE FOR 1 DAY);
"""


def read_grammar() -> Grammar:
    sys.path.insert(0, str(DOCS / "pictures"))
    try:
        nodes = importlib.import_module("grammar")
    finally:
        sys.path.pop(0)
    return Grammar(nodes.rules_of(PAGE), nodes)


GRAMMAR = read_grammar()
CONDITIONS = set(re.findall(r"W[SU]\d{3}", PAGE.read_text("utf-8").partition("## Conditions")[2]))


def refusal(text: str) -> str | None:
    """The code with which a text is refused, if it is."""
    try:
        parse_script(text)
    except (QuerySyntaxError, UnsupportedError) as error:
        return error.code
    return None


@pytest.mark.parametrize("seed", range(8))
def test_what_follows_the_rules_is_read(seed: int) -> None:
    random = Random(seed)
    texts = [GRAMMAR.derive("statement", random) for _ in range(TEXTS // 8)]
    codes = {text: refusal(text) for text in texts}
    assert {text for text, code in codes.items() if code not in {None, *CONDITIONS}} == set()
    assert sum(code is None for code in codes.values()) > TEXTS // 40


@given(text=statements())
def test_what_is_read_follows_the_rules(text: str) -> None:
    parse_script(text)
    assert GRAMMAR.follows("script", text), text


@pytest.mark.parametrize(
    "text",
    ["SELECT FROM a", "SELECT a b c FROM d", "SELECT a FROM b [ROWS]", "SELECT 1 = 2 = 3 FROM b"],
)
def test_what_is_wrong_follows_no_rule(text: str) -> None:
    assert not GRAMMAR.follows("script", text)


def test_every_rule_is_reached_and_every_name_has_a_rule() -> None:
    text = "".join(block.text for block in blocks_of(PAGE) if block.language == "ebnf")
    used = set(re.findall(r"\b[a-z_]+\b", re.sub(r"'[^']+'", "", text)))
    words = PAGE.read_text("utf-8").partition("## Words")[2].partition("## ")[0]
    assert used == {*GRAMMAR.rules, *re.findall(r"^\| `(\w+)` \|", words, re.M)}


def test_no_rule_is_given_twice() -> None:
    text = "".join(block.text for block in blocks_of(PAGE) if block.language == "ebnf")
    names = re.findall(r"^(\w+)\s*::=", text, re.M)
    assert sorted(names) == sorted(set(names))


def test_the_reserved_words_are_those_of_the_parser() -> None:
    told = PAGE.read_text("utf-8").partition("Reserved words: ")[2].partition(".")[0]
    assert set(re.findall(r"[A-Z]+", told)) == RESERVED


def test_every_example_binds() -> None:
    known = job_of(STREAMS)
    for block in blocks_of(PAGE):
        if block.language == "sql":
            job_of(block.text, known)
