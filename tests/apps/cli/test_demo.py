"""The smart building: its truth, its verdict, and the command that shows it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from support.command_line import environment, events, windrow
from windrow.apps.demo.alarms import Alarm, AlarmBoard, judge
from windrow.apps.demo.building import MINUTE_US, SCHEMAS, START_US, Building, building
from windrow.apps.demo.runners import EmbeddedRunner

INTERRUPTED = 130
CHANGES = pa.schema(
    [("at", pa.int64()), ("change", pa.int8()), ("location", pa.string()), ("n", pa.int64())]
)


def rows_of(scene: Building, stream: str) -> pa.Table:
    return pa.concat_tables([each.rows[stream] for each in scene.slices])


def alarms_by_hand(scene: Building) -> list[tuple[str, int]]:
    """(room, first instant with more than five pairs), from all readings, without Windrow."""
    found = []
    above: dict[str, dict[str, list[int]]] = {room: {} for room in scene.rooms}
    for stream, column, least in (("temp", "celsius", 39.99), ("smoke", "strength", 0.6)):
        rows = rows_of(scene, stream)
        columns = rows["location"], rows["ts"].cast(pa.int64()), rows[column]
        for room, at, value in zip(*(each.to_pylist() for each in columns), strict=True):
            if value > least:
                above[room].setdefault(stream, []).append(at)
    for room, times in above.items():
        if len(times) < len(SCHEMAS):
            continue
        for at in sorted(times["temp"] + times["smoke"]):
            window = [
                sum(at - 10 * MINUTE_US <= each <= at for each in times[stream])
                for stream in ("temp", "smoke")
            ]
            if window[0] * window[1] > 5:
                found.append((room, at))
                break
    return sorted(found, key=lambda alarm: alarm[1])


def test_the_same_seed_gives_the_same_building() -> None:
    assert building(3) == building(3)
    assert building(3).fires != building(4).fires


def test_readings_are_complete_and_a_little_out_of_order() -> None:
    scene = building(1)
    for stream, schema in SCHEMAS.items():
        rows = rows_of(scene, stream)
        assert rows.schema == schema
        assert rows.num_rows == len(scene.rooms) * 360
        times = rows["ts"].cast(pa.int64()).to_pylist()
        newest, behind = times[0], 0
        for each in times:
            newest, behind = max(newest, each), max(behind, newest - each)
        assert 0 < behind <= 5_000_000


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_alarms_are_the_fires_for_any_seed(seed: int) -> None:
    scene = building(seed)
    runner, board = EmbeddedRunner(), AlarmBoard()
    for readings in scene.slices:
        runner.send(readings)
        board.apply(runner.changes())
    runner.finish()
    board.apply(runner.changes())
    assert [(alarm.room, alarm.raised_us) for alarm in board.alarms] == alarms_by_hand(scene)
    assert judge(scene.fires, board.alarms).is_right


def fires_and_alarms() -> tuple[Building, list[Alarm]]:
    scene = building(1)
    return scene, [
        Alarm(fire.room, fire.ignited_us + 30_000_000, 6, fire.out_us + 10 * MINUTE_US)
        for fire in scene.fires
    ]


def test_the_verdict_sees_a_fire_not_found() -> None:
    scene, alarms = fires_and_alarms()
    assert judge(scene.fires, alarms).is_right
    verdict = judge(scene.fires, alarms[1:])
    assert (verdict.found, verdict.false_alarms, verdict.is_right) == (3, (), False)


def test_the_verdict_sees_a_false_alarm() -> None:
    scene, alarms = fires_and_alarms()
    false = Alarm("kitchen", START_US + MINUTE_US, 6, START_US + 12 * MINUTE_US)
    verdict = judge(scene.fires, [*alarms, false])
    assert (verdict.found, verdict.false_alarms, verdict.is_right) == (4, (false,), False)


def test_the_verdict_sees_an_alarm_that_does_not_end() -> None:
    scene, alarms = fires_and_alarms()
    lasting = replace(alarms[0], cleared_us=None)
    verdict = judge(scene.fires, [lasting, *alarms[1:]])
    assert (verdict.lasting, verdict.is_right) == ((lasting,), False)


def test_the_board_follows_changes() -> None:
    board = AlarmBoard()

    def take(*rows: tuple[int, int, str, int]) -> list[Alarm]:
        columns = list(zip(*rows, strict=True))
        return board.apply(pa.table([list(column) for column in columns], schema=CHANGES))

    assert take((1, 1, "lab", 6), (2, -1, "lab", 6), (2, 1, "lab", 9)) == [Alarm("lab", 1, 6)]
    assert take((5, -1, "lab", 9)) == [Alarm("lab", 1, 6, 5)]
    assert take((8, 1, "lab", 7)) == [Alarm("lab", 8, 7)]
    assert board.alarms == [Alarm("lab", 1, 6, 5), Alarm("lab", 8, 7)]


def test_the_demo_in_process_finds_all_fires(tmp_path: Path) -> None:
    done = windrow("demo", "--embedded", "--fast", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = events(done.stdout)
    assert [event["event"] for event in told].count("alarm") == 4
    assert (told[0]["event"], told[-1]["event"]) == ("start", "summary")
    summary = told[-1]
    assert (summary["found"], summary["false_alarms"], summary["right"]) == (4, 0, True)
    assert all(0 < fire["after_s"] < 60 for fire in summary["fires"])


def test_the_demo_says_what_is_to_be_seen_and_what_was(tmp_path: Path) -> None:
    done = windrow("demo", "--embedded", "--fast", folder=tmp_path)
    assert done.stdout.startswith("A smart building, in this process\n24 rooms report")
    assert "4 of 4 fires found, no false alarm" in done.stdout.splitlines()[-1]
    assert "\x1b" not in done.stdout


def on_a_terminal(folder: Path, **more: str) -> str:
    """What `windrow demo` writes to a terminal."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "windrow", "demo", "--embedded", "--fast"]
    env = environment(TERM="xterm-256color", **more)
    if not more:
        env.pop("NO_COLOR", None)
    with subprocess.Popen(command, cwd=folder, env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        parts = []
        try:
            while part := os.read(ours, 65_536):
                parts.append(part)
        except OSError:  # how Linux says that the other end is closed
            os.close(ours)
    assert process.returncode == 0
    return b"".join(parts).decode()


def test_colour_appears_on_a_terminal_only_and_never_with_no_color(tmp_path: Path) -> None:
    assert "\x1b[1;31m" in on_a_terminal(tmp_path)
    plain = on_a_terminal(tmp_path, NO_COLOR="1")
    assert "ALARM" in plain
    assert "31m" not in plain


def test_ctrl_c_ends_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "windrow", "demo", "--embedded", "--json"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        rest, said = process.communicate(timeout=30)
    assert process.returncode == INTERRUPTED, said
    assert all(events(first + rest))
    assert "Interrupted." in said
    assert "Traceback" not in said
