"""The two ways in which event time moves: when streams are complete, or with each arrival.

complete  a query waits until all its streams are complete; nothing that is in time is missed
arrival   a row at time t moves every stream to t, and its answer is there when push() returns
"""

from __future__ import annotations

from windrow.errors import BindingError, UnsupportedError
from windrow.plan.nearest import nearest

__all__ = ["ARRIVAL", "CLOCKS", "COMPLETE", "check_lateness", "clock_named", "refuse_arrival"]

COMPLETE, ARRIVAL = "complete", "arrival"
CLOCKS = (COMPLETE, ARRIVAL)


def clock_named(name: str) -> str:
    """The clock of that name, checked.

    >>> clock_named("arrival")
    'arrival'
    """
    if name in CLOCKS:
        return name
    guess = nearest(str(name), CLOCKS)
    raise BindingError(
        "WB750",
        f"there is no clock {name!r}",
        hint=f"did you mean {guess!r}?" if guess else 'give clock="complete" or clock="arrival"',
    )


def refuse_arrival(clock: str) -> None:
    """Refuse a clock that Spark does not have."""
    if clock_named(clock) != COMPLETE:
        raise UnsupportedError(
            "WU752",
            "on Spark the clock does not move by arrival: a batch has no order of arrival",
            hint='omit clock=, or connect in this process: windrow.connect(clock="arrival")',
        )


def check_lateness(clock: str, stream: str, lateness_us: int) -> None:
    """Refuse lateness where nothing is waited for."""
    if clock == ARRIVAL and lateness_us:
        raise BindingError(
            "WB751",
            f'stream {stream!r} has lateness, but with clock="arrival" no row is waited for',
            hint='omit the lateness, or connect with clock="complete"',
        )
