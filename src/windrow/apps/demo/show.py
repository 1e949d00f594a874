"""The demo on the terminal: what is about to be seen, alarms as they appear, and the verdict."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

from windrow.apps.demo.alarms import Alarm, AlarmBoard, Finding, Verdict, judge
from windrow.apps.demo.building import ALARM_QUERY, SECOND_US, Building, Slice, building
from windrow.apps.demo.runners import DemoRunner, EmbeddedRunner
from windrow.apps.terminal.extras import spark_module
from windrow.apps.terminal.screen import ProgressLine, Screen
from windrow.event_time import show_instant

__all__ = ["run_demo"]

POLL_S = 0.1
# Half an hour of the building then takes about seven seconds in this process, twenty on Spark.
EMBEDDED_SLICE_S = 0.12
SPARK_SLICE_S = 0.33
REHEARSED_SLICES = 10  # the first fire is among them


def run_demo(
    screen: Screen, *, seed: int, embedded: bool, fast: bool = False, spark_ui: bool = False
) -> bool:
    """Plays the building and watches it; whether the alarms were exactly the fires."""
    scene = building(seed)
    slice_s = 0.0 if fast else EMBEDDED_SLICE_S if embedded else SPARK_SLICE_S
    _announce(screen, scene, seed, embedded, slice_s)
    board = AlarmBoard()
    began = time.monotonic()
    starting = "Starting" if embedded else "Starting Spark"
    with (
        screen.progress(starting) as progress,
        closing(_runner(scene, embedded, spark_ui)) as runner,
    ):
        _warm_up(runner, scene.slices[0], progress, screen, began, embedded)
        for readings in _played(runner, scene, slice_s):
            progress.show(_clock(readings.until_us), _part(scene, readings), "The building")
            _tell(screen, board.apply(runner.changes()))
        runner.finish()
        _tell(screen, board.apply(runner.changes()))
    verdict = judge(scene.fires, board.alarms)
    _conclude(screen, verdict, time.monotonic() - began)
    return verdict.is_right


def _runner(scene: Building, embedded: bool, spark_ui: bool) -> DemoRunner:
    if embedded:
        return EmbeddedRunner()
    module = spark_module("windrow.apps.demo.spark_runner")
    runner: DemoRunner = module.SparkRunner(scene.slices[:REHEARSED_SLICES], ui=spark_ui)
    return runner


def _warm_up(
    runner: DemoRunner,
    first: Slice,
    progress: ProgressLine,
    screen: Screen,
    began: float,
    embedded: bool,
) -> None:
    """Lets the first slice through before time runs: Spark's first batch starts its workers."""
    progress.show("first readings")
    runner.send(first)
    while runner.is_busy():
        time.sleep(POLL_S)
    if not embedded:
        screen.note(f"Spark is ready after {time.monotonic() - began:.0f} s; the building begins.")


def _played(runner: DemoRunner, scene: Building, slice_s: float) -> Iterator[Slice]:
    """Delivers the rest at its pace, then waits until all is worked through."""
    last = scene.slices[-1]
    for readings in scene.slices[1:]:
        runner.send(readings)
        time.sleep(slice_s)
        yield readings
    while runner.is_busy():
        time.sleep(POLL_S)
        yield last


def _part(scene: Building, readings: Slice) -> float:
    first, last = scene.slices[0].until_us, scene.slices[-1].until_us
    return (readings.until_us - first) / (last - first)


def _announce(screen: Screen, scene: Building, seed: int, embedded: bool, slice_s: float) -> None:
    rows = sum(table.num_rows for each in scene.slices for table in each.rows.values())
    where = "in this process" if embedded else "on Spark, on this machine"
    screen.event(
        "start",
        {"seed": seed, "rooms": len(scene.rooms), "rows": rows, "fires": len(scene.fires)},
    )
    pace = f" in about {slice_s * len(scene.slices):.0f} seconds" if slice_s else ""
    screen.line(f"A smart building, {where}", "bold")
    screen.paragraph(
        f"{len(scene.rooms)} rooms report heat and smoke every 5 seconds; half an hour of it,"
        f" {rows:,} readings, is simulated{pace}, up to 5 seconds out of order."
        f" {len(scene.fires)} rooms catch fire; in three others it is only hot, only smoky, or"
        " both for a moment. Each fire must raise one alarm, nothing else may, and an alarm must"
        " end when its readings have left the 10-minute windows."
    )
    screen.line()
    for line in ALARM_QUERY.split("\n"):
        screen.line(f"    {line}", "cyan")
    screen.line()


def _tell(screen: Screen, moved: list[Alarm]) -> None:
    for alarm in moved:
        is_raised = alarm.cleared_us is None
        at = alarm.raised_us if is_raised else alarm.cleared_us or 0
        kind = "alarm" if is_raised else "cleared"
        screen.event(kind, {"at": _stamp(at), "room": alarm.room, "pairs": alarm.pairs})
        what = f"{alarm.pairs} pairs of a hot and a smoky reading" if is_raised else ""
        word = "ALARM  " if is_raised else "cleared"
        style = "bold red" if is_raised else "green"
        screen.line(f"{_clock(at)}  {word}  {alarm.room:<12}  {what}".rstrip(), style)


def _conclude(screen: Screen, verdict: Verdict, seconds: float) -> None:
    screen.line()
    screen.line("room          ignited   alarm     after   fire out  cleared", "bold")
    for finding in verdict.findings:
        screen.line(_finding(finding), "green" if finding.alarm else "bold red")
    for alarm in verdict.false_alarms:
        screen.line(f"{alarm.room:<12}  no fire   {_clock(alarm.raised_us)}", "bold red")
    fires, false = len(verdict.findings), len(verdict.false_alarms)
    screen.event(
        "summary",
        {
            "fires": [_as_values(finding) for finding in verdict.findings],
            "found": verdict.found,
            "false_alarms": false,
            "right": verdict.is_right,
            "seconds": round(seconds, 1),
        },
    )
    screen.line()
    screen.line(
        f"{verdict.found} of {fires} fires found, {false or 'no'} false alarm{'s' * (false > 1)}, "
        f"{len(verdict.lasting) or 'no'} alarm too long; {seconds:.0f} s.",
        "bold green" if verdict.is_right else "bold red",
    )


def _finding(finding: Finding) -> str:
    fire, alarm = finding.fire, finding.alarm
    begun = f"{fire.room:<12}  {_clock(fire.ignited_us)}"
    if alarm is None:
        return f"{begun}  NOT FOUND"
    cleared = "never" if alarm.cleared_us is None else _clock(alarm.cleared_us)
    after = f"{_after_s(finding):.0f} s"
    return f"{begun}  {_clock(alarm.raised_us)}  {after:>5}   {_clock(fire.out_us)}  {cleared}"


def _as_values(finding: Finding) -> dict[str, object]:
    fire, alarm = finding.fire, finding.alarm
    cleared = None if alarm is None else alarm.cleared_us
    return {
        "room": fire.room,
        "ignited": _stamp(fire.ignited_us),
        "out": _stamp(fire.out_us),
        "alarm": None if alarm is None else _stamp(alarm.raised_us),
        "after_s": _after_s(finding),
        "cleared": None if cleared is None else _stamp(cleared),
    }


def _after_s(finding: Finding) -> float | None:
    if finding.alarm is None:
        return None
    return round((finding.alarm.raised_us - finding.fire.ignited_us) / SECOND_US, 1)


def _clock(instant_us: int) -> str:
    return show_instant(instant_us)[11:19]


def _stamp(instant_us: int) -> str:
    return show_instant(instant_us).replace(" ", "T") + "Z"
