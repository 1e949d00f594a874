"""The governor of a durable session: its decisions are events, which a replay follows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from windrow.durable.decisions import Decisions, Event
from windrow.embedded.governing import Governing
from windrow.embedded.query import EmbeddedQuery
from windrow.errors import AdmissionError
from windrow.governor.measured_window import RateOf
from windrow.windows.lifetime import Lifetime

__all__ = ["DurableGoverning", "noted_refusal", "refused_again"]

MoveOn = Callable[[], None]


class DurableGoverning(Governing):
    """Decides as any other, or does again what was decided."""

    def attach(self, decisions: Decisions, step: Callable[[], int]) -> None:
        """Decisions are noted there, or taken from there; step: gives the number of the last."""
        self._decisions, self._step = decisions, step

    def admit(self, query: EmbeddedQuery, rate_of: RateOf) -> None:
        """Refuse a query that cannot be served at any level."""
        call = f"admit {query.name}"
        if self._decisions.are_followed:
            refused_again(self._decisions.of(call))
            return
        with self._decisions.made_in(call):
            try:
                super().admit(query, rate_of)
            except AdmissionError as refusal:
                noted_refusal(self._decisions, refusal)
                raise

    def change_budget(self, budget: int) -> None:
        """Another budget from now on; where what runs does not fit into it, the old one stays."""
        if self._decisions.are_followed:
            self._budget_again(self._decisions.of("memory"), budget)
            return
        with self._decisions.made_in("memory"):
            before = self._stamp()
            try:
                super().change_budget(budget)
            except AdmissionError as refusal:
                self._note_state(before)
                noted_refusal(self._decisions, refusal)
                raise
            self._note_state(before)

    def started(self, query: EmbeddedQuery, rate_of: RateOf) -> None:
        """A query was admitted."""
        start = super().started
        self._done(f"started {query.name}", lambda: start(query, rate_of))

    def ended(self, query: EmbeddedQuery) -> None:
        """A query was stopped, or its life is over."""
        end = super().ended
        self._done(f"ended {query.name}", lambda: end(query))

    def after_step(self) -> None:
        """Rows were taken and clocks have moved."""
        self._done(f"step {self._step()}", super().after_step)

    def make_room(self, stream: str, rows: int, move_on: MoveOn) -> int:
        """How many of that many rows of a stream may be taken now."""
        call, decisions = f"room {self._step()}", self._decisions
        if decisions.are_followed:
            return self._room_again(decisions.of(call), rows, move_on)

        def moved_on() -> None:
            decisions.note("move on")
            move_on()

        with decisions.made_in(call):
            before = self._stamp()
            allowed = super().make_room(stream, rows, moved_on)
            self._note_state(before)
            if allowed < rows:
                decisions.note("room", allowed)
        return allowed

    def grant(self, stream: str) -> None:
        """Say how many rows more of the stream may come without asking; in a replay all ask."""
        if not self._decisions.are_followed:
            super().grant(stream)

    def _done(self, call: str, decide: Callable[[], None]) -> None:
        if self._decisions.are_followed:
            self._follow(self._decisions.of(call))
            return
        with self._decisions.made_in(call):
            before = self._stamp()
            decide()
            self._note_state(before)

    def _stamp(self) -> tuple[Any, ...]:
        return (self._governor.changes, self._governor.logged, self._rows.state())

    def _note_state(self, before: tuple[Any, ...]) -> None:
        if self._stamp() != before:
            self._decisions.note("governor", self.state(before[1]))

    # ---- followed

    def _room_again(self, events: list[Event], rows: int, move_on: MoveOn) -> int:
        for what, *details in events:
            if what == "room":
                rows = details[0]
            elif what == "move on":
                move_on()
            else:
                self._follow([[what, *details]])
        return rows

    def _budget_again(self, events: list[Event], budget: int) -> None:
        """Windows that were narrowed before it was refused are narrow all the same."""
        refused = [event for event in events if event[0] == "refused"]
        if not refused:
            self._take_budget(budget)
        self._follow([event for event in events if event[0] != "refused"])
        self._memory.reclaim()
        refused_again(refused)
        self._limit_profiles()

    def _follow(self, events: list[Event]) -> None:
        for what, *details in events:
            if what == "governor":
                self.restore(details[0])
            else:
                name, *given = details
                _QUERY_EVENTS[what](self._query(name), *given)

    def _query(self, name: str) -> EmbeddedQuery:
        return next(each for each in self._memory.running() if each.name == name)


_QUERY_EVENTS: dict[str, Callable[..., None]] = {
    "width": lambda query, number, numbers: query.change_lifetime(number, Lifetime(*numbers)),
    "let go": lambda query, number, last_us: query.let_go(number, last_us),
    "shrink": lambda query, limit: query.shrink_unread(limit),
}


def noted_refusal(decisions: Decisions, refusal: AdmissionError) -> None:
    """What did not fit then does not in a replay."""
    decisions.note("refused", refusal.code, refusal.message, refusal.hint)


def refused_again(events: list[Event]) -> None:
    """Raise what was raised then, if anything was."""
    for what, *details in events:
        if what == "refused":
            code, message, hint = details
            raise AdmissionError(code, message, hint=hint)
