"""Limits on query text, checked before anything recursive sees it.

Every later walk over a tree (ours or sqlglot's) may recurse: these limits keep it far from Python's
own recursion limit, so that hostile text ends in an error of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlglot import exp

from windrow.errors import QuerySyntaxError
from windrow.sql.nested_query import NestedQuery
from windrow.sql.places import place_at, place_of
from windrow.sql.statements import QueryText
from windrow.sql.tokens import Token
from windrow.sql.walks import expressions_of, parts_of

__all__ = [
    "MAX_DEPTH",
    "MAX_GROUPING_SETS",
    "MAX_NAME_CHARS",
    "MAX_NUMBER_CHARS",
    "MAX_QUERY_DEPTH",
    "MAX_TEXT_BYTES",
    "MAX_TOKENS",
    "MAX_TREE_DEPTH",
    "check_query",
    "check_text",
    "check_tokens",
    "check_tree",
]

MAX_TEXT_BYTES = 64 * 1024
MAX_TOKENS = 10_000
MAX_DEPTH = 32  # brackets and CASE within each other; also NOT NOT ... and - - ... in a row
MAX_TREE_DEPTH = 128  # an expression as a tree: `a OR b OR c` is a chain two deep
MAX_QUERY_DEPTH = 16  # queries within each other, a query in brackets of any kind
MAX_GROUPING_SETS = 64  # written out one by one, they still fit into a text
MAX_NUMBER_CHARS = 64
MAX_NAME_CHARS = 255

_FORBIDDEN = re.compile("[\x00\ud800-\udfff]")


def check_text(text: object) -> str:
    """The text, if it is one, is short enough and holds only characters that can be stored."""
    if not isinstance(text, str):
        raise QuerySyntaxError(
            "WS100", f"WQL is text, not {type(text).__name__}", hint="pass the query as a str"
        )
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_TEXT_BYTES:
        raise QuerySyntaxError(
            "WS101",
            f"the text has {size} bytes, more than {MAX_TEXT_BYTES}",
            hint="put long lists of values into a stream and join with it",
        )
    found = _FORBIDDEN.search(text)
    if found is not None:
        raise QuerySyntaxError(
            "WS102",
            f"the character U+{ord(found.group()):04X} is not allowed in a query",
            hint="remove it",
            place=place_at(_without_surrogates(text), found.start()),
        )
    return text


def _without_surrogates(text: str) -> str:
    # An error with a lone surrogate in it could not be printed or logged.
    return _FORBIDDEN.sub("\ufffd", text)


def check_tokens(tokens: Sequence[Token], text: str) -> None:
    """Refuses too many words, words that are too long, and brackets too deep or without partner."""
    if len(tokens) > MAX_TOKENS:
        raise QuerySyntaxError(
            "WS103",
            f"the text has more than {MAX_TOKENS} tokens",
            hint="split it into several queries",
            place=tokens[MAX_TOKENS].place(text),
        )
    for token in tokens:
        _check_token_length(token, text)
    _check_nesting(tokens, text)


def _check_token_length(token: Token, text: str) -> None:
    if token.kind == "number" and len(token.text) > MAX_NUMBER_CHARS:
        raise QuerySyntaxError(
            "WS108",
            f"a number has more than {MAX_NUMBER_CHARS} characters",
            hint="a DOUBLE holds 17 digits, a DECIMAL 18",
            place=token.place(text),
        )
    if token.kind in ("word", "quoted") and len(token.text) > MAX_NAME_CHARS:
        raise QuerySyntaxError(
            "WS109",
            f"a name has more than {MAX_NAME_CHARS} characters",
            hint="shorten it",
            place=token.place(text),
        )


def _check_nesting(tokens: Sequence[Token], text: str) -> None:
    depth = 0
    signs_in_a_row = 0
    for token in tokens:
        if token.opens_level:
            depth += 1
        elif token.closes_level:
            depth = max(0, depth - 1)
        signs_in_a_row = signs_in_a_row + 1 if token.is_prefix_sign else 0
        if depth > MAX_DEPTH or signs_in_a_row > MAX_DEPTH:
            raise QuerySyntaxError(
                "WS104",
                f"brackets, CASE or signs are nested deeper than {MAX_DEPTH}",
                hint="remove unnecessary brackets",
                place=token.place(text),
            )


def check_tree(expression: exp.Expression, text: str) -> exp.Expression:
    """The expression, if walking it stays far from Python's recursion limit."""
    level: list[exp.Expr] = [expression]
    for _ in range(MAX_TREE_DEPTH):
        level = [child for node in level for child in node.iter_expressions()]
        if not level:
            return expression
    raise QuerySyntaxError(
        "WS105",
        f"an expression is a chain of more than {MAX_TREE_DEPTH} operators",
        hint="write x IN (...) instead of x = ... OR x = ...",
        place=place_of(expression, text),
    )


def check_query(query: QueryText, text: str, token: Token) -> QueryText:
    """The query, if the way down through all its expressions and inner queries is not too long."""
    level = list(_children(query))
    for _ in range(MAX_TREE_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return query
    raise QuerySyntaxError(
        "WS105",
        f"queries and operators within each other are more than {MAX_TREE_DEPTH} deep",
        hint="split it into views, or into several queries",
        place=token.place(text),
    )


def _children(node: exp.Expr | QueryText) -> Iterable[exp.Expr | QueryText]:
    if isinstance(node, NestedQuery):
        return [node.query]
    if isinstance(node, exp.Expr):
        return node.iter_expressions()
    return [*expressions_of(node), *parts_of(node)]
