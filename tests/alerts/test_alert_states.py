"""States of alerts against a slow twin that looks at every instant, and in any batches."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windrow.alerts import machine as machines
from windrow.alerts.machine import AlertMachine
from windrow.column_types import TIMESTAMP
from windrow.errors import AdmissionError

COLUMNS = pa.schema([("k", pa.string()), ("n", pa.float64())])
SCHEMA = pa.schema([("at", TIMESTAMP.arrow), ("change", pa.int8()), *COLUMNS])
LAST = 60

Row = tuple[int, int, str | None, float]  # at, change, key, value


def generated(seed: int) -> list[Row]:
    """Changes of a result: rows come, change their value, and go; bursts, ties and silence."""
    numbers = random.Random(seed)
    live: dict[str | None, list[float]] = {}
    rows: list[Row] = []
    at = 0
    while at < LAST:
        at += numbers.choice([0, 0, 1, 1, 2, 9])
        key = numbers.choice(["a", "b", None])
        values = live.setdefault(key, [])
        if values and numbers.random() < 0.6:
            rows.append((at, -1, key, values.pop(numbers.randrange(len(values)))))
        if numbers.random() < 0.6:
            values.append(numbers.choice([1.0, 2.0, float("nan")]))
            rows.append((at, 1, key, values[-1]))
    return rows


def table(rows: list[Row]) -> pa.Table:
    names = ("at", "change", "k", "n")
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], SCHEMA)


def slow_events(rows: list[Row], for_us: int, until: int) -> list[tuple[int, str, Any, int]]:
    """At every instant: which keys have rows, since when, and for how long."""
    since: dict[Any, int] = {}
    raised: set[Any] = set()
    events = []
    for instant in range(until + 1):
        counts: dict[Any, int] = {}
        for at, change, key, _ in rows:
            if at <= instant:
                counts[key] = counts.get(key, 0) + change
        for key in ("a", "b", None):
            if counts.get(key, 0) > 0:
                since.setdefault(key, instant)
                if instant - since[key] >= for_us and key not in raised:
                    raised.add(key)
                    events.append((instant, "raised", key, since[key]))
            elif key in since:
                begun = since.pop(key)
                if key in raised:
                    raised.remove(key)
                    events.append((instant, "cleared", key, begun))
    return events


def told(events: pa.Table) -> list[tuple[int, str, Any, int]]:
    plain = events.set_column(0, "at", events["at"].cast(pa.int64()))
    plain = plain.set_column(3, "since", plain["since"].cast(pa.int64()))
    return [(row["at"], row["state"], row["k"], row["since"]) for row in plain.to_pylist()]


@settings(max_examples=60)
@given(seed=st.integers(0, 100_000), for_us=st.sampled_from([0, 1, 3, 10]))
def test_events_are_those_of_the_slow_twin_in_any_batches(seed: int, for_us: int) -> None:
    rows, numbers = generated(seed), random.Random(seed)
    machine = AlertMachine("hot", COLUMNS, ["k"], for_us)
    events: list[tuple[int, str, Any, int]] = []
    rest, clock = rows, 0
    while clock < LAST + 20:
        clock = min(clock + numbers.choice([1, 2, 7, 30]), LAST + 20)
        ready = [row for row in rest if row[0] <= clock]
        rest = rest[len(ready) :]
        events += told(machine.step(table(ready), clock))
        if numbers.random() < 0.3:  # saved, and restored elsewhere
            saved = machine.saved()
            machine = AlertMachine("hot", COLUMNS, ["k"], for_us)
            machine.restore(saved)
    wanted = slow_events(rows, for_us, LAST + 20)
    assert sorted(events, key=repr) == sorted(wanted, key=repr)
    assert [each[0] for each in events] == sorted(each[0] for each in events)
    raised = sum(each[1] == "raised" for each in wanted)
    assert (machine.raised, machine.cleared) == (raised, len(wanted) - raised)
    assert machine.counts()["raised"] == 2 * raised - len(wanted)


def test_pending_groups_are_shown_and_nobody_is_told() -> None:
    machine = AlertMachine("hot", COLUMNS, ["k"], 10)
    assert machine.step(table([(3, 1, "a", 1.0)]), 5).num_rows == 0
    assert [(row["state"], row["k"]) for row in machine.states().to_pylist()] == [("pending", "a")]
    assert machine.shown().to_pylist()[0]["group"] == '{"k": "a"}'
    assert machine.step(table([(6, -1, "a", 1.0)]), 20).num_rows == 0
    assert machine.states().num_rows == 0


def test_the_row_of_an_event_is_the_newest() -> None:
    machine = AlertMachine("hot", COLUMNS, ["k"], 10)
    rows = [(0, 1, "a", 1.0), (4, -1, "a", 1.0), (4, 1, "a", 2.0)]
    (raised,) = machine.step(table(rows), 12).to_pylist()
    assert (raised["state"], raised["n"]) == ("raised", 2.0)
    (cleared,) = machine.step(table([(30, -1, "a", 2.0)]), 30).to_pylist()
    assert (cleared["state"], cleared["n"]) == ("cleared", 2.0)


def test_a_step_that_breaks_off_has_changed_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = AlertMachine("hot", COLUMNS, ["k"], 0)
    machine.step(table([(1, 1, "a", 1.0)]), 1)
    before = machine.states()
    rows = table([(2, -1, "a", 1.0), (2, 1, "b", 1.0), (3, 1, None, 1.0)])
    with monkeypatch.context() as patched:
        patched.setattr(machines, "ALERT_GROUPS_LIMIT", 1)
        with pytest.raises(AdmissionError, match=r"WA830.*'hot'"):
            machine.step(rows, 3)
    assert machine.states().equals(before)
    assert [row[1:3] for row in told(machine.step(rows, 3))] == [
        ("cleared", "a"),
        ("raised", "b"),
        ("raised", None),
    ]
