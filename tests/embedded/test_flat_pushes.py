"""A push costs the same after thousands of others, whoever reads: work is counted, not time."""

from __future__ import annotations

import gc
import sys
from types import FrameType

import pyarrow as pa
import pytest

import windrow
from windrow.embedded import EmbeddedQuery, EmbeddedSession
from windrow.rows import gathered_batches

SCHEMA = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.int64())])
WINDOW = "[20 MILLISECONDS]"
JOIN = f"FROM a {WINDOW}, b {WINDOW} WHERE a.k = b.k"
QUERIES = {
    "whole": f"SELECT COUNT(*) AS n, SUM(a.x) AS s {JOIN}",
    "groups": f"SELECT k, COUNT(*) AS n FROM a {WINDOW} GROUP BY k",
    "extremes": f"SELECT a.k, MAX(a.x) AS m {JOIN} GROUP BY a.k",
    "rows": f"SELECT k, x FROM a {WINDOW}",
}
READERS = ("nobody", "answers and changes", "result", "rarely")
WARM, PART, BETWEEN = 64, 64, 448  # pushes of each stream; what is joined in tiers is joined often


class Work:
    """Counts every call of a function, of Python or of C, and every step of a generator."""

    def __init__(self) -> None:
        self.calls = 0

    def __enter__(self) -> Work:
        gc.disable()  # what it would collect is not part of a push
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        gc.enable()

    def _note(self, _frame: FrameType, event: str, _argument: object) -> None:
        self.calls += event in ("call", "c_call")


def pushed(session: EmbeddedSession, number: int) -> None:
    """One row of each stream, a millisecond after the ones before."""
    arrays = [pa.array([number * 1_000]).cast(SCHEMA[0].type), [number % 7], [number % 11]]
    for name in "ab":
        session.push(name, pa.record_batch(arrays, schema=SCHEMA))


def read(query: EmbeddedQuery, reader: str, number: int) -> None:
    if reader == "rarely" and number % 100 == 0:
        query.changes()
    for method in ("answers", "changes", "result"):
        if method in reader:
            getattr(query, method)()


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_push_is_as_much_work_as_thousands_before(
    reader: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathered_batches, "GATHERED_BATCHES", 1)  # each is taken by itself
    session = windrow.connect(memory="64 MB")
    for name in "ab":
        session.stream(name, SCHEMA, time="ts")
    queries = [session.query(text, name=name) for name, text in QUERIES.items()]
    assert all(isinstance(query, EmbeddedQuery) for query in queries)
    spent = []
    for first in (WARM, WARM + PART + BETWEEN):
        for number in range(first - (BETWEEN if spent else WARM), first):
            pushed(session, number)
            read_all(queries, reader, number)
        with Work() as work:
            for number in range(first, first + PART):
                pushed(session, number)
                read_all(queries, reader, number)
        spent.append(work.calls / PART)
    assert spent[1] <= 1.1 * spent[0], spent
    assert parts_held(session, queries) < 100, "what is unread lies in few parts"


def read_all(queries: list[EmbeddedQuery], reader: str, number: int) -> None:
    for query in queries:
        read(query, reader, number)


def parts_held(session: EmbeddedSession, queries: list[EmbeddedQuery]) -> int:
    """The longest list of anything that the session or a query holds."""
    found, todo, longest = set[int](), [session._ingest, *queries], 0
    while todo:
        each = todo.pop()
        if id(each) in found:
            continue
        found.add(id(each))
        if isinstance(each, list):
            longest = max(longest, len(each))
        if isinstance(each, (list, tuple)):
            todo += each
        elif isinstance(each, dict):
            todo += each.values()
        elif type(each).__module__.startswith("windrow.") and hasattr(each, "__dict__"):
            todo += vars(each).values()
    return longest
