"""The records of a file in SQLite's sqllogictest format.

    query II rowsort label-1
    SELECT a, b FROM t
    ----
    1
    2

Expected values stand below the line, one a line and row by row, or only their number and MD5.
Records that `skipif` and `onlyif` give to some databases only are all read: each is one more way to
write a question, and none of these databases is ours.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["Corpus", "Expected", "Query", "read_corpus", "read_records"]

Sort = Literal["nosort", "rowsort", "valuesort"]
_HASHED = re.compile(r"(\d+) values hashing to ([0-9a-f]{32})")
_RULE = "----"


@dataclass(frozen=True)
class Expected:
    """What a query must give: the values as texts, or how many there are and their MD5."""

    values: tuple[str, ...] | None
    count: int
    md5: str | None = None


@dataclass(frozen=True)
class Query:
    """A question and its answer. types: I, R or T for each column. line: where it stands."""

    line: int
    types: str
    sort: Sort
    sql: str
    expected: Expected
    for_mysql: bool = False


@dataclass(frozen=True)
class Corpus:
    """A file: the statements that make its tables, then its queries."""

    name: str
    statements: tuple[str, ...]
    queries: tuple[Query, ...]


def read_corpus(path: Path) -> Corpus:
    """The records of a compressed file; all that fill tables stand before the first query."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = list(read_records(file.read()))
    statements = [each for each in records if isinstance(each, str)]
    queries = [each for each in records if isinstance(each, Query)]
    first = next(number for number, each in enumerate(records) if isinstance(each, Query))
    later = [each for each in records[first:] if isinstance(each, str)]
    assert all(each.startswith("CREATE INDEX") for each in later), path
    return Corpus(path.name.removesuffix(".test.gz"), tuple(statements), tuple(queries))


def read_records(text: str) -> Iterator[Query | str]:
    """Statements, which must succeed, as their SQL, and queries, in the order of the file."""
    is_for_mysql = False
    for line, block in _blocks(text):
        lines = [each for each in block if not each.startswith("#")]
        while lines and lines[0].startswith(("skipif", "onlyif")):
            is_for_mysql |= lines[0].split()[:2] == ["onlyif", "mysql"]
            lines = lines[1:]
        if not lines or lines[0].startswith("hash-threshold"):
            continue
        if lines[0].startswith("halt"):
            return
        words = lines[0].split()
        if words[0] == "query":
            yield _query(line, words, lines[1:], is_for_mysql)
        elif words[:2] == ["statement", "ok"]:
            yield "\n".join(lines[1:])
        else:
            raise ValueError(f"line {line}: {lines[0]!r} is no record that is read here")
        is_for_mysql = False


def _blocks(text: str) -> Iterator[tuple[int, list[str]]]:
    """What stands between empty lines, and the number of its first line.

    An answer without values is an empty line, and ends its block all the same.
    """
    block: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield number - len(block), block
            block = []


def _query(line: int, words: list[str], lines: list[str], is_for_mysql: bool) -> Query:
    rule = lines.index(_RULE)
    sort: Sort = "nosort"
    if len(words) > 2 and words[2] in ("nosort", "rowsort", "valuesort"):
        sort = words[2]  # type: ignore[assignment]
    sql = "\n".join(lines[:rule])
    return Query(line, words[1], sort, sql, _expected(lines[rule + 1 :]), is_for_mysql)


def _expected(lines: list[str]) -> Expected:
    hashed = _HASHED.fullmatch(lines[0]) if len(lines) == 1 else None
    if hashed is None:
        return Expected(tuple(lines), len(lines))
    return Expected(None, int(hashed[1]), hashed[2])
