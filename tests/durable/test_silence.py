"""A building falls silent, and so does the process for a while: its alarms are cleared still."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import windrow
from windrow.embedded.alert import Alert

HOT = """SELECT room, MAX(c) AS top FROM temp [1 SECOND] GROUP BY room
    WHEN top > 40"""
PATIENCE_S = 30


@pytest.mark.parametrize("clock", ["complete", "arrival"])
@pytest.mark.parametrize("is_saved", [False, True])
def test_alarms_are_cleared_through_a_restart(tmp_path: Path, clock: str, is_saved: bool) -> None:
    def opened() -> tuple[windrow.EmbeddedSession, Alert]:
        session = windrow.connect(path=tmp_path, clock=clock)
        columns = "ts timestamp, room string, c double"
        session.stream("temp", columns, time="ts", idle_after="100 milliseconds")
        return session, session.create_alert("hot", HOT)

    session, alert = opened()
    session.push("temp", {"ts": datetime.now(UTC), "room": "lab", "c": 44.0})
    assert _told(session, alert) == ["raised"]
    if is_saved:
        assert session.save()  # type: ignore[attr-defined]
    session.stop()
    session, alert = opened()
    assert _told(session, alert) == ["cleared"]
    assert session.alerts().num_rows == 0
    session.stop()


def _told(session: windrow.EmbeddedSession, alert: Alert) -> list[str]:
    """The next events, while nothing but time comes."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        session.heartbeat()
        events: list[str] = alert.events()["state"].to_pylist()
        if events:
            return events
        time.sleep(0.02)
    return []
