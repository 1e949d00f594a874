"""Runs the questions of a file in sessions of this process, many in each, and judges the answers.

A query sees the rows that come after it was registered: so a group of queries is registered, the
rows of all tables are pushed, the streams end, and every result is compared.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import pyarrow as pa

import windrow
from sqllogic.duckdb_twin import DuckdbTwin, differing_rules, same_rows
from sqllogic.records import Corpus, Query
from sqllogic.rendering import is_expected, rendered
from sqllogic.tables import Table, read_tables
from sqllogic.translation import TIME, our_text
from windrow.embedded import EmbeddedQuery, EmbeddedSession
from windrow.errors import WindrowError

__all__ = ["Outcome", "Verdict", "run_corpus"]

Verdict = Literal["agreed", "agreed with DuckDB", "refused", "wrong", "error"]
GROUP = 50
_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Outcome:
    """What became of a question. reason: the rule, the code of the refusal, or the problem."""

    query: Query
    verdict: Verdict
    reason: str = ""
    detail: str = ""


def run_corpus(
    corpus: Corpus, queries: Sequence[Query] | None = None, group: int = GROUP
) -> Iterator[Outcome]:
    """The outcome of every question of the file, or of some of them, in their order."""
    tables = read_tables(corpus.statements)
    asked = corpus.queries if queries is None else queries
    twin = DuckdbTwin(tables)
    try:
        for start in range(0, len(asked), group):
            yield from _Group(tables, twin, asked[start : start + group]).outcomes()
    finally:
        twin.close()


class _Group:
    """Questions that share a session."""

    def __init__(
        self, tables: Mapping[str, Table], twin: DuckdbTwin, queries: Sequence[Query]
    ) -> None:
        self._tables, self._twin, self._queries = tables, twin, queries

    def outcomes(self) -> Iterator[Outcome]:
        session = _session(self._tables)
        registered = [_registered(session, query, self._tables) for query in self._queries]
        try:
            _push(session, self._tables)
            session.finish()
        except Exception as problem:
            session.stop()
            yield from self._alone(problem)
            return
        for query, found in zip(self._queries, registered, strict=True):
            yield found if isinstance(found, Outcome) else self._judged(query, found)
        session.stop()

    def _alone(self, problem: Exception) -> Iterator[Outcome]:
        """Each in a session of its own, as one has broken what all shared."""
        if len(self._queries) == 1:
            yield _failed(self._queries[0], problem)
            return
        for query in self._queries:
            yield from _Group(self._tables, self._twin, [query]).outcomes()

    def _judged(self, query: Query, running: EmbeddedQuery) -> Outcome:
        try:
            rows = _rows(running.result())
        except Exception as problem:
            return _failed(query, problem)
        if is_expected(rows, query):
            return Outcome(query, "agreed")
        try:
            others = self._twin.rows(query.sql)
        except Exception as problem:
            return Outcome(query, "wrong", "DuckDB fails", f"{problem}\nours: {rows[:20]}")
        rule = differing_rules(query.sql)
        if rule and same_rows(rows, others):
            return Outcome(query, "agreed with DuckDB", rule)
        reason = "as DuckDB, by no known rule" if same_rows(rows, others) else ""
        return Outcome(query, "wrong", reason, _difference(query, rows, others))


def _session(tables: Mapping[str, Table]) -> EmbeddedSession:
    session = windrow.connect(memory="2 GB")
    for table in tables.values():
        session.stream(table.name, {**table.columns, TIME: "timestamp"}, time=TIME)
    return session


def _registered(
    session: EmbeddedSession, query: Query, tables: Mapping[str, Table]
) -> EmbeddedQuery | Outcome:
    try:
        # Every other question is asked of windows, which other operators join.
        text = our_text(query.sql, tables, with_windows=query.line % 2 == 1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "query .* keeps every row", RuntimeWarning)
            return session.query(f"{text} ON ERROR NULL")  # as SQLite has it
    except WindrowError as problem:
        return Outcome(query, "refused", problem.code, str(problem))
    except Exception as problem:
        return _failed(query, problem)


def _push(session: EmbeddedSession, tables: Mapping[str, Table]) -> None:
    for table in tables.values():
        times = [_BEGIN + timedelta(seconds=number) for number in table.numbers]
        column = pa.array(times, pa.timestamp("us", tz="UTC"))
        session.push(table.name, table.arrow.append_column(TIME, column))


def _rows(result: pa.Table) -> list[tuple[Any, ...]]:
    columns = [column.to_pylist() for column in result.columns]
    return list(zip(*columns, strict=True))


def _failed(query: Query, problem: Exception) -> Outcome:
    if isinstance(problem, WindrowError):
        return Outcome(query, "error", problem.code, str(problem))
    frame = problem.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}" if frame else ""
    return Outcome(query, "error", type(problem).__name__, f"{problem} at {where}")


def _difference(query: Query, rows: Sequence[Any], others: Sequence[Any]) -> str:
    expected = query.expected
    wanted = expected.values if expected.values is not None else f"{expected.count} values"
    shown = rendered(rows, query.types, query.sort)
    return f"ours: {shown[:20]} ({len(shown)})\nfile: {wanted}\nDuckDB: {others[:10]}"
