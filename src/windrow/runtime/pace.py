"""How large a step of the clock may be: few enough events that what they change stays bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from windrow.operators.partial import Partial
from windrow.operators.relations.operator import NO_LIMIT, StepTooLargeError

if TYPE_CHECKING:
    from windrow.runtime.run_shard import RunShard

__all__ = ["STEP_UPDATES", "Pace", "updates_within"]

# A step is meant to update no more rows or groups than this; its output is published before the
# next one.
STEP_UPDATES = 250_000
# A step may have more of them than it is meant to, but not more than so many times as many.
MOST_STEPS = 4
# The bytes of a budget for which a step of a tree may have one update more, and the fewest.
BUDGET_A_STEP = 2_048
SMALLEST_STEP = 1_000
# Updates per event are remembered from step to step, less and less.
FADING = 0.9


def updates_within(budget: int) -> int:
    """The updates of a step of a tree, such that many times as many have room in the budget."""
    return min(STEP_UPDATES, max(SMALLEST_STEP, budget // BUDGET_A_STEP))


class Pace:
    """Learns how many updates an event brings: in a join, as many as a row has matches.

    >>> pace = Pace()
    >>> pace.note(events=10, updates=1000)
    >>> pace.events == STEP_UPDATES // 100
    True
    """

    def __init__(self, updates: int | None = None) -> None:
        self._updates = STEP_UPDATES if updates is None else updates
        self._updates_per_event = 1.0

    def note(self, events: int, updates: int) -> None:
        """A step had this many events and updates."""
        faded = FADING * self._updates_per_event
        self._updates_per_event = max(1.0, faded, updates / max(1, events))

    def note_failure(self, events: int, updates: int) -> None:
        """A step was too large: the next one has fewer events in any case."""
        self.note(events, max(updates, int(MOST_STEPS * self._updates_per_event * events)))

    @property
    def events(self) -> int:
        """The events that a step may have."""
        return max(1, int(self._updates / self._updates_per_event))

    def next_stop(self, shard: RunShard, until: int) -> int:
        """How far the shard may go in one step, at most to `until`."""
        return shard.next_stop(until, self.events)

    def step(self, shard: RunShard, stop: int) -> Partial:
        """Run the shard to a stop that next_stop() gave, and learn from it."""
        before = shard.event_count()
        # What happens at one instant cannot be cut.
        shard.most_changes = MOST_STEPS * self._updates if self.events > 1 else NO_LIMIT
        try:
            partial = shard.advance({}, stop)
        except StepTooLargeError as large:
            large.events = shard.event_count() - before
            raise
        self.note(shard.event_count() - before, max(partial.size, shard.step_changes))
        return partial

    def steps(self, shard: RunShard, until: int) -> Iterator[tuple[int, Partial]]:
        """Run the shard to `until`, step by step; the stops, and what it gave up to each."""
        stop = None
        while stop is None or stop < until:
            stop = self.next_stop(shard, until)
            yield stop, self.step(shard, stop)
