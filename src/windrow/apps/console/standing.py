"""What all endpoints share: the registry, its pictures, and the seats of those who listen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from windrow.apps.console.limits import LIVE_CLIENTS_LIMIT
from windrow.apps.console.picture import Pictures
from windrow.apps.console.refusals import too_many
from windrow.apps.console.registry import Registry

__all__ = ["Seats", "Standing"]


class Seats:
    """So many listen at the same time, no more; all are in the one thread of the server."""

    def __init__(self, limit: int = LIVE_CLIENTS_LIMIT) -> None:
        self._limit, self.taken = limit, 0

    @contextmanager
    def taken_by_one(self) -> Iterator[None]:
        """A seat as long as it lasts."""
        if self.taken >= self._limit:
            raise too_many("live listeners", self._limit)
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1


@dataclass(frozen=True)
class Standing:
    """One of each for an application."""

    registry: Registry
    pictures: Pictures
    seats: Seats = field(default_factory=Seats)
