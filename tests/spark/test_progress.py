"""The table of progress() in the docs has the keys that it has."""

from __future__ import annotations

import re
from pathlib import Path

from spark.test_shard_step import JOIN, plan_of
from windrow.spark.operations.progress import progress_of
from windrow.spark.operations.status import QueryStatus

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


def test_the_page_lists_every_key() -> None:
    table = PAGE.read_text(encoding="utf-8").split("## query.progress()")[1]
    listed = re.findall(r"^\| `(\w+)` \|", table, re.M)
    shown = progress_of("q", QueryStatus.new(plan_of(JOIN)), False, None)
    assert listed == list(shown)
    assert shown["lag_s"] is None
