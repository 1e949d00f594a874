"""What is watched: the building that has no end, scripts at a pace, and what cannot be."""

from __future__ import annotations

import sys
import time
from itertools import islice
from pathlib import Path

import pytest

from support.building_files import write_job
from support.small_registry import small_registry
from windrow.apps.console.embedded_job import EmbeddedJob
from windrow.apps.console.paced_files import pieces_by_time
from windrow.apps.demo.building import LATENESS
from windrow.apps.demo.endless_building import endless_building
from windrow.apps.demo.live_building import QUERIES, LiveBuilding
from windrow.apps.terminal.extras import console_module
from windrow.errors import BindingError, UnsupportedError
from windrow.event_time import span_of
from windrow.jobs.job import job_of


def test_the_building_has_no_end_and_no_reading_is_late() -> None:
    newest: dict[str, int] = {}
    last_us = 0
    for piece in islice(
        endless_building(1), 1_500
    ):  # an hour has 1,440: the third building has begun
        assert piece.until_us is not None
        assert piece.until_us > last_us
        last_us = piece.until_us
        for stream, rows in piece.rows.items():
            for moment in rows["ts"].cast("int64").to_pylist():
                assert moment > newest.get(stream, 0) - span_of(LATENESS)
                newest[stream] = max(newest.get(stream, 0), moment)


def test_the_building_is_watched() -> None:
    scene = LiveBuilding(pace=10_000.0)
    registry = scene.registry
    scene.start()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not all(each.answers for each in registry.queries()):
        registry.collect()
        time.sleep(0.05)
    scene.close()
    assert {each.name for each in registry.queries() if each.answers} == set(QUERIES)
    assert {each.kind for each in registry.queries()} == {"aggregate", "select", "history"}
    assert registry.problem is None


def test_a_script_gives_the_same_at_a_pace_and_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(write_job(tmp_path).read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    results = []
    for pace in (None, 5_000.0):
        scene = EmbeddedJob(job, "a job", pace=pace)
        scene.start()
        scene._player._thread.join(60)
        scene.registry.collect()
        assert scene.registry.problem is None
        results.append(
            {
                each.name: each.ring("changes").read(0, 10**6).table
                for each in scene.registry.queries()
            }
        )
        scene.close()
    at_once, paced = results
    assert at_once["alarms"].num_rows > 0
    assert {name: table.to_pylist() for name, table in at_once.items()} == {
        name: table.to_pylist() for name, table in paced.items()
    }


def test_pieces_are_in_the_order_of_time_and_have_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = job_of(write_job(tmp_path).read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    pieces = list(pieces_by_time(job.sources(), 10_000_000))
    until = [piece.until_us or 0 for piece in pieces]
    assert until == sorted(until)
    assert sum(rows.num_rows for piece in pieces for rows in piece.rows.values()) == 400


def test_without_the_web_framework_it_is_said_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "windrow.apps.console.server", raising=False)
    with pytest.raises(UnsupportedError, match=r"WU601.*uvicorn"):
        console_module("windrow.apps.console.server")


def test_a_stream_without_history_cannot_be_drawn() -> None:
    with pytest.raises(BindingError, match="WB327"):
        small_registry(rows=0).runner.session.past.tree("smoke", [])
