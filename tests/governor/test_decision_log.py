"""The log of decisions as a table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from windrow.governor.decide import decide
from windrow.governor.decision_log import (
    DECISIONS_LIMIT,
    LOG_SCHEMA,
    DecisionLog,
    DecisionRecord,
    record_of,
)
from windrow.governor.tables import SECOND_US, Decision, Demand, WindowState

WINDOWS = [WindowState("s", 1.0, SECOND_US, width_us=70), WindowState("t", 1.0, SECOND_US)]
DEMANDS = [Demand("q", "s", 60, delay_us=30), Demand("r", "s", 50)]


def test_a_decision_has_a_row_for_each_window() -> None:
    decision = decide(WINDOWS, DEMANDS, budget=100, at_us=5)
    more = [*DEMANDS, Demand("p", "t", 60, delay_us=20), Demand("o", "t", 55)]
    tight = decide(WINDOWS, more, budget=116, at_us=6)
    assert isinstance(decision, Decision)
    assert isinstance(tight, Decision)
    log = DecisionLog()
    log.add(record_of(5, "q starts", decision, WINDOWS))
    log.add(record_of(6, "p starts", tight, WINDOWS))
    table = log.table()
    assert table.schema == LOG_SCHEMA
    rows = table.to_pylist()
    assert [(row["why"], row["case"], row["window"]) for row in rows] == [
        ("q starts", "A", "s"),
        ("q starts", "A", "t"),
        ("p starts", "C", "s"),
        ("p starts", "C", "t"),
    ]
    assert rows[0] == {
        "at": datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=5),
        "why": "q starts", "case": "A", "solver": "proportional", "bytes": 100, "least": 60,
        "bound": 60, "gap": 0.0, "window": "s", "width_before": timedelta(microseconds=70),
        "width_after": timedelta(microseconds=100), "turn_period": None, "turn_growth": None,
    }  # fmt: skip
    assert rows[3]["width_before"] == timedelta(0)
    turn = tight.of("t").turn
    assert turn is not None
    assert rows[3]["turn_period"] == timedelta(microseconds=turn.period_us)
    assert rows[3]["turn_growth"] == timedelta(microseconds=turn.growth_us)


def test_a_log_forgets_the_oldest() -> None:
    log = DecisionLog(limit=3)
    for at_us in range(5):
        log.add(DecisionRecord(at_us, "", "A", "proportional", 1, 1, 1, 0.0, ()))
    assert [each.at_us for each in log] == [2, 3, 4]
    assert len(log) == 3
    assert log.table().num_rows == 0
    assert DECISIONS_LIMIT > 100


def test_a_log_of_nothing_is_refused() -> None:
    with pytest.raises(AssertionError, match="0 decisions"):
        DecisionLog(limit=0)
