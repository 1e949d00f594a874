"""Every form of question about the past, and the runners that keep a history to ask.

Pure shards keep none. On Spark all are asked of one history, in test_spark_forms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from support.form_runners import whole_model
from support.history_truth import MEASURES, Question, check
from support.query_forms import PUSHES
from support.sessions import give, session_of
from support.spark.history_buckets import Buckets
from support.streams import SECOND_US, STREAMS, batch_of

__all__ = ["ASKED_RUNNERS", "HISTORY", "QUESTIONS", "assert_answered"]

START_US = 1_700_000_000 * SECOND_US
HISTORY: Mapping[str, Any] = {
    "measures": MEASURES,
    "by": ("s", "o"),
    "levels": [("1 second", "5 seconds"), ("5 seconds", "forever")],
}


def _question(items: str, groups: str = "", where: str | None = None, **more: Any) -> Question:
    """Counts and other items, separated by semicolons, by default of all there is."""
    parts = {"since_us": START_US - 60 * SECOND_US, "until_us": None, **more}
    listed = tuple(filter(None, items.split("; ")))
    return Question(("COUNT(*)", *listed), tuple(filter(None, [groups])), where, **parts)


def _within(since_s: float, until_s: float) -> dict[str, int]:
    return {
        "since_us": START_US + round(since_s * SECOND_US),
        "until_us": START_US + round(until_s * SECOND_US),
    }


QUESTIONS = {
    "total": _question("SUM(k); SUM(p); COUNT(d)"),
    "means": _question("AVG(k); AVG(p); AVG(l)"),
    "extremes": _question("MIN(d); MAX(d); MIN(l); MAX(f)"),
    "variances": _question("VAR_POP(k); STDDEV(k)"),
    "around-aggregates": _question("SUM(k) * 2 - COUNT(*); COALESCE(SUM(k), 0); ROUND(AVG(k), 1)"),
    "by-key": _question("SUM(k)", "s"),
    "by-expression": _question("MAX(k)", "LENGTH(s)"),
    "having": _question("SUM(k)", "s", having="COUNT(*) > 3"),
    "filtered": _question("SUM(p)", where="NOT o"),
    "filtered-groups": _question("AVG(k)", "o", where="s IS NULL OR s > 'x'"),
    "whole-nodes": _question("SUM(k); MAX(d)", **_within(5, 15)),
    "parts-of-nodes": _question("SUM(k); MAX(d)", "s", **_within(3.25, 17.5)),
    "coarse": _question("SUM(k)", at="5 SECONDS", **_within(2, 20)),
    "before-all": _question("SUM(k)", **_within(-30, -20)),
}  # fmt: skip


def in_process(question: Question, *, row_by_row: bool = False) -> pa.Table:
    """A history of a session, given batches or one row after the other."""
    session = session_of()
    session.history("a", **HISTORY)
    for push in PUSHES:
        give(session, push, "one by one" if row_by_row else "batch")
    session.finish()
    return session.ask(question.of_history)


def in_buckets(question: Question) -> pa.Table:
    """Spark's packers and buckets without Spark; taken up from the state in the middle."""
    buckets = Buckets(STREAMS["a"], 3, **HISTORY)
    for number, push in enumerate(each for each in PUSHES if each.stream == "a"):
        buckets.push(batch_of("a", push.rows))
        if number == 6:
            buckets.restart()
    buckets.finish()
    return buckets.ask(question.of_history)


ASKED_RUNNERS: dict[str, Callable[[Question], pa.Table]] = {
    "in process": in_process,
    "row by row": lambda question: in_process(question, row_by_row=True),
    "buckets": in_buckets,
}


def assert_answered(question: Question, table: pa.Table) -> None:
    """What is exact is what DuckDB says, and bounds hold what it says."""
    stream = whole_model().streams["a"]
    until_us = stream.newest + 1 if question.until_us is None else question.until_us
    check(table, question, until_us, stream.rows(), forgets=False)
    assert table.num_rows, "no answer shows nothing"
    is_whole = question.at is None and question.since_us % (5 * SECOND_US) == 0
    if is_whole:
        assert all(table["exact"].to_pylist())
