"""The states of an alert, group by group: pending, raised, and gone again.

A group is pending from the instant on at which its condition holds, raised when it has held for the
time asked for, and cleared at the instant at which it holds no more. One that ends sooner was never
raised, and nobody is told. All is event time, and any batching of the same changes gives the same
events: an instant counts once all its changes are known.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa

from windrow.column_types import TIMESTAMP
from windrow.errors import AdmissionError
from windrow.rows.json_texts import json_texts

__all__ = ["ALERT_GROUPS_LIMIT", "AlertMachine", "event_schema", "no_states"]

# So many groups of an alert may be pending or raised at once.
ALERT_GROUPS_LIMIT = 100_000

Key = tuple[Hashable, ...]


class _Group(NamedTuple):
    """Since when its condition holds, its newest row, how many rows it has, and its number."""

    since_us: int
    row: dict[str, Any]
    rows: int
    is_raised: bool
    number: int


class _Event(NamedTuple):
    at_us: int
    state: str
    since_us: int
    row: dict[str, Any]


class _States(NamedTuple):
    """All groups, and those that wait to be raised: exchanged as a whole."""

    groups: dict[Key, _Group]
    due: list[tuple[int, int, Key]]  # a heap: when, the number of the group
    begun: int  # groups so far


def event_schema(columns: pa.Schema) -> pa.Schema:
    """The columns of events: at, alert, state, since, then the select list."""
    at, since = pa.field("at", TIMESTAMP.arrow), pa.field("since", TIMESTAMP.arrow)
    words = [pa.field("alert", pa.string()), pa.field("state", pa.string())]
    return pa.schema([at, *words, since, *columns])


class AlertMachine:
    """The groups of one alert.

    columns: of the rows. key: the names of those that tell groups apart. for_us: how long the
    condition must hold.
    """

    def __init__(self, name: str, columns: pa.Schema, key: Sequence[str], for_us: int) -> None:
        self.name, self.columns, self.key, self.for_us = name, columns, tuple(key), for_us
        self._states = _States({}, [], 0)
        self.raised = self.cleared = 0  # events so far

    def step(self, changes: pa.Table | None, clock_us: int) -> pa.Table:
        """The events up to the clock; changes: of the rows for which the condition holds."""
        groups, due, begun = self._states
        changes = changes if changes is not None and changes.num_rows else None
        if changes is None and not (due and due[0][0] <= clock_us):
            return self.no_events()
        step = _Step(self, _States(dict(groups), list(due), begun))
        for instant, found in () if changes is None else self._by_instant(changes):
            step.at(instant, found)
        step.raise_until(clock_us)
        told = self._table(step.events)
        raised = sum(event.state == "raised" for event in step.events)
        # From here on it has happened.
        self._states = _States(step.groups, step.due, step.begun)
        self.raised, self.cleared = (
            self.raised + raised,
            self.cleared + len(step.events) - raised,
        )
        return told

    def no_events(self) -> pa.Table:
        """The columns of events."""
        return self._table([])

    def shown(self) -> pa.Table:
        """One row per group, with what it is in JSON: the same columns for all alerts."""
        groups = list(self._states.groups.values())
        keys = pa.Table.from_pylist([group.row for group in groups], self.columns)
        own = keys.select(self.key).to_struct_array() if self.key else None
        told = ["{}"] * len(groups) if own is None else json_texts(own)
        return pa.table(
            {
                "alert": pa.array([self.name] * len(groups), pa.string()),
                "group": pa.array(told, pa.string()),
                "state": pa.array(map(_state, groups), pa.string()),
                "since": pa.array([group.since_us for group in groups], TIMESTAMP.arrow),
                "row": pa.array(json_texts(keys.to_struct_array()), pa.string()),
            }
        )

    def states(self) -> pa.Table:
        """One row per group: alert, state, since, then its newest row."""
        rows = [
            {
                "alert": self.name,
                "state": _state(group),
                "since": group.since_us,
                **group.row,
            }
            for group in self._states.groups.values()
        ]
        return pa.Table.from_pylist(rows, pa.schema([*event_schema(self.columns)][1:]))

    def counts(self) -> dict[str, int]:
        """How many groups are pending, and how many raised."""
        raised = sum(group.is_raised for group in self._states.groups.values())
        return {"pending": len(self._states.groups) - raised, "raised": raised}

    def saved(self) -> dict[str, Any]:
        """Numbers, and a table of the groups."""
        groups = self._states.groups.values()
        told = pa.table(
            {
                "@since": pa.array([each.since_us for each in groups], pa.int64()),
                "@rows": pa.array([each.rows for each in groups], pa.int64()),
                "@raised": pa.array([each.is_raised for each in groups], pa.bool_()),
                "@number": pa.array([each.number for each in groups], pa.int64()),
                "@row": pa.array([each.row for each in groups], pa.struct(list(self.columns))),
            }
        )
        numbers = [self.raised, self.cleared, self._states.begun]
        return {"numbers": numbers, "groups": told}

    def restore(self, saved: dict[str, Any]) -> None:
        """As it was saved."""
        self.raised, self.cleared, begun = saved["numbers"]
        groups: dict[Key, _Group] = {}
        due: list[tuple[int, int, Key]] = []
        for told in saved["groups"].to_pylist():
            names = ("@since", "@row", "@rows", "@raised", "@number")
            group = _Group(*(told[name] for name in names))
            key = self.key_of(group.row)
            groups[key] = group
            if not group.is_raised:
                due.append((group.since_us + self.for_us, group.number, key))
        heapq.heapify(due)
        self._states = _States(groups, due, begun)

    def key_of(self, row: dict[str, Any]) -> Key:
        """What tells the group of a row apart."""
        return tuple(_hashable(row[name]) for name in self.key)

    def _by_instant(
        self, changes: pa.Table
    ) -> Iterator[tuple[int, list[tuple[int, dict[str, Any]]]]]:
        at = changes.column("at").cast(pa.int64()).to_pylist()
        signs = changes.column("change").to_pylist()
        rows = changes.select(self.columns.names).to_pylist()
        for instant, found in groupby(zip(at, signs, rows, strict=True), key=lambda each: each[0]):
            yield instant, [(sign, row) for _, sign, row in found]

    def _table(self, events: Sequence[_Event]) -> pa.Table:
        schema = event_schema(self.columns)
        rows = [
            {"at": at, "alert": self.name, "state": state, "since": since, **row}
            for at, state, since, row in events
        ]
        return pa.Table.from_pylist(rows, schema)


class _Step:
    """One step of a machine, on a copy of its states."""

    def __init__(self, machine: AlertMachine, states: _States) -> None:
        self._machine = machine
        self.groups, self.due, self.begun = states
        self.events: list[_Event] = []

    def at(self, instant: int, found: list[tuple[int, dict[str, Any]]]) -> None:
        """All changes of an instant."""
        self.raise_until(instant - 1)
        net: dict[Key, tuple[int, dict[str, Any]]] = {}
        for sign, row in found:
            key = self._machine.key_of(row)
            count, newest = net.get(key, (0, row))
            net[key] = (count + sign, row if sign > 0 else newest)
        for key, (count, row) in net.items():
            self._change(instant, key, count, row)
        self.raise_until(instant)

    def _change(self, instant: int, key: Key, count: int, row: dict[str, Any]) -> None:
        known = self.groups.get(key)
        rows = count + (0 if known is None else known.rows)
        if rows > 0 and known is not None:
            self.groups[key] = known._replace(row=row, rows=rows)
        elif rows > 0:
            self._begin(instant, key, rows, row)
        elif known is not None:
            del self.groups[key]
            if known.is_raised:
                self.events.append(_Event(instant, "cleared", known.since_us, known.row))

    def _begin(self, instant: int, key: Key, rows: int, row: dict[str, Any]) -> None:
        if len(self.groups) >= ALERT_GROUPS_LIMIT:
            raise AdmissionError(
                "WA830",
                f"alert {self._machine.name!r} would have more than {ALERT_GROUPS_LIMIT:,} groups "
                "that are pending or raised",
                hint="group by fewer columns, or make the condition narrower",
            )
        self.begun += 1
        self.groups[key] = _Group(instant, row, rows, False, self.begun)
        heapq.heappush(self.due, (instant + self._machine.for_us, self.begun, key))

    def raise_until(self, instant: int) -> None:
        """Those whose condition has held for long enough by then."""
        while self.due and self.due[0][0] <= instant:
            at, number, key = heapq.heappop(self.due)
            group = self.groups.get(key)
            if group is not None and group.number == number:
                self.groups[key] = group._replace(is_raised=True)
                self.events.append(_Event(at, "raised", group.since_us, group.row))


def no_states() -> pa.Table:
    """What shown() gives of no group."""
    return AlertMachine("", pa.schema([]), (), 0).shown()


def _state(group: _Group) -> str:
    return "raised" if group.is_raised else "pending"


def _hashable(value: Any) -> Hashable:
    """Equal for what is equal to a query: NaN equals itself."""
    if isinstance(value, float) and math.isnan(value):
        return ("NaN",)
    return repr(value) if isinstance(value, (dict, list)) else value
