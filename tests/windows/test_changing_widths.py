"""Windows whose width changes while they run, and windows that take turns, row by row."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from windrow.windows.lifetime import Lifetime
from windrow.windows.window import EventColumns, Window

Step = tuple[list[int], int, Lifetime | None]

LENGTHS = st.integers(0, 12)


@st.composite
def lifetimes(draw: st.DrawFn) -> Lifetime:
    slide = draw(st.sampled_from([1, 1, 3]))
    if slide > 1:
        return Lifetime.sliding(slide * draw(st.integers(1, 4)), slide)
    lifetime = Lifetime.closed(draw(LENGTHS))
    if draw(st.booleans()):
        growth = draw(st.integers(1, 6))
        period = growth + draw(st.integers(0, 9))
        lifetime = lifetime.turning(draw(st.integers(-25, 25)), period, growth)
    return lifetime


@st.composite
def runs(draw: st.DrawFn) -> tuple[Lifetime, list[Step]]:
    first = draw(lifetimes())
    steps = []
    for _ in range(draw(st.integers(0, 10))):
        ahead = draw(st.lists(st.integers(1, 12), max_size=12))
        change = draw(st.none() | lifetimes().filter(lambda each: each.slide_us == first.slide_us))
        steps.append((ahead, draw(st.integers(0, 9)), change))
    return first, steps


def leave_of(time: int, lifetime: Lifetime) -> int:
    """One instant after the other, until the row is no longer held."""
    entered = -(-time // lifetime.slide_us) * lifetime.slide_us
    instant = entered
    while True:
        reach = lifetime.hold_us - 1
        since = instant - lifetime.turn_start_us
        if lifetime.turn_growth_us and since >= 0:
            phase = since % lifetime.turn_period_us
            if since and not phase and lifetime.turn_period_us == lifetime.turn_growth_us:
                phase = lifetime.turn_period_us  # the end of one turn before the next begins
            # In its turn the window reaches back to where it did when the turn began.
            reach += phase if phase <= lifetime.turn_growth_us else 0
        if entered < instant - reach and instant >= lifetime.floor_us:
            return instant
        instant += 1


@given(runs())
def test_rows_leave_as_the_width_of_the_moment_says(run: tuple[Lifetime, list[Step]]) -> None:
    lifetime, steps = run
    window, clock, before = Window(1, lifetime=lifetime), -20, -20
    times: list[int] = []
    held: list[int] = []
    for ahead, forward, change in steps:
        if change is not None:
            lifetime = Lifetime(
                *(change.slide_us, change.hold_us, clock + 1),
                *(change.turn_start_us, change.turn_period_us, change.turn_growth_us),
            )
            window.change_lifetime(lifetime)
        fresh = [clock + distance for distance in ahead]
        codes = np.arange(len(times), len(times) + len(fresh))
        window.append(np.array(fresh, np.int64), codes.astype(np.int32), codes[None, :])
        times += fresh
        clock += forward
        found = _events(window, clock)
        wanted = []
        for code, time in enumerate(times):
            entered = -(-time // lifetime.slide_us) * lifetime.slide_us
            if before < entered <= clock:
                wanted.append((entered, code, 1))
                held.append(code)
            if code in held and (leave := leave_of(time, lifetime)) <= clock:
                wanted.append((leave, code, -1))
                held.remove(code)
        assert sorted(found) == sorted(wanted)
        assert sorted(window.columns.codes[window.held()].tolist()) == sorted(held)
        before = clock


@given(lifetimes(), st.integers(-40, 40))
def test_leave_and_edge_are_the_definitions(lifetime: Lifetime, time: int) -> None:
    leave = int(lifetime.leave(np.array([time]))[0])
    assert leave == leave_of(time, lifetime)
    entered = int(lifetime.enter(np.array([time]))[0])
    instants = np.arange(entered, leave + 3)
    is_held = entered >= lifetime.edge(instants)
    assert is_held.tolist() == (instants < leave).tolist()


def _events(window: Window, clock: int) -> list[tuple[int, int, int]]:
    window.open(clock)
    events = EventColumns(500)
    size = window.fill(events, 0, 500, clock, 1)
    rows = window.columns.codes[events.row[:size]].tolist()
    found = list(zip(events.at[:size].tolist(), rows, events.sign[:size].tolist(), strict=True))
    assert [at for at, *_ in found] == sorted(at for at, *_ in found)
    gone = window.close()
    if gone is not None:
        window.reclaim(gone)
    return found
