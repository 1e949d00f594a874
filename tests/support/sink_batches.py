"""What a query gives to its sink, batch by batch, and runs of a sink's writer that break off."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pyarrow as pa
import pytest

import windrow
from windrow.connectors.contract import Sink
from windrow.connectors.process_run import ProcessRun

Batches = list[dict[str, pa.Table]]

QUERY = "SELECT k, COUNT(*) AS n, SUM(x) AS x FROM s [10 SECONDS] GROUP BY k"


class BrokenError(BaseException):
    """What a call raises, which is nobody's error."""


def query_batches(seed: int, count: int, text: str = QUERY) -> tuple[Batches, Any]:
    """Batches of a generated stream, and the plan of the query; some batches change nothing."""
    numbers = random.Random(seed)
    session = windrow.connect(clock="arrival")
    session.stream("s", "ts timestamp, k string, x double", time="ts")
    query = session.query(text)
    at_us, given = 1_767_225_600_000_000, []
    for _ in range(count):
        rows = []
        for _ in range(numbers.choice([0, 1, 1, 3, 8])):
            at_us += numbers.choice([0, 0, 1, 900_000, 4_000_000])
            key = numbers.choice(["a", "b", "", 'q"uote', None])
            value = numbers.choice([1.0, -2.5, None, float("nan"), float("inf")])
            rows.append({"ts": at_us, "k": key, "x": value})
        if rows:
            session.push("s", rows)
        elif numbers.random() < 0.3:
            at_us += 20_000_000
            session.advance("s", to=at_us)
        tables = {"answers": query.answers(), "changes": query.changes()}
        given.append({**tables, "result": query.result()})
    plan = query.plan
    session.stop()
    return given, getattr(plan, "published", plan)


def run_of(plan: Any, batches: int | None, state: str = "state") -> ProcessRun:
    return ProcessRun("q", plan, batches, state)


def written(sink: Sink, plan: Any, batches: Iterable[Mapping[str, pa.Table]]) -> None:
    """A run to the end."""
    writer = sink.open_in_process(run_of(plan, None))
    number = 0
    for tables in batches:
        if tables[writer.feeds[0]].num_rows:
            writer.write({feed: tables[feed] for feed in writer.feeds}, number)
            number += 1
    writer.close()


class Fault:
    """Raises at one of the calls of some functions, before or after what it does."""

    def __init__(self, at: int, error: BaseException, *, is_after: bool) -> None:
        self.at, self.error, self.is_after = at, error, is_after
        self.calls = 0
        self.has_come = False

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any, **named: Any) -> Any:
            self.calls += 1
            is_now = self.calls == self.at
            self.has_come |= is_now
            if is_now and not self.is_after:
                raise self.error
            found = function(*given, **named)
            if is_now:
                del found  # with it a cursor, which would keep a file locked
                raise self.error
            return found

        return called


def written_with(
    fault: Fault,
    sink: Sink,
    plan: Any,
    batches: Batches,
    patched: Callable[[pytest.MonkeyPatch, Fault], None],
) -> None:
    """A run that breaks off, and one that goes on from what its state then knows."""
    known: int | None = None
    with pytest.MonkeyPatch.context() as monkeypatch:
        patched(monkeypatch, fault)
        for _ in range(2):
            try:
                known = _gone_on(sink, plan, batches, known, lambda count: noted.append(count))
                return
            except BaseException as problem:
                chain = (problem, problem.__cause__, problem.__context__)
                if not any(each is fault.error for each in chain):
                    raise
                known = noted[-1] if noted else known
    raise AssertionError("it broke off twice")


noted: list[int] = []


def _gone_on(
    sink: Sink, plan: Any, batches: Batches, known: int | None, note: Callable[[int], None]
) -> int:
    if known is None:
        noted.clear()
    writer = sink.open_in_process(run_of(plan, known))
    number = 0
    note(known or 0)
    for tables in batches:
        if not tables[writer.feeds[0]].num_rows:
            continue
        if number >= (known or 0):
            writer.write({feed: tables[feed] for feed in writer.feeds}, number)
            note(number + 1)
        number += 1
    writer.close()
    return number
