"""What is told of a query's batches, and by whom it is heard."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark.worker.test_shard_step import JOIN, plan_of
from windrow.spark.monitoring.batch_listener import BatchListener
from windrow.spark.monitoring.history_progress import history_progress
from windrow.spark.monitoring.progress import progress_of
from windrow.spark.monitoring.run_meter import RunMeter
from windrow.spark.monitoring.session_metrics import SessionMetrics
from windrow.spark.monitoring.status import QueryStatus

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"


def test_the_page_lists_every_key() -> None:
    shown = progress_of("q", QueryStatus.new(plan_of(JOIN)), False, None)
    assert keys_of("## query.progress()") == list(shown)
    assert shown["lag_s"] is None


def test_the_page_lists_every_key_of_a_history() -> None:
    run: Any = SimpleNamespace(last_progress=None, meter=RunMeter(), restarts=0)
    shown = history_progress("HISTORY(h)", True, run, [])
    assert keys_of("## session.progress()") == list(shown)


def keys_of(heading: str) -> list[str]:
    """The first column of the table below a heading; a line may list several."""
    table = PAGE.read_text(encoding="utf-8").split(heading)[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", table, re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


class History:
    operator = "@h"


@pytest.mark.parametrize(
    ("operator", "shown"),
    [("q", ["q"]), ("bundle-0123456789ab", ["a", "b"]), ("@h", ["HISTORY(h)"])],
)
def test_a_session_hears_of_its_own_under_their_names(operator: str, shown: list[str]) -> None:
    spark: Any = None
    query: Any = None
    members = {"bundle-0123456789ab": ["a", "b"]}
    histories: Any = {"HISTORY(h)": History()}
    heard = (lambda name: members.get(name, []), lambda: histories)
    sessions = [
        SessionMetrics(spark, {"q": query}, 1, mark, *heard) for mark in ("00000001", "00000002")
    ]
    for session in sessions:
        for given in (f"windrow {operator} 00000002abcdefab", "windrow q", "mine", None):
            event: Any = SimpleNamespace(name=given, runId=given)
            session.listener.onQueryStarted(event)
    assert sessions[0].listener.samples() == []
    assert [each.labels for each in sessions[1].listener.samples()] == [(name,) for name in shown]


def test_an_operator_is_called_by_the_queries_that_run_in_it_now() -> None:
    members = ["a", "b"]
    listener = BatchListener(lambda _name, _run: tuple(members), lambda _name, _batch: 3)
    started: Any = SimpleNamespace(name="windrow bundle-0 1", runId="r")
    listener.onQueryStarted(started)
    progress: Any = SimpleNamespace(
        runId="r", batchId=0, timestamp="2026-01-01T00:00:00Z", numInputRows=9, stateOperators=[],
        durationMs={"addBatch": 5, "triggerExecution": 7},
    )  # fmt: skip
    event: Any = SimpleNamespace(progress=progress)
    listener.onQueryProgress(event)
    members.remove("a")
    listener.onQueryProgress(event)
    members.clear()
    listener.onQueryProgress(event)
    assert listener.batches()["query"].to_pylist() == ["a, b", "b", "b"]
    rows = {
        each.labels: each.value
        for each in listener.samples()
        if each.name == "windrow_batch_rows_total"
    }
    assert rows == {("a",): 3, ("b",): 9}
    ended: Any = SimpleNamespace(runId="r", exception=None)
    listener.onQueryTerminated(ended)
    ends = [each for each in listener.samples() if each.name == "windrow_query_ends_total"]
    assert [each.labels for each in ends] == [("b", "stopped")]
