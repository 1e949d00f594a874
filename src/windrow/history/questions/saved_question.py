"""A continuous question as a header and tables: where it stands, and what nobody has read of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from windrow.backlog import Backlog, joined_rows
from windrow.history.answers.answer import Interval
from windrow.history.answers.merge import partial_of_table, table_of_partial
from windrow.history.questions.continuous import ContinuousQuestion
from windrow.history.questions.feed import HistoryFeed, rows_of_table
from windrow.history.questions.lookup import Forgotten, LookedUp

__all__ = ["load_question", "save_question"]

_COUNTS = ("rows_lost", "changes_netted")
_DUE = ("at", "first", "rows")


def save_question(question: ContinuousQuestion) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """A question whose history is saved beside it."""
    edge_us, looked = question.growth.folded
    header, tables = _saved_feed(question.feed)
    header |= {
        "edge_us": edge_us,
        "inside": _pair(looked.inside),
        "outside": _pair(looked.outside),
        "clock_us": question.clock,
        "rows_shown": question.rows_shown,
        "has_begun": question.has_begun,
    }
    tables["looked"] = table_of_partial(looked.answer)
    if looked.forgotten is not None:
        tables["forgotten"] = table_of_partial(looked.forgotten.answer)
    return header, tables


def load_question(
    question: ContinuousQuestion, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> None:
    """Back into a question that was begun again, on a history that is loaded."""
    spec = question.operator.history.spec
    forgotten = None
    if "forgotten" in tables:
        forgotten = Forgotten(partial_of_table(spec, tables["forgotten"]))
    looked = LookedUp(
        partial_of_table(spec, tables["looked"]),
        _interval(header["inside"]),
        _interval(header["outside"]),
        forgotten,
    )
    question.growth.resume(header["edge_us"], looked)
    _load_feed(question.feed, header, tables)
    where = header["clock_us"], header["rows_shown"]
    question.resume(*where, has_begun=header["has_begun"])


def _saved_feed(feed: HistoryFeed) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    due = np.concatenate([np.empty((0, 3), np.int64), *feed._due.since(feed._first_due)])
    first = int(due[0, 1]) if due.size else feed._answer_rows.end
    if feed._run is not None:
        first = min(first, feed._run[0])
    header = {
        **{name: getattr(feed, name) for name in _COUNTS},
        "run": None if feed._run is None else [feed._run[0] - first, feed._run[1]],
        "is_told": bool(feed._shown) or not feed.result.num_rows,
    }
    places = (due[:, 0], due[:, 1] - first, due[:, 2])
    none = feed._changes_table(0, Counter(), Counter())
    tables = {
        "result": feed.result,
        "answer": feed.answer_now,
        "rows": pa.concat_tables([feed._empty_answer(), *feed._answer_rows.since(first)]),
        "due": pa.table(dict(zip(_DUE, places, strict=True))),
        "changes": pa.concat_tables([none, *feed._changes.parts]),
    }
    if feed._cut is not None:
        tables["cut"] = feed._cut
    return header, tables


def _load_feed(
    feed: HistoryFeed, header: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> None:
    feed.resume(tables["result"], tables["answer"], is_told=header["is_told"])
    for name in _COUNTS:
        setattr(feed, name, header[name])
    feed._answer_rows = _backlog(tables["rows"])
    due = np.stack([np.array(tables["due"].column(name), np.int64) for name in _DUE], axis=1)
    feed._due = Backlog(np.concatenate)
    feed._due.append(due)
    feed._rows_due = int(due[:, 2].sum())
    feed._run = None if header["run"] is None else tuple(header["run"])
    feed._changes, feed._cut = _backlog(tables["changes"]), tables.get("cut")
    # What is read and what waits make up what is shown.
    read = Counter(feed._shown)
    weights = tables["changes"].column("change").to_pylist()
    rows = rows_of_table(tables["changes"].select(feed.result.column_names))
    for row, weight in zip(rows, weights, strict=True):
        read[row] -= weight
    feed._read = +read


def _backlog(table: pa.Table) -> Backlog[pa.Table]:
    made: Backlog[pa.Table] = Backlog(joined_rows)
    made.append(table)
    return made


def _pair(interval: Interval | None) -> list[int] | None:
    return None if interval is None else [interval.since_us, interval.until_us]


def _interval(pair: list[int] | None) -> Interval | None:
    return None if pair is None else Interval(*pair)
