"""What is told of a query's batches, and by whom it is heard."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spark.worker.test_shard_step import JOIN, plan_of
from windrow.spark.monitoring.progress import progress_of
from windrow.spark.monitoring.session_metrics import SessionMetrics
from windrow.spark.monitoring.status import QueryStatus

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"


def test_the_page_lists_every_key() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## query.progress()")[1]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.M)
    shown = progress_of("q", QueryStatus.new(plan_of(JOIN)), False, None)
    assert listed == list(shown)
    assert shown["lag_s"] is None


@pytest.mark.parametrize("name", ["q", "bundle-0123456789ab"])
def test_a_session_hears_of_its_own_queries_only(name: str) -> None:
    spark: Any = None
    query: Any = None
    sessions = [SessionMetrics(spark, {"q": query}, 1, mark) for mark in ("00000001", "00000002")]
    for session in sessions:
        for given in (f"windrow {name} 00000002abcdefab", "windrow q", "mine", None):
            event: Any = SimpleNamespace(name=given, runId=given)
            session.listener.onQueryStarted(event)
    assert [len(session.listener.samples()) for session in sessions] == [0, 1]
