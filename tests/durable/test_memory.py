"""The memory of a durable session: changed while it runs, and when it is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

import windrow
from windrow.errors import AdmissionError


def test_it_is_opened_with_another_memory(tmp_path: Path) -> None:
    session = windrow.connect(path=tmp_path, memory="4 MB")
    session.memory = "8 MB"
    session.stop()
    session = windrow.connect(path=tmp_path)
    assert session.memory == 8 << 20
    session.stop()
    session = windrow.connect(path=tmp_path, memory="2 MB")
    assert session.memory == 2 << 20
    session.stop()
    session = windrow.connect(path=tmp_path)
    assert session.memory == 2 << 20
    session.stop()


def test_a_memory_that_is_too_small_to_open_with_changes_nothing(tmp_path: Path) -> None:
    session = windrow.connect(path=tmp_path, memory="4 MB")
    session.stream("s", "ts timestamp, x int", time="ts")
    session.query("SELECT x FROM s [1 HOUR]", name="all")
    rows = [{"ts": f"2026-01-01 00:{i // 60:02}:{i % 60:02}", "x": i} for i in range(3_000)]
    session.push("s", rows)
    session["all"].answers()
    session.stop()
    with pytest.raises(AdmissionError, match="WA103"):
        windrow.connect(path=tmp_path, memory="8 KB")
    session = windrow.connect(path=tmp_path)  # the refused one is closed
    assert session.memory == 4 << 20
    session.finish()
    assert len(session["all"].result()) == 3_000
    session.stop()
