"""What a governor has decided while a record was applied: written down, and followed in a replay.

Decisions depend on bytes held, and on searches beside the session: a replay that decided again
might decide otherwise. So each change of a width, each refusal and each row that was let go is an
event, in the order of the calls in which it happened; the log has them behind the record.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["Decisions", "Event", "Made"]

Event = list[Any]  # what happened, and its details, as JSON has them
Made = list[tuple[str, list[Event]]]  # calls of the governor, and their events


class Decisions:
    """Made, or followed: those of the record that is applied.

    >>> decisions = Decisions()
    >>> with decisions.made_in("step 7"):
    ...     decisions.note("width", 5)
    >>> made = decisions.taken()
    >>> decisions.follow(made)
    >>> decisions.of("step 7"), decisions.of("step 8")
    ([['width', 5]], [])
    """

    def __init__(self) -> None:
        self._made: Made = []
        self._open: list[list[Event]] = []  # of calls within calls, the innermost last
        self._followed: dict[str, list[list[Event]]] | None = None

    # ---- made

    @contextmanager
    def made_in(self, call: str) -> Iterator[None]:
        """What is noted within belongs to that call."""
        events: list[Event] = []
        self._open.append(events)
        try:
            yield
        finally:
            self._open.pop()
            if events:
                self._made.append((call, events))

    def note(self, what: str, *details: Any) -> None:
        """It has happened in the call that is being made; outside of all calls nobody asks."""
        if self._open:
            self._open[-1].append([what, *details])

    def taken(self) -> Made:
        """All that was made since this was asked last."""
        made, self._made = self._made, []
        return made

    # ---- followed

    @property
    def are_followed(self) -> bool:
        """Whether nothing is decided now, as it was before."""
        return self._followed is not None

    def follow(self, made: Made) -> None:
        """From now on what happens is what was made then."""
        self._followed = {}
        for call, events in made:
            self._followed.setdefault(call, []).append(events)

    def decide(self) -> None:
        """From now on decisions are made."""
        self._followed = None

    def of(self, call: str) -> list[Event]:
        """The events of a call, in order; each call is followed once."""
        assert self._followed is not None
        found = self._followed.get(call)
        return found.pop(0) if found else []
