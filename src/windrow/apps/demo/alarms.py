"""From the changes of the alarm query to alarms, and from alarms and fires to a verdict."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyarrow as pa

from windrow.apps.demo.building import MINUTE_US, Fire

__all__ = ["Alarm", "AlarmBoard", "Finding", "Verdict", "judge"]

WINDOW_US = 10 * MINUTE_US
RAISED_WITHIN_US = 2 * MINUTE_US
COOLED_WITHIN_US = MINUTE_US


@dataclass(frozen=True)
class Alarm:
    """An alarm of one room: raised when, with how many pairs of readings, and cleared when."""

    room: str
    raised_us: int
    pairs: int
    cleared_us: int | None = None


class AlarmBoard:
    """The alarms so far."""

    def __init__(self) -> None:
        self.alarms: list[Alarm] = []
        self._active: dict[str, int] = {}  # room -> its alarm's index

    def apply(self, changes: pa.Table) -> list[Alarm]:
        """The alarms that these changes raise or clear, in the order of their instants."""
        instants: dict[int, dict[str, tuple[int, int]]] = {}
        columns = ("change", "location", "n")
        for at, change, room, pairs in zip(
            changes.column("at").cast(pa.int64()).to_pylist(),
            *(changes.column(name).to_pylist() for name in columns),
            strict=True,
        ):
            # Within an instant the row that goes stands before the row that comes.
            instants.setdefault(at, {})[room] = (change, pairs)
        moved = []
        for at, rooms in sorted(instants.items()):
            for room, (change, pairs) in rooms.items():
                alarm = self._move(at, room, change, pairs)
                if alarm is not None:
                    moved.append(alarm)
        return moved

    def _move(self, at: int, room: str, change: int, pairs: int) -> Alarm | None:
        index = self._active.get(room)
        if change > 0 and index is None:
            self._active[room] = len(self.alarms)
            self.alarms.append(Alarm(room, at, pairs))
            return self.alarms[-1]
        if change < 0 and index is not None:
            del self._active[room]
            self.alarms[index] = replace(self.alarms[index], cleared_us=at)
            return self.alarms[index]
        return None


@dataclass(frozen=True)
class Finding:
    """A fire and its alarm, if one was raised in time."""

    fire: Fire
    alarm: Alarm | None


@dataclass(frozen=True)
class Verdict:
    """Which fires were found, and which alarms had none."""

    findings: tuple[Finding, ...]
    false_alarms: tuple[Alarm, ...]

    @property
    def found(self) -> int:
        """How many fires raised an alarm."""
        return sum(finding.alarm is not None for finding in self.findings)

    @property
    def lasting(self) -> tuple[Alarm, ...]:
        """Alarms that did not end when their readings had left the window."""
        return tuple(
            finding.alarm
            for finding in self.findings
            if finding.alarm is not None and not _ends_in_time(finding.fire, finding.alarm)
        )

    @property
    def is_right(self) -> bool:
        """All fires found, no false alarm, and every alarm ended."""
        return self.found == len(self.findings) and not self.false_alarms and not self.lasting


def judge(fires: Iterable[Fire], alarms: Iterable[Alarm]) -> Verdict:
    """Pairs each fire with the alarm of its room."""
    left = list(alarms)
    findings = []
    for fire in fires:
        alarm = next((each for each in left if _is_of(fire, each)), None)
        if alarm is not None:
            left.remove(alarm)
        findings.append(Finding(fire, alarm))
    return Verdict(tuple(findings), tuple(left))


def _is_of(fire: Fire, alarm: Alarm) -> bool:
    after_us = alarm.raised_us - fire.ignited_us
    return alarm.room == fire.room and 0 <= after_us <= RAISED_WITHIN_US


def _ends_in_time(fire: Fire, alarm: Alarm) -> bool:
    latest = fire.out_us + COOLED_WITHIN_US + WINDOW_US
    return alarm.cleared_us is not None and fire.out_us < alarm.cleared_us <= latest
