"""What differs between two plans is named."""

from __future__ import annotations

import pytest

from support.streams import plan_of
from windrow.plan.differences import plan_differences
from windrow.plan.fingerprint import fingerprint

BEFORE = plan_of("SELECT x.k, COUNT(*) AS n FROM a [1 MINUTE] AS x WHERE x.s = 'on' GROUP BY x.k")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "SELECT a.k, COUNT(*) AS n FROM a [30 SECONDS] WHERE s = 'on' GROUP BY a.k",
            ["window of input a: [1 minute], now [30 seconds]"],
        ),
        (
            "SELECT a.k, COUNT(*) AS n FROM a [1 MINUTE] WHERE s = 'off' GROUP BY a.k",
            ["condition on input a: a.s = 'on', now a.s = 'off'"],
        ),
        (
            "SELECT k, COUNT(*) AS n FROM a [1 MINUTE] WHERE s = 'on' GROUP BY k EVERY (2 SECONDS)",
            ["EVERY: none, now 2 seconds"],
        ),
        (
            "SELECT k, COUNT(*) AS m FROM a [1 MINUTE] WHERE s = 'on' GROUP BY k",
            [
                "column n: COUNT(*) (BIGINT), now none",
                "columns: k, n, now k, m",
                "column m: none, now COUNT(*) (BIGINT)",
            ],
        ),
    ],
)
def test_what_differs_is_named(text: str, lines: list[str]) -> None:
    assert plan_differences(BEFORE, plan_of(text)) == lines


def test_spelling_makes_no_difference() -> None:
    same = plan_of("SELECT k, COUNT(*) AS n FROM a [60 SECONDS] WHERE s = 'on' GROUP BY k")
    assert fingerprint(same) == fingerprint(BEFORE)
    assert plan_differences(BEFORE, same) == []
